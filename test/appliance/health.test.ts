import { createServer, get, type Server } from "node:http";
import { createServer as createSecureServer, get as getSecurely } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { makeAuthority, makeServerCertificate } from "@postern/core/test-bed/certificates.ts";
import { type ApplianceContext, applianceContext } from "postern/appliance/context.ts";
import { type HealthServer, startHealthServer } from "postern/appliance/health.ts";
import { agentMetrics } from "postern/appliance/metrics-text.ts";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../manual-clock.ts";

const host = "127.0.0.1";
const probe = { protocol: "Http", port: 0, path: "/", intervalSeconds: 5, threshold: 2 } as const;

async function started({ tls, ...options }: { clock?: ManualClock; tls?: typeof tlsFor } = {}) {
  const metrics = agentMetrics();
  const ctx = applianceContext({ ...options, metrics });
  const health = await startHealthServer(ctx, { host, port: 0, tls });
  onTestFinished(() => health.close());
  return { ctx, metrics, health, port: health.ports[0] ?? 0 };
}

/** Signed by an authority that nobody trusts, as an appliance's usually is. */
const tlsFor = makeServerCertificate(makeAuthority(), ["appliance"]);

/** The same over TLS. */
function probedSecurely(port: number): Promise<number | string> {
  return new Promise((resolve) => {
    getSecurely({ host, port, agent: false, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** The status of an answer on a connection of its own, or why there is none. */
function probed(port: number): Promise<number | string> {
  return new Promise((resolve) => {
    get({ host, port, agent: false, path: "/healthz" }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** Probes without a pause, from now until it is told to stop; gives every answer. */
function probing(port: number): () => Promise<(number | string)[]> {
  const answers: (number | string)[] = [];
  let on = true;
  const loop = (async () => {
    while (on) answers.push(...(await Promise.all([probed(port), probed(port), probed(port)])));
  })();
  return async () => {
    on = false;
    await loop;
    return answers;
  };
}

async function appliance(answer: () => number): Promise<{ server: Server; url: URL }> {
  const server = createServer((_request, response) => response.writeHead(answer()).end());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return { server, url: new URL(`http://${host}:${(server.address() as AddressInfo).port}/up`) };
}

test("it answers 200 before anything else is known, and counts the probes", async () => {
  const { health, metrics, port } = await started();
  expect(await probed(port)).toBe(200);
  expect(metrics.text()).toContain('postern_agent_probes_total{status="200"} 1\n');
  await health.close();
  expect(await probed(port)).toBe("ECONNREFUSED");
});

test("a server of the same process takes the listening socket over, and no probe is refused", async () => {
  const { health, port } = await started();
  const stop = probing(port);
  await expect.poll(() => probed(port)).toBe(200);
  await health.handOver((_request, response) => response.writeHead(200, { by: "appliance" }).end());
  const by = await new Promise((resolve) =>
    get({ host, port, agent: false }, (response) => {
      response.resume();
      resolve(response.headers.by);
    }),
  );
  expect(by).toBe("appliance");
  expect(new Set(await stop())).toEqual(new Set([200]));
});

test("an appliance of its own gets the probes only once it is well, and is believed from then on", async () => {
  const { health, port } = await started();
  let status = 500;
  let asked = 0;
  const { server, url } = await appliance(() => {
    asked++;
    return status;
  });
  const stop = probing(port);
  const handedOver = health.handOver(url);
  await expect.poll(() => asked).toBeGreaterThan(1);
  expect(await probed(port)).toBe(200);
  status = 200;
  await handedOver;
  expect(new Set(await stop())).toEqual(new Set([200]));

  status = 500;
  expect(await probed(port)).toBe(500);
  server.close();
  await expect.poll(() => probed(port)).toBe(503);
});

test("an appliance that never gets well does not look well for ever", async () => {
  const { health, port } = await started();
  const { url } = await appliance(() => 500);
  await health.handOver(url, 0);
  expect(await probed(port)).toBe(500);
});

test.each(["leave", "close"] as const)(
  "an appliance that never gets well is asked no more after %s",
  async (end) => {
    const { health } = await started();
    let asked = 0;
    const { url } = await appliance(() => {
      asked++;
      return 500;
    });
    const handingOver = health.handOver(url);
    const ended = expect(handingOver).rejects.toThrow(/it leaves|nobody answers probes/);
    await expect.poll(() => asked).toBeGreaterThan(0);
    await (end === "leave" ? health.leave(probe, 0) : health.close());
    await ended;
  },
);

test("when it leaves it answers 503 for as many probes as change the load balancer's mind", async () => {
  const clock = new ManualClock();
  const { health, port } = await started({ clock });
  let left = false;
  await health.handOver((_request, response) => response.writeHead(200).end());
  const leaving = health.leave(probe).then(() => {
    left = true;
  });
  expect(await probed(port)).toBe(503);
  await clock.move(9_999);
  expect(left).toBe(false);
  await clock.move(1);
  await leaving;
  expect(await probed(port)).toBe(503);
});

test("a probe that only connects is refused when it leaves", async () => {
  const clock = new ManualClock();
  const { health, port } = await started({ clock });
  const accepted = () =>
    new Promise((resolve) => {
      const socket = connect(port, host, () => resolve(socket.destroy() && true));
      socket.on("error", () => resolve(false));
    });
  expect(await accepted()).toBe(true);
  const leaving = health.leave({ ...probe, protocol: "Tcp", threshold: 1 });
  await expect.poll(accepted).toBe(false);
  await settle();
  await clock.move(5_000);
  await leaving;
});

test("with a certificate the same port answers HTTP and HTTPS from the first second, and 503 when it leaves", async () => {
  const clock = new ManualClock();
  const { health, port, metrics } = await started({ clock, tls: tlsFor });
  expect(await Promise.all([probed(port), probedSecurely(port), probedSecurely(port)])).toEqual([
    200, 200, 200,
  ]);
  expect(metrics.text()).toContain('postern_agent_probes_total{status="200"} 3\n');
  const leaving = health.leave({ ...probe, protocol: "Https" });
  expect(await Promise.all([probed(port), probedSecurely(port)])).toEqual([503, 503]);
  await clock.move(10_000);
  await leaving;
});

test("an appliance that answers over TLS is asked without a question about its certificate", async () => {
  const { health, port } = await started({ tls: tlsFor });
  const { certificate: cert, key } = tlsFor;
  let status = 200;
  const server = createSecureServer({ cert, key }, (_request, response) =>
    response.writeHead(status).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  await health.handOver(new URL(`https://${host}:${(server.address() as AddressInfo).port}/up`));
  expect(await probedSecurely(port)).toBe(200);
  status = 500;
  expect(await probedSecurely(port)).toBe(500);
});

test("a certificate that is none is an error that says so", async () => {
  const tls = { certificate: "no certificate", key: tlsFor.key };
  await expect(started({ tls })).rejects.toThrow(/\(HealthCertificateWrong\) · give a certificate/);
});

test.each([
  ["in the open", undefined],
  ["and over TLS", tlsFor],
])("who connects and says nothing does not hold its end up (%s)", async (_how, tls) => {
  const { health, port } = await started(tls === undefined ? {} : { tls });
  const socket = connect(port, host);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.on("connect", resolve));
  expect(await probed(port)).toBe(200);
  await health.close();
  await closed;
});

test("a port that is taken is an error that says so", async () => {
  const { ctx, port }: { ctx: ApplianceContext; health: HealthServer; port: number } =
    await started();
  await expect(startHealthServer(ctx, { host, port })).rejects.toThrow(
    `cannot answer health probes on ${host}:${port} · the port of the health probe cannot be listened on: EADDRINUSE (HealthPortTaken)`,
  );
});
