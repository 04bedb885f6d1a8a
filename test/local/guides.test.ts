import { type ExecFileException, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { findOrBuildKubectl } from "../setup/binaries.ts";
import {
  commandsOf,
  elsewhere,
  endless,
  guides,
  notRun,
  refused,
  runLocally,
  runOnReal,
} from "./guide-commands.ts";
import { folder, type Running, startLocal, untilAvailable } from "./running.ts";

/** In this order on one local mode: the last one takes it apart. */
const onDemo = ["try-it", "when-something-is-wrong", "remove-it"];
/** And these on another, whose clusters have the names of these guides. */
const onNamed = ["hosted-control-planes", "cluster-api", "appliances"];

/** Answers that are no failure: `plan` would change something, or a look found something. */
const answers: Record<string, number> = { plan: 2, tree: 3, doctor: 3 };

/** What a person has: a folder with the files of the checkout, the tools on the path, and what the guides leave open. */
interface Shell {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Addresses and values of the guides, and those that they have here. */
  here: [string | RegExp, string][];
}

/** Programs take any free port here, and an agent the metadata service of its machine. */
const wrapper = `#!/bin/sh
case "$1" in
  local) set -- "$@" --port-base 0 ;;
  operator) set -- "$@" --listen 127.0.0.1:0 --dashboard 127.0.0.1:0 ;;
  agent) set -- "$@" --imds "$MACHINE" --resource-manager "$RESOURCE_MANAGER" ;;
esac
exec "${process.execPath}" "${join(root, "packages/postern/bin/postern.js")}" "$@"
`;

function shell({ ready }: Running, kubectl: string): Shell {
  const cwd = folder();
  for (const name of ["manifests", "examples"]) symlinkSync(join(root, name), join(cwd, name));
  const tools = join(cwd, "bin");
  mkdirSync(tools);
  symlinkSync(kubectl, join(tools, "kubectl"));
  writeFileSync(join(tools, "postern"), wrapper, { mode: 0o755 });
  writeFileSync(join(tools, "npx"), `#!/bin/sh\nexec "$@"\n`, { mode: 0o755 });
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  return {
    cwd,
    env: {
      ...Object.fromEntries(clean),
      HOME: cwd,
      PATH: `${tools}:${process.env.PATH}`,
      KUBECONFIG: ready.kubeconfig,
      NO_COLOR: "1",
      MACHINE: ready.azure?.machines[0]?.metadata,
      RESOURCE_MANAGER: ready.azure?.resourceManagerHttp,
    },
    here: [
      ["http://127.0.0.1:7440", ready.dashboard.url],
      ["http://127.0.0.1:8081", ready.operator.url],
      ["https://127.0.0.1:8443", ready.azure?.resourceManager ?? ""],
      ["azure.json.ca.pem", ready.azure?.caFile ?? ""],
    ],
  };
}

/** Run a command to its end, or until it is at work and Ctrl-C ends it. */
async function run(command: string, { cwd, env, here }: Shell, exports: string[]): Promise<void> {
  const [, atWork] = endless.find(([which]) => which.test(command)) ?? [];
  const whole = [...exports, atWork ? `exec ${command}` : command].join("\n");
  const script = here.reduce((text, [there, value]) => text.replaceAll(there, value), whole);
  if (atWork) return runUntilAtWork(script, atWork, { cwd, env });
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) =>
    execFile("bash", ["-ec", script], { env, cwd }, (error: ExecFileException | null, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: `${out}${err}` }),
    ),
  );
  const [, program = ""] = /^npx postern (\w+)/.exec(command) ?? [];
  const all = `${command}\n${said}`;
  if (command in refused) {
    expect(code, all).toBe(1);
    expect(said, all).toContain(refused[command]);
    return;
  }
  expect([0, answers[program] ?? 0], all).toContain(code);
  // What copies or writes a file has nothing to say.
  if (!/^cp | > \S+$/.test(command)) expect(said, all).not.toBe("");
}

