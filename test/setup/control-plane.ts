import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { startGuard } from "./guard.ts";
import { type Server, send } from "./request.ts";

/** Users that the API server knows: `admin` may do everything, the others nothing until a role says so. */
const users = ["admin", "alice", "bob"] as const;
export type User = (typeof users)[number];

/** All that a client needs, as plain data: it can be handed to another process. */
export interface ControlPlaneAddress extends Server {
  version: string;
  /** Whether it is the embedded API, and not the real kube-apiserver. */
  embedded: boolean;
  tokens: Record<User, string>;
  /** Path of a kubeconfig for `admin`. */
  kubeconfig: string;
  /** Path of the audit log: one JSON object a line, one line for each finished request. */
  auditLog: string;
}

export interface ControlPlane {
  address: ControlPlaneAddress;
  pids(): { etcd: number; apiserver: number };
  /** Ends the API server and starts it again on the same port and the same data. */
  restartApiserver(signal?: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** More flags for kube-apiserver; they win over ours. */
  flags?: string[];
  /** Run the controllers too that delete what has no owner and empty namespaces. */
  collects?: boolean;
}

/** Starts etcd and kube-apiserver on loopback, with TLS, RBAC and an audit log, and waits until they serve. */
export async function startControlPlane(
  binaries: Binaries,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), "postern-control-plane-"));
  const guard = startGuard(folder);
  const ports = await freePorts("etcd", "peer", "apiserver");
  const tokens = await writeInputs(folder);
  const etcdUrl = `http://127.0.0.1:${ports.etcd}`;
  const flags = [...apiserverFlags(folder, etcdUrl, ports.apiserver), ...(options.flags ?? [])];

  const started: Program[] = [];
  const start = (name: "etcd" | "kube-apiserver" | "collector", args: string[]): Program => {
    const program = startProgram(name, binaries[name], args, folder);
    started.push(program);
    guard.watch(started.filter((one) => !one.ended()).map((one) => one.pid));
    return program;
  };
  const endAll = () => Promise.all(started.map((program) => program.end("SIGKILL")));

  try {
    const etcd = start("etcd", etcdFlags(folder, etcdUrl, `http://127.0.0.1:${ports.peer}`));
    let apiserver = start("kube-apiserver", flags);
    const url = `https://127.0.0.1:${ports.apiserver}`;
    const ca = await untilReady([etcd, apiserver], folder, url, tokens.admin);
    const address: ControlPlaneAddress = {
      version: binaries.version,
      embedded: false,
      url,
      ca,
      tokens,
      kubeconfig: await writeKubeconfig(folder, url, ca, tokens.admin),
      auditLog: join(folder, "audit.log"),
    };
    if (options.collects) start("collector", [address.kubeconfig]);
    return {
      address,
      pids: () => ({ etcd: etcd.pid, apiserver: apiserver.pid }),
      restartApiserver: async (signal = "SIGKILL") => {
        await apiserver.end(signal);
        apiserver = start("kube-apiserver", flags);
        await untilReady([etcd, apiserver], folder, url, tokens.admin);
      },
      stop: async () => {
        await endAll();
        guard.dismiss();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await endAll();
    guard.dismiss(); // the folder stays: its logs say what went wrong
    throw error;
  }
}

interface Program {
  name: string;
  pid: number;
  log: string;
  ended(): boolean;
  end(signal: NodeJS.Signals): Promise<void>;
}

function startProgram(name: string, path: string, args: string[], folder: string): Program {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, "a");
  const child: ChildProcess = spawn(path, args, { cwd: folder, stdio: ["ignore", output, output] });
  if (child.pid === undefined) throw new Error(`${path} cannot be started`);
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    pid: child.pid,
    log,
    ended,
    end: async (signal) => {
      if (!ended()) child.kill(signal);
      await gone;
    },
  };
}

