// A process that serves one thing: the simulator, or a bare server that answers with a fixed body. Started by
// bench/simulator.ts, which it tells where it listens, and when it is asked what memory it has and what CPU it took.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import { startSimulator } from "@postern/azure-simulator/simulator.ts";

const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";

async function serveSimulator(): Promise<{ url: string; token: string }> {
  const { url, directory, roles } = await startSimulator({
    pageSize: 1000,
    limits: noLimits,
    bug: (error) => {
      throw error;
    },
  });
  directory.addSubscription(subscription, tenant);
  const owner = { tenant, objectId: tenant, appId: tenant };
  roles.makeOwner(owner);
  return { url, token: directory.tokenFor(owner, { forMs: 86_400_000 }) };
}

/** What a person would write who needs a server that answers one thing. */
async function serveBare(): Promise<{ url: string; token: string }> {
  let body = "{}";
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      // The body that is to be answered from now on.
      body = "";
      request.setEncoding("utf8");
      request.on("data", (chunk: string) => {
        body += chunk;
      });
      request.on("end", () => response.end());
      return;
    }
    response.writeHead(200, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "none" };
}

const served = await (process.argv[2] === "bare" ? serveBare() : serveSimulator());
process.on("message", (asked) => {
  if (asked === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system });
    return;
  }
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.({ heap: process.memoryUsage().heapUsed });
});
process.on("disconnect", () => process.exit());
process.send?.(served);