async function runUntilAtWork(script: string, atWork: RegExp, options: object): Promise<void> {
  const child = spawn("bash", ["-ec", script], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const ended = once(child, "exit");
  await expect
    .poll(() => atWork.test(said) || child.exitCode !== null, { timeout: 60_000 })
    .toBe(true);
  expect(child.exitCode, `${script}\n${said}`).toBe(null);
  child.kill("SIGINT");
  const [code] = await ended;
  // By which code kubectl ends is its own affair.
  if (!script.includes("exec kubectl")) expect(code, `${script}\n${said}`).toBe(0);
}

/** All commands of a guide but its exports, which hold in all of its shells. */
async function runGuide(guide: string, at: Shell, which = (_: string) => true): Promise<void> {
  const all = runLocally(guide).filter(which);
  expect(all.length, guide).toBeGreaterThan(0);
  const isExport = (command: string) => command.startsWith("export ");
  const exports = all.filter(isExport);
  for (const command of all) if (!isExport(command)) await run(command, at, exports);
}

/** The annotation of an AzureCluster that is still there belongs to the clusters with the names of the guides. */
const isAboutNamed = (command: string) => /\bwc1\b/.test(command);

test("every command of the guides is run, or there is a reason not to", () => {
  expect([...onDemo, ...onNamed, ...elsewhere].toSorted()).toEqual(guides.toSorted());
  const commands = guides.flatMap(commandsOf);
  const listed = [...Object.keys(notRun), ...runOnReal, ...Object.keys(refused)];
  expect(listed.filter((each) => !commands.includes(each))).toEqual([]);
});

test("the guides to try it, to look and to remove it work in this order on local mode", async ({
  skip,
}) => {
  const found = await findOrBuildKubectl((line) => console.log(line));
  if ("missing" in found) return skip(found.missing);
  const local = await startLocal("--speed", "100");
  await untilAvailable(local);
  const at = shell(local, found.kubectl);
  for (const guide of onDemo) await runGuide(guide, at, (command) => !isAboutNamed(command));
  for (const gone of [
    "hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/blue",
    "hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/green",
    "infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org/azureclusters/amber",
    "apiextensions.k8s.io/v1/customresourcedefinitions/azureprivatelinkservices.hypershift.openshift.io",
  ])
    expect(await local.kube("GET", `/apis/${gone}`), gone).toMatchObject({ status: 404 });
}, 600_000);

/** The demo with the names of the guides, and an operator that a ServiceAccount may act as. */
function namedScenario(): string {
  const operator = "clientId: eeeeeeee-0000-4000-8000-000000000001\n";
  const federated = `      federatedCredentials:
        - { issuer: kubernetes, subject: "system:serviceaccount:postern:postern" }
`;
  const demo = readFileSync(join(root, "examples/local/demo.yaml"), "utf8")
    .replace(operator, operator + federated)
    .replaceAll("blue", "one")
    .replaceAll("amber", "wc1")
    .replaceAll("example.net", "example.com");
  const file = join(folder(), "named.yaml");
  writeFileSync(file, demo);
  return file;
}

test("the guides to hosted control planes, Cluster API and appliances work on local mode", async ({
  skip,
}) => {
  const found = await findOrBuildKubectl((line) => console.log(line));
  if ("missing" in found) return skip(found.missing);
  const local = await startLocal("--speed", "100", "--scenario", namedScenario());
  await untilAvailable(local);
  const at = shell(local, found.kubectl);
  const account = "/api/v1/namespaces/postern/serviceaccounts";
  await local.kube("POST", "/api/v1/namespaces", { metadata: { name: "postern" } });
  await local.kube("POST", account, { metadata: { name: "postern" } });
  const { body } = await local.kube<{ status: { token: string } }>(
    "POST",
    `${account}/postern/token`,
    { spec: { audiences: ["api://AzureADTokenExchange"] } },
  );
  const tokenFile = join(at.cwd, "token");
  writeFileSync(tokenFile, body.status.token);
  const operator = local.ready.azure?.identities.find(({ name }) => name === "operator");
  const values: Record<string, string | undefined> = {
    AZURE_SUBSCRIPTION_ID: local.ready.environment.AZURE_SUBSCRIPTION_ID,
    AZURE_RESOURCE_GROUP: local.ready.environment.AZURE_RESOURCE_GROUP,
    AZURE_TENANT_ID: operator?.tenantId,
    AZURE_CLIENT_ID: operator?.clientId,
    AZURE_FEDERATED_TOKEN_FILE: tokenFile,
  };
  for (const [name, value] of Object.entries(values))
    at.here.push([`${name}=…`, `${name}=${value}`]);
  // The guide to hosted control planes says how the simulator is reached; it holds for that to Cluster API too.
  const { resourceManager, authorityHost, caFile } = local.ready.azure ?? {};
  at.env.AZURE_RESOURCE_MANAGER_ENDPOINT = resourceManager;
  at.env.AZURE_AUTHORITY_HOST = authorityHost;
  at.env.NODE_EXTRA_CA_CERTS = caFile;
  for (const guide of onNamed) await runGuide(guide, at);
  await runGuide("remove-it", at, isAboutNamed);
}, 600_000);
