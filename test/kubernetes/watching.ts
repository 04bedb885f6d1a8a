import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import { onTestFinished } from "vitest";
import type { Cluster } from "../setup/cluster.ts";
import type { RequestOptions } from "../setup/request.ts";
import type { Thing } from "./api.ts";

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: Thing & { code?: number; reason?: string; message?: string };
}

/** An open watch, as a test reads it: one event after the other. */
export interface Watch {
  status: number;
  contentType: string;
  /** The next event, in the order in which they came; an error where the watch ends before. */
  next(): Promise<WatchEvent>;
  /** The next so many events, as `TYPE name`. */
  names(count: number): Promise<string[]>;
  /** All events that come until the server ends the watch. */
  rest(): Promise<WatchEvent[]>;
  close(): void;
}

/** Asks for a watch and waits until the server has begun to answer. */
export async function startWatch(
  cluster: Cluster,
  path: string,
  options: RequestOptions = {},
): Promise<Watch> {
  const [outgoing, incoming] = await open(cluster, path, options);
  const lines = linesOf(incoming);
  const close = () => void outgoing.destroy();
  onTestFinished(close);
  const next = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`the watch ${path} has ended`);
    return JSON.parse(value) as WatchEvent;
  };
  return {
    status: incoming.statusCode ?? 0,
    contentType: String(incoming.headers["content-type"]),
    next,
    names: async (count) => {
      const names: string[] = [];
      while (names.length < count) {
        const { type, object } = await next();
        names.push(`${type} ${object.metadata?.name ?? object.reason}`);
      }
      return names;
    },
    rest: async () => {
      const events: WatchEvent[] = [];
      for await (const line of lines) events.push(JSON.parse(line));
      return events;
    },
    close,
  };
}

function open(
  cluster: Cluster,
  path: string,
  options: RequestOptions,
): Promise<[ClientRequest, IncomingMessage]> {
  const headers = {
    accept: options.accept ?? "application/json",
    authorization: `Bearer ${options.token ?? cluster.tokens.admin}`,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, cluster.url), { headers, ca: cluster.ca });
    outgoing.on("response", (incoming) => resolve([outgoing, incoming]));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

async function* linesOf(incoming: IncomingMessage): AsyncGenerator<string, undefined> {
  let rest = "";
  try {
    for await (const chunk of incoming.setEncoding("utf8")) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines.filter((line) => line !== "");
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
  }
  if (rest !== "") yield rest;
  return undefined;
}
