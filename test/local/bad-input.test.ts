import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { folder, spawnLocal, startLocal } from "./running.ts";

interface Ended {
  exitCode: number | null;
  said: string;
}

/** Run it until it ends by itself. */
function ended(...args: string[]): Promise<Ended> {
  return endedIn({}, ...args);
}

/** The same with more in the environment. */
async function endedIn(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const { child, output } = spawnLocal(args, onTestFinished, env);
  await once(child, "close");
  return { exitCode: child.exitCode, said: output() };
}

/** Listen there; undefined where somebody does already. */
async function take(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return server;
  } catch {
    return undefined;
  }
}

/** The first of five ports that are free: below those that the system gives to whoever asks for any. */
async function fiveFree(): Promise<number> {
  for (let base = 10_000 + (process.pid % 4_000) * 5; ; base += 5) {
    const servers = [];
    for (let i = 0; i < 5; i++) servers.push(await take(base + i));
    for (const each of servers) each?.close();
    if (!servers.includes(undefined)) return base;
  }
}

test.each([
  [0, "the dashboard"],
  [1, "Kubernetes"],
  [2, "Azure"],
  [3, "Azure"],
  [4, "the operator"],
] as const)(
  "port %i of the five in use is named, with what to give instead",
  async (offset, whose) => {
    const base = await fiveFree();
    const port = base + offset;
    const taken = await take(port);
    onTestFinished(() => void taken?.close());
    const { exitCode, said } = await ended("--port-base", String(base));
    expect(exitCode).toBe(1);
    expect(said).toMatch(
      new RegExp(
        `^postern: cannot listen on 127\\.0\\.0\\.1:${port} for ${whose}\\. .*--port-base`,
      ),
    );
  },
  120_000,
);

test("a second one beside the first says what the first has, and the first goes on", async () => {
  const data = join(folder(), "data");
  const first = await startLocal("--scenario", "empty", "--data", data);
  const { exitCode, said } = await ended("--port-base", "0", "--data", data);
  expect(exitCode).toBe(1);
  expect(said).toContain(`${data} is in use. Another postern local uses it. Stop that process`);
  expect((await first.kube("GET", "/api/v1/namespaces/default")).status).toBe(200);
}, 120_000);

// Where nobody can make a folder, not even root.
test.each(["/sys/postern", "/proc/postern", "/proc/postern/deeper"])(
  "the folder %s, which cannot be made, is named",
  async (data) => {
    const { exitCode, said } = await ended("--port-base", "0", "--data", data);
    expect(exitCode).toBe(1);
    expect(said).toMatch(
      new RegExp(`^postern: ${data} cannot be written\\. .*\\. Use a writable folder with --data`),
    );
  },
);

test("a file where the folder should be is named and left alone", async () => {
  const place = folder();
  writeFileSync(join(place, "data"), "mine");
  const { exitCode, said } = await ended("--port-base", "0", "--data", join(place, "data"));
  expect(exitCode).toBe(1);
  expect(said).toMatch(
    /^postern: .*data cannot be written\. EEXIST.*\. Use a writable folder with --data/,
  );
  expect(readdirSync(place)).toEqual(["data"]);
});

const group = "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups/m";
const world = `azure:
  tenants: [{ id: cccccccc-0000-4000-8000-000000000000 }]
  subscriptions:
    - { id: aaaaaaaa-0000-4000-8000-000000000000, tenant: cccccccc-0000-4000-8000-000000000000 }
  applications: [{ name: op, tenant: cccccccc-0000-4000-8000-000000000000 }]
operator: { identity: op, managementGroup: ${group} }
`;

