import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, get as getSecurely } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority, makeServerCertificate } from "@postern/core/test-bed/certificates.ts";
import {
  type ApplianceContext,
  type ApplianceLog,
  applianceContext,
} from "postern/appliance/context.ts";
import { type HealthServer, startHealthServer } from "postern/appliance/health.ts";
import { agentMetrics } from "postern/appliance/metrics-text.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../manual-clock.ts";

const host = "127.0.0.1";
const probe = { protocol: "Http", port: 0, path: "/", intervalSeconds: 5, threshold: 2 } as const;

interface Given {
  clock?: ManualClock;
  tls?: typeof tlsFor;
  log?: ApplianceLog;
}

async function started({ tls, ...options }: Given = {}) {
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
  await health.handOver(url, { withinMs: 0 });
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
  await expect(started({ tls })).rejects.toThrow(/\(HealthCertificateWrong\) · use a certificate/);
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
    `cannot answer health probes on ${host}:${port} · the agent cannot listen on the port of the health probe: EADDRINUSE (HealthPortTaken)`,
  );
});

/** Ports that are free now, for what a test starts later. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host, () => resolve(socket.destroy() && true));
    socket.on("error", () => resolve(false));
  });

/** An appliance as a process of its own. */
async function applianceProcess(port: number) {
  const program = `require("node:http").createServer((_, r) => r.end()).listen(${port}, "${host}")`;
  const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await expect.poll(() => accepts(port)).toBe(true);
  return child;
}

test("an appliance that dies is 503 with the next probe, and 200 when it is back", async () => {
  const { health, port } = await started();
  const its = await freePort();
  const url = new URL(`http://${host}:${its}/`);
  const first = await applianceProcess(its);
  await health.handOver(url);
  expect(await probed(port)).toBe(200);
  first.kill("SIGKILL");
  await once(first, "exit");
  expect(await probed(port)).toBe(503);
  await applianceProcess(its);
  expect(await probed(port)).toBe(200);
});

test("an appliance that hangs is 503, also where it has answered half, and one that is slow is believed", async () => {
  const { health, port } = await started();
  const answers: ((response: ServerResponse) => void)[] = [];
  const server = createServer((_request, response) => {
    const answer = answers.shift();
    if (answer === undefined) response.end();
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await health.handOver(new URL(`http://${host}:${(server.address() as AddressInfo).port}`));
  answers.push(() => undefined);
  expect(await probed(port)).toBe(503);
  answers.push((response) => void response.writeHead(200).write("half"));
  expect(await probed(port)).toBe(503);
  answers.push((response) => void setTimeout(() => response.end(), 300));
  expect(await probed(port)).toBe(200);
}, 20_000);

test.each([301, 204, 404, 429, 500])(
  "an appliance that answers %i is not healthy",
  async (status) => {
    const { health, port } = await started();
    const { url } = await appliance(() => status);
    await health.handOver(url, { withinMs: 0 });
    expect(await probed(port)).toBe(status);
  },
);

test("with tcp:// an appliance is healthy that accepts connections", async () => {
  const { health, port } = await started();
  const its = await freePort();
  const child = await applianceProcess(its);
  await health.handOver(new URL(`tcp://${host}:${its}`));
  expect(await probed(port)).toBe(200);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await probed(port)).toBe(503);
});

describe("a command", () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), "postern-health-"));
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  };

  test("decides by its exit code, and its words are logged and not answered", async () => {
    const clock = new ManualClock();
    const file = join(folder(), "dead");
    const lines: object[] = [];
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (f: object) => lines.push(f),
    };
    const { health, port } = await started({ clock, log });
    await health.handOver({ command: `test ! -e ${file} || { echo "no licence" >&2; exit 3; }` });
    expect(await probed(port)).toBe(200);
    writeFileSync(file, "");
    await clock.move(1_000);
    expect(await probed(port)).toBe(503);
    expect(lines).toEqual([{ why: "the command ended with 3: no licence" }]);
    expect(await (await fetch(`http://${host}:${port}`)).text()).toBe("not healthy\n");
    rmSync(file);
    await clock.move(1_000);
    expect(await probed(port)).toBe(200);
  });

  test("that hangs is 503, is killed with all that it started, and runs again with the next probe", async () => {
    const made = folder();
    const hang = join(made, "hang");
    const pid = join(made, "pid");
    const { health, port } = await started();
    await health.handOver({
      command: `if [ -e ${hang} ]; then sleep 600 & echo $! > ${pid}; wait; fi`,
    });
    writeFileSync(hang, "");
    await expect.poll(() => probed(port)).toBe(503);
    const isRunning = () => existsSync(`/proc/${readFileSync(pid, "utf8").trim()}/root`);
    await expect.poll(isRunning).toBe(false);
    rmSync(hang);
    await expect.poll(() => probed(port), { timeout: 5_000 }).toBe(200);
  }, 20_000);

  test("runs once at a time, and once for all who ask at once", async () => {
    const file = join(folder(), "runs");
    const { health, port } = await started({ clock: new ManualClock() });
    await health.handOver({ command: `echo x >> ${file}; sleep 0.2` });
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => probed(port))))).toEqual(
      new Set([200]),
    );
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });

  test("that is running ends with the agent", async () => {
    const pid = join(folder(), "pid");
    const { health } = await started({ clock: new ManualClock() });
    const handingOver = health.handOver({ command: `echo $$ > ${pid}; exec sleep 600` });
    const ended = expect(handingOver).rejects.toThrow();
    await expect.poll(() => existsSync(pid) && readFileSync(pid, "utf8") !== "").toBe(true);
    await health.close();
    await ended;
    const of = readFileSync(pid, "utf8").trim();
    await expect.poll(() => existsSync(`/proc/${of}/root`)).toBe(false);
  });

  test("that cannot be found is not healthy", async () => {
    const { health, port } = await started();
    await health.handOver({ command: "/no/such/program" }, { withinMs: 0 });
    expect(await probed(port)).toBe(503);
  });
});

test("to a probe that only connects, nobody listens while the appliance is not healthy", async () => {
  const clock = new ManualClock();
  const { health, port } = await started({ clock });
  let status = 200;
  const { url } = await appliance(() => status);
  await health.handOver(url, { probe: { ...probe, protocol: "Tcp" } });
  const later = async () => {
    await clock.move(2_000);
    return accepts(port);
  };
  expect(await accepts(port)).toBe(true);
  status = 500;
  await expect.poll(later).toBe(false);
  status = 200;
  await expect.poll(later).toBe(true);
  const leaving = health.leave({ ...probe, protocol: "Tcp" });
  await expect.poll(() => accepts(port)).toBe(false);
  await clock.move(10_000);
  await leaving;
});

test("a port that is released is free for the appliance, and the agent answers there no more", async () => {
  const { health, port } = await started({ clock: new ManualClock() });
  expect(await probed(port)).toBe(200);
  await health.handOver("release");
  expect(health.ports).toEqual([]);
  expect(await probed(port)).toBe("ECONNREFUSED");
  const child = await applianceProcess(port);
  expect(await probed(port)).toBe(200);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await probed(port)).toBe("ECONNREFUSED");
});