/** Waits until the server serves everything it has, and gives back the certificates it made for itself. */
async function untilReady(
  programs: Program[],
  folder: string,
  url: string,
  token: string,
): Promise<string> {
  const limitMs = 90_000;
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    const dead = programs.find((program) => program.ended());
    if (dead) throw new Error(`${dead.name} ended\n${await tail(dead.log)}`);
    const ca = await readFile(join(folder, "certs", "apiserver.crt"), "utf8").catch(() => "");
    if (ca !== "" && (await serves({ url, ca }, token))) return ca;
    await sleep(50);
  }
  const tails = await Promise.all(programs.map((program) => tail(program.log)));
  throw new Error(`no API server after ${limitMs / 1000} s\n${tails.join("\n")}`);
}

/** The namespace `default` is made after the server says it is ready, and tests may want it. */
async function serves(server: Server, token: string): Promise<boolean> {
  try {
    for (const path of ["/readyz", "/api/v1/namespaces/default"]) {
      const { status } = await send(server, "GET", path, undefined, { token });
      if (status !== 200) return false;
    }
    return true;
  } catch {
    return false;
  }
}

async function tail(log: string): Promise<string> {
  const lines = (await readFile(log, "utf8").catch(() => "")).trimEnd().split("\n");
  return [`--- ${log}`, ...lines.slice(-25)].join("\n");
}

function etcdFlags(folder: string, url: string, peerUrl: string): string[] {
  return [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync", // the data lives as long as the run
    "--log-level=warn",
  ];
}

function apiserverFlags(folder: string, etcdUrl: string, port: number): string[] {
  const file = (name: string) => join(folder, name);
  return [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${file("certs")}`,
    "--authorization-mode=RBAC",
    "--anonymous-auth=false",
    `--token-auth-file=${file("tokens.csv")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("service-account.key")}`,
    `--service-account-signing-key-file=${file("service-account.key")}`,
    `--audit-policy-file=${file("audit-policy.json")}`,
    `--audit-log-path=${file("audit.log")}`,
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.96.0.0/16", // the default has room for 254 Services
  ];
}

async function writeInputs(folder: string): Promise<Record<User, string>> {
  const token = () => randomBytes(16).toString("hex");
  const tokens = { admin: token(), alice: token(), bob: token() };
  const rows = users.map((user) => {
    const group = user === "admin" ? "system:masters" : "postern:tests";
    return `${tokens[user]},${user},${user},${group}`;
  });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const auditPolicy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived", "ResponseStarted"],
    rules: [{ level: "Metadata" }],
  };
  await writeFile(join(folder, "tokens.csv"), `${rows.join("\n")}\n`);
  await writeFile(
    join(folder, "service-account.key"),
    privateKey.export({ type: "pkcs1", format: "pem" }),
  );
  await writeFile(join(folder, "audit-policy.json"), JSON.stringify(auditPolicy));
  return tokens;
}

/** Writes a kubeconfig for `admin` into a folder, and gives its path. */
export async function writeKubeconfig(
  folder: string,
  url: string,
  ca: string,
  token: string,
): Promise<string> {
  const path = join(folder, "kubeconfig");
  const data = Buffer.from(ca).toString("base64");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": data } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    "current-context": "test",
  };
  await writeFile(path, JSON.stringify(config, undefined, 2)); // YAML is a superset of JSON
  return path;
}

/** All of them are held until all are known, so that none is given twice. */
async function freePorts<Name extends string>(...names: Name[]): Promise<Record<Name, number>> {
  const held = names.map((name) => ({ name, server: createServer().listen(0, "127.0.0.1") }));
  const ports: Partial<Record<Name, number>> = {};
  for (const { name, server } of held) {
    if (!server.listening) await once(server, "listening");
    ports[name] = (server.address() as AddressInfo).port;
  }
  await Promise.all(held.map(({ server }) => once(server.close(), "close")));
  return ports as Record<Name, number>;
}