test.each([
  ["in its form", `${world}kubernets: []`, "7:1", "did you mean 'kubernetes'"],
  [
    "that Azure refuses",
    world.replace(
      "operator:",
      `  resources: [{ id: ${group}/providers/Microsoft.Network/virtualNetworks/v }]\noperator:`,
    ),
    "6:21",
    "ResourceGroupNotFound",
  ],
  [
    "that the API server refuses",
    `${world}kubernetes:\n  - { apiVersion: v1, kind: Namespace, metadata: { name: NOT A NAME } }`,
    "8:5",
    "rejected this Namespace",
  ],
  [
    "in a field that the API server does not know",
    `${world}kubernetes:\n  - { apiVersion: v1, kind: Namespace, metadata: { name: a }, sepc: {} }`,
    "8:5",
    'unknown field "sepc"',
  ],
  [
    "in a kind that nobody knows",
    `${world}kubernetes:\n  - { apiVersion: v1, kind: Gadget, metadata: { name: a } }`,
    "8:5",
    "does not serve the kind Gadget",
  ],
  [
    "in a machine that is not there",
    `${world}appliances:\n  - { machine: ${group}/providers/Microsoft.Compute/virtualMachines/a, pool: p }`,
    "8:5",
    "does not exist in azure",
  ],
])(
  "a scenario with a mistake %s is refused with its line and column",
  async (_what, text, place, said) => {
    const file = join(folder(), "my.yaml");
    writeFileSync(file, text);
    const data = join(folder(), "data");
    const first = await ended("--port-base", "0", "--scenario", file, "--data", data);
    expect(first.exitCode).toBe(1);
    expect(first.said).toContain(`${file}:${place}: `);
    expect(first.said).toContain(said);
    // Nothing of it was kept: the corrected file begins as if it were the first.
    writeFileSync(file, world);
    const second = await startLocal("--scenario", file, "--data", data);
    expect(second.output()).not.toContain("was not applied");
  },
  120_000,
);

test("one machine that is not there among others ends all of it", async () => {
  const demo = readFileSync(join(root, "examples/local/demo.yaml"), "utf8");
  const file = join(folder(), "my.yaml");
  writeFileSync(
    file,
    demo.replace("virtualMachines/inspector-2, pool", "virtualMachines/no, pool"),
  );
  const { exitCode, said } = await ended("--port-base", "0", "--scenario", file);
  expect(exitCode).toBe(1);
  expect(said).toMatch(/^postern: .*my\.yaml:\d+:5: machine .*\/no does not exist in azure/);
}, 120_000);

test.each(["azure-ca.pem", "kubeconfig", "operator.log", "begun.json"])(
  "a folder in which %s cannot be written is told, and nothing goes on",
  async (name) => {
    const data = folder();
    mkdirSync(join(data, name));
    const { exitCode, said } = await ended("--port-base", "0", "--data", data);
    expect(exitCode).toBe(1);
    expect(said).toContain(`postern: ${join(data, name)} cannot be `);
  },
  120_000,
);

test("a place for temporary folders that cannot be written is named", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  const { exitCode, said } = await endedIn({ TMPDIR: file }, "--port-base", "0");
  expect(exitCode).toBe(1);
  expect(said).toMatch(/^postern: cannot create a folder in .*file\. ENOTDIR.*\. Set TMPDIR/);
});

test("a kubeconfig that points nowhere is reported with its address", async () => {
  const file = join(folder(), "kubeconfig");
  writeFileSync(
    file,
    JSON.stringify({
      "current-context": "a",
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:9" } }],
      users: [{ name: "a", user: { token: "a" } }],
    }),
  );
  const { exitCode, said } = await ended("--port-base", "0", "--kubeconfig", file);
  expect(exitCode).toBe(1);
  expect(said).toMatch(
    /^postern: the cluster of .* cannot be used\. .*127\.0\.0\.1:9: ECONNREFUSED/,
  );
});

test.each([
  [["--speed", "0"], "use a number above 0"],
  [["--port-base", "80"], "use a port from 1024"],
  [["--clusters", "-1"], "use a whole number"],
  [["--reset"], "--reset requires --data"],
  [["--azure", "real", "--speed", "3"], "--speed requires the simulator"],
  [["--azure", "real"], "set AZURE_SUBSCRIPTION_ID to its subscription and AZURE_RESOURCE_GROUP"],
  [["--azure", "real", "--clusters", "3"], "--clusters creates virtual networks"],
  [["--scenario", "nowhere.yaml"], "cannot read the scenario nowhere.yaml"],
])("%j is refused in one line", async (args, said) => {
  const answer = await ended(...args);
  expect(answer.said).toContain(said);
  expect(answer.said.trim().split("\n")).toHaveLength(1);
  expect(answer.exitCode).toBe(args[0] === "--scenario" ? 1 : 64);
});
