import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { limitConnections, serverLimits } from "./server-limits.ts";

/** A server that answers "ok", with the limits of all our servers or stricter ones. */
async function listening(most?: number, limits: object = {}) {
  const server = createServer({ ...serverLimits, ...limits }, (_, response) => response.end("ok"));
  limitConnections(server, most);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const openConnections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { port, openConnections };
}

/** A connection from another address than that of the probes. */
async function attackerOf(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Ask over one connection that stays open, as a probe or a scrape does. */
function asking(port: number, socket: Socket): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, createConnection: () => socket }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject);
    sent.end();
  });
}

test("idle sockets of one address do not keep the kubelet's probe out", async () => {
  const { port, openConnections } = await listening();
  const probe = connect({ port, host: "127.0.0.1" });
  await once(probe, "connect");
  const attackers = await Promise.all(Array.from({ length: 600 }, () => attackerOf(port)));
  expect(await asking(port, probe)).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
  await expect.poll(openConnections).toBeLessThanOrEqual(256);
  const closed = attackers.filter(({ closed }) => closed);
  expect(closed.length).toBeGreaterThanOrEqual(600 - 256);
});

test("the oldest connection of the address that has the most is closed", async () => {
  const { port } = await listening(3);
  const own = connect({ port, host: "127.0.0.1" });
  await once(own, "connect");
  const [first, second] = [await attackerOf(port), await attackerOf(port)];
  const third = await attackerOf(port);
  await once(first, "close");
  expect([own.closed, second.closed, third.closed]).toEqual([false, false, false]);
  own.destroy();
});

test("a slowloris that never ends its headers is disconnected", async () => {
  const { port } = await listening(10, { headersTimeout: 50, connectionsCheckingInterval: 10 });
  const slow = await attackerOf(port);
  slow.write("GET / HTTP/1.1\r\nx-slow: ");
  const drip = setInterval(() => slow.write("a"), 10);
  onTestFinished(() => clearInterval(drip));
  slow.resume();
  await once(slow, "close");
});

test("a connection without a request is disconnected", async () => {
  const { port } = await listening(10, { headersTimeout: 50, connectionsCheckingInterval: 10 });
  const idle = await attackerOf(port);
  idle.resume();
  await once(idle, "close");
});

test("headers beyond the limit are refused", async () => {
  const { port } = await listening();
  const headers = { "x-large": "a".repeat(serverLimits.maxHeaderSize) };
  expect((await fetch(`http://127.0.0.1:${port}`, { headers })).status).toBe(431);
});
