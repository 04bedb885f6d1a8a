import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { checkServerIdentity, connect } from "node:tls";
import type { Ready } from "@postern/azure-simulator/command/ready.ts";
import { expect, onTestFinished, test } from "vitest";
import { root, runBin } from "../package/run-bin.ts";

const free = ["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "st-cli-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Run the bin until the test ends; gives what its ready file says. */
async function start(args: string[] = [], where = folder()) {
  const readyFile = join(where, "ready.json");
  const child = spawn(
    process.execPath,
    [
      join(root, "packages/postern/bin/postern.js"),
      "simulator",
      ...free,
      "--ready-file",
      readyFile,
      ...args,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const stderr = text(child.stderr);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  // It greets when it is ready, and not before its ready file is there.
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (child.exitCode !== null) throw new Error(await stderr);
  const ready = JSON.parse(readFileSync(readyFile, "utf8")) as Ready;
  const stop = async (signal: NodeJS.Signals) => {
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = await ended;
    return { code, stderr: await stderr };
  };
  const ask = async (method: string, path: string, body?: unknown) =>
    fetch(`${ready.resourceManagerHttp}${path}?api-version=2024-05-01`, {
      method,
      headers: { authorization: `Bearer ${ready.identities[0]?.token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { ready, readyFile, stop, ask };
}

test("it is ready when its file says so, serves both ways, and ends cleanly", async () => {
  const { ready, readyFile, stop, ask } = await start();
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(ready.caFile ?? "", "utf8")).toBe(ready.ca);
  for (const page of ["/healthz", "/readyz", "/readyz?verbose"]) {
    const response = await fetch(`${ready.resourceManagerHttp}${page}`);
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
  }
  const [{ id } = { id: "" }] = ready.subscriptions;
  const made = await ask("PUT", `/subscriptions/${id}/resourceGroups/rg`, {
    location: "westeurope",
  });
  expect(made.status).toBe(201);
  const secure = await new Promise<number | undefined>((resolve, reject) => {
    request(`${ready.resourceManager}/healthz`, { ca: ready.ca }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on("error", reject)
      .end();
  });
  expect(secure).toBe(200);
  expect(await stop("SIGTERM")).toEqual({ code: 0, stderr: "" });
  expect(existsSync(readyFile)).toBe(false);
  expect(existsSync(ready.caFile ?? "")).toBe(false);
});

test("with a state file a killed one goes on, with its CA and its identities", async () => {
  const where = folder();
  const args = [
    "--state",
    join(where, "state"),
    "--seed",
    join(root, "examples/simulator/world.yaml"),
  ];
  const first = await start(args, where);
  const group = `/subscriptions/${first.ready.subscriptions[0]?.id}/resourceGroups/management`;
  const network = `${group}/providers/Microsoft.Network/virtualNetworks/more`;
  const body = {
    location: "westeurope",
    properties: { addressSpace: { addressPrefixes: ["10.7.0.0/16"] } },
  };
  expect((await first.ask("PUT", network, body)).status).toBe(201);
  const [{ metadata } = { metadata: "" }] = first.ready.machines;
  expect(
    (await fetch(`${metadata}/metadata/versions`, { headers: { metadata: "true" } })).status,
  ).toBe(200);
  await first.stop("SIGKILL");
  expect(existsSync(first.readyFile)).toBe(true);
  const second = await start(args, where);
  expect((await second.ask("GET", network)).status).toBe(200);
  expect(second.ready.ca).toBe(first.ready.ca);
  const secrets = ({ identities }: Ready) => identities.map((each) => each.secret);
  expect(secrets(second.ready)).toEqual(secrets(first.ready));
  expect((await second.stop("SIGINT")).code).toBe(0);
});

test("a seed that changed is not applied to a world that has begun, and that is said", async () => {
  const where = folder();
  const seed = join(where, "world.yaml");
  const args = ["--state", join(where, "state"), "--seed", seed];
  const tenant = "tenants: [{ id: 7e4a4700-0000-4000-8000-000000000001 }]\n";
  writeFileSync(seed, tenant);
  await (await start(args, where)).stop("SIGTERM");
  writeFileSync(seed, `${tenant}# changed\n`);
  const requeue = await start(args, where);
  expect((await requeue.stop("SIGTERM")).stderr).toMatch(/was not applied, because .* --reset\./);
});

test("a manual clock stands until it is moved", async () => {
  const { ready, stop } = await start(["--clock", "manual"]);
  const clock = async (init?: RequestInit) =>
    (await (await fetch(`${ready.control}/clock`, init)).json()) as { now: string };
  const before = await clock();
  expect(await clock()).toEqual(before);
  const moved = await clock({ method: "POST", body: JSON.stringify({ advanceMs: 1000 }) });
  expect(Date.parse(moved.now)).toBe(Date.parse(before.now) + 1000);
  await stop("SIGTERM");
});

test("limits and times are those of the options", async () => {
  const { ask, ready } = await start(["--reads", "2:0.01", "--operation-ms", "60000"]);
  const group = `/subscriptions/${ready.subscriptions[0]?.id}/resourceGroups/rg`;
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push((await ask("GET", group)).status);
  expect(seen).toEqual([404, 404, 429]);
  await ask("PUT", group, { location: "westeurope" });
  await ask("DELETE", group);
  const { value } = (await (await fetch(`${ready.control}/operations`)).json()) as {
    value: unknown[];
  };
  expect(value).toHaveLength(1);
});

test("switches are those of the options", async () => {
  const { ask, ready } = await start([
    "--switch",
    "linkServicesPerLoadBalancer=20",
    "--switch",
    "privateLinkServiceUdr=true",
  ]);
  const group = `/subscriptions/${ready.subscriptions[0]?.id}/resourceGroups/rg`;
  const location = "westeurope";
  await ask("PUT", group, { location });
  const properties = { destinationIPAddress: "10.0.0.4" };
  const path = `${group}/providers/Microsoft.Network/privateLinkServices/pls`;
  const text = await (await ask("PUT", path, { location, properties })).text();
  // Where it is off, this is what is refused.
  expect(text).not.toContain("PrivateLinkServiceUdrIsDisabled");
});

test.each([
  [["--listen", "8443"], /--listen.*use HOST:PORT/],
  [["--listen", ":8443"], /--listen.*use HOST:PORT.*0\.0\.0\.0:8443 for every address/],
  [["--public-host", "https://azure.test"], /--public-host.*use a hostname or an IP address/],
  [["--public-host", "azure.test:8443"], /--public-host.*without scheme and port/],
  [["--public-host", ""], /--public-host.*use a hostname/],
  [["--public-host", "300.1.1.1"], /--public-host.*use a hostname/],
  [["--clock", "sundial"], /--clock.*real, manual/],
  [["--reads", "many"], /--reads.*BURST:PER_SECOND/],
  [["--speed", "0"], /--speed.*above 0/],
  [["--operation-ms", "soon"], /--operation-ms.*MILLISECONDS/],
  [["--switch", "gravity=false"], /--switch.*one of gatewayPoolsTakeAddresses, /],
  [["--switch", "linkServicesPerLoadBalancer=many"], /--switch.*a number for linkServices/],
  [["--sate", "x"], /unknown option '--sate'.*--state/],
  [["--reset"], /--reset requires --state/],
])("%j is refused in one line with exit code 64", async (args, why) => {
  const ended = await runBin(["simulator", ...args]);
  expect(ended.stderr).toMatch(why);
  expect(ended.stderr.trim().split("\n")).toHaveLength(1);
  expect(ended.exitCode).toBe(64);
});

test("what cannot be is reported in one line with exit code 1, and leaves no ready file", async () => {
  const where = folder();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => {
    taken.close();
  });
  const { port } = taken.address() as AddressInfo;
  const state = join(where, "rubbish");
  writeFileSync(state, "this is no database, and long enough to be taken for one".repeat(50));
  const seed = join(where, "bad.yaml");
  writeFileSync(seed, "tenants:\n  - id: x\n");
  const empty = join(where, "empty.yaml");
  writeFileSync(empty, "# nothing yet\n");
  const locked = join(where, "locked");
  const readyFile = join(where, "ready.json");
  const rows: [string[], RegExp][] = [
    [["--http-listen", `127.0.0.1:${port}`], /Another process listens there\. Stop it, or choose/],
    [["--listen", `127.0.0.1:${port}`], /Another process listens there/],
    [["--listen", "192.0.2.1:0"], /cannot listen on 192.0.2.1:0\. .*\. Choose an address/],
    [
      ["--state", state],
      /rubbish cannot be read\. .*\. The file is unchanged; start over with --reset/,
    ],
    [
      ["--state", join(locked, "no", "state")],
      /cannot be written\. .*\. Use a file in an existing, writable folder with --state/,
    ],
    [["--seed", seed], /bad.yaml:2:9: 'id' of tenants\[0\] must be a guid/],
    [["--seed", empty], /empty.yaml:1:1: it is empty/],
    [
      ["--ready-file", where],
      /ready file .* cannot be written\. It is a folder\. Use a file .* --ready-file/,
    ],
    [["--seed", join(where, "none.yaml")], /cannot read the seed .*\. ENOENT/],
    [["--ready-file", join(where, "no", "ready")], /ready file .* cannot be written\. ENOENT/],
  ];
  await Promise.all(
    rows.map(async ([args, why]) => {
      const ended = await runBin(["simulator", ...free, "--ready-file", readyFile, ...args]);
      expect(ended.stderr).toMatch(why);
      expect(ended.stderr.trim().split("\n")).toHaveLength(1);
      expect([ended.exitCode, ended.stdout]).toEqual([1, ""]);
    }),
  );
  expect(existsSync(readyFile)).toBe(false);
});

test.each([
  ["azure.test", "azure.test", "azure.test"],
  ["192.0.2.7", "192.0.2.7", "192.0.2.7"],
  ["2001:db8::7", "[2001:db8::7]", "2001:db8::7"],
])(
  "%s as the public host is in the addresses and in the certificate",
  async (given, host, name) => {
    const { ready } = await start(["--public-host", given]);
    expect(new URL(ready.resourceManager ?? "").hostname).toBe(host);
    const port = Number(new URL(ready.resourceManager ?? "").port);
    const options = { host: "127.0.0.1", port, ...(ready.ca && { ca: ready.ca }) };
    await new Promise<void>((resolve, reject) => {
      const socket = connect({
        ...options,
        checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      });
      socket.once("secureConnect", () => resolve()).once("error", reject);
      onTestFinished(() => {
        socket.destroy();
      });
    });
  },
);
