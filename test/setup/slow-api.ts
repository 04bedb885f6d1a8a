import { createServer } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import type { Clock } from "@postern/core/clock.ts";
import { onTestFinished } from "vitest";
import type { Server } from "./request.ts";

/** The way to an API server over which each request takes a while before it arrives. */
export interface SlowApi {
  /** Without TLS: what is slow is the request, and not the handshake. */
  url: string;
  /** How many requests are on their way and have not arrived. */
  readonly underWay: number;
}

/** Stands in front of an API server and hands each request on after a time by the given clock. */
export async function slowApi(api: Server, clock: Clock, delayMs: () => number): Promise<SlowApi> {
  let underWay = 0;
  const server = createServer(async (incoming, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method, headers, url = "/" } = incoming;
    underWay++;
    clock.after(delayMs(), () => {
      underWay--;
      const onward = request(new URL(url, api.url), { method, headers, ca: api.ca }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      onward.on("error", () => answer.destroy());
      answer.on("close", () => onward.destroy());
      onward.end(Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get underWay() {
      return underWay;
    },
  };
}
