import type { Server, Socket } from "node:net";

/** Limits for every HTTP server that listens: a request has to arrive in time, and a connection without one is closed. */
export const serverLimits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;

const mostConnections = 256;

/**
 * Limit how many connections a server has open. A new one is always accepted, or whoever opens enough of them would keep the
 * kubelet's probes out: the oldest connection of the address that has the most is closed instead.
 */
export function limitConnections(server: Server, most: number = mostConnections): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  const remove = (address: string, socket: Socket) => {
    const sockets = open.get(address);
    if (!sockets?.delete(socket)) return;
    count -= 1;
    if (sockets.size === 0) open.delete(address);
  };
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const sockets = open.get(address) ?? new Set();
    open.set(address, sockets.add(socket));
    count += 1;
    socket.once("close", () => remove(address, socket));
    if (count <= most) return;
    const [busiest, connections] = [...open].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    const [oldest] = connections;
    if (oldest === undefined) return;
    remove(busiest, oldest);
    oldest.destroy();
  });
}
