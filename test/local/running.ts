import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ready } from "@postern/local/ready.ts";
import { onTestFinished, vi } from "vitest";
import { root } from "../package/run-bin.ts";
import { type Answer, send } from "../setup/request.ts";

/** A condition as a client reads it. */
export interface Said {
  type: string;
  status: string;
  reason?: string;
}

/** An object as a client reads it. */
export interface Thing {
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  spec: Record<string, unknown>;
  status?: { conditions?: Said[] } & Record<string, unknown>;
}

/** A `postern local` in a process of its own, as a person runs it. */
export interface Running {
  ready: Ready;
  readyFile: string;
  output(): string;
  /** Ask the Kubernetes API by what the kubeconfig says. */
  kube<T = Thing>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Read a resource of Azure as the person at the keyboard. */
  azure(id: string, apiVersion: string): Promise<{ status: number; body: Resource }>;
  /** Ask it to end, and tell how it did. */
  end(signal?: NodeJS.Signals): Promise<{ exitCode: number | null; signal: string | null }>;
}

export interface Resource {
  properties: Record<string, unknown>;
}

/** Takes what is to be done at the end of a test, or of a suite. */
export type AtEnd = (undo: () => void) => void;

/** A folder that goes with the test. */
export function folder(atEnd: AtEnd = onTestFinished): string {
  const path = mkdtempSync(join(tmpdir(), "postern-test-"));
  atEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Start it and wait until it is ready. It is killed at the end of the test. */
export function startLocal(...args: string[]): Promise<Running> {
  return startLocalUntil(onTestFinished, ...args);
}

/** The same with more in the environment. */
export function startLocalIn(env: Record<string, string>, ...args: string[]): Promise<Running> {
  return start(onTestFinished, env, args);
}

/** The same for several tests. */
export function startLocalUntil(atEnd: AtEnd, ...args: string[]): Promise<Running> {
  return start(atEnd, {}, args);
}

async function start(
  atEnd: AtEnd,
  env: Record<string, string>,
  args: readonly string[],
): Promise<Running> {
  const readyFile = join(folder(atEnd), "ready.json");
  const given = ["--port-base", "0", "--ready-file", readyFile, ...args];
  const { child, output } = spawnLocal(given, atEnd, env);
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  await vi.waitUntil(() => ended() || existsSync(readyFile), { timeout: 60_000, interval: 20 });
  if (ended()) throw new Error(`it ended before it was ready\n${output()}`);
  const ready = JSON.parse(readFileSync(readyFile, "utf8")) as Ready;
  const server = connectionIn(ready.kubeconfig);
  return {
    ready,
    readyFile,
    output,
    kube: (method, path, body) => {
      const patch = method === "PATCH" && { contentType: "application/merge-patch+json" };
      return send(server, method, path, body, { token: server.token, ...patch });
    },
    azure: async (id, apiVersion) => {
      const you = ready.azure?.identities.find(({ name }) => name === "you");
      const url = `${ready.azure?.resourceManagerHttp}${id}?api-version=${apiVersion}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${you?.token}` } });
      return { status: answer.status, body: (await answer.json()) as Resource };
    },
    end: async (signal = "SIGINT") => {
      if (!ended()) child.kill(signal);
      if (!ended()) await once(child, "exit");
      return { exitCode: child.exitCode, signal: child.signalCode };
    },
  };
}

/** Start it, whatever comes of it. */
export function spawnLocal(
  args: string[],
  atEnd: AtEnd = onTestFinished,
  env: Record<string, string> = {},
): { child: ChildProcess; output: () => string } {
  const bin = join(root, "packages/postern/bin/postern.js");
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  const child = spawn(process.execPath, [bin, "local", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Object.fromEntries(clean), ...env },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  atEnd(() => void child.kill("SIGKILL"));
  return { child, output: () => text };
}

/** What the kubeconfig of a running one says. */
function connectionIn(kubeconfig: string): { url: string; ca: string; token: string } {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
    users: { user: { token: string } }[];
  };
  const cluster = clusters[0]?.cluster;
  return {
    url: cluster?.server ?? "",
    ca: Buffer.from(cluster?.["certificate-authority-data"] ?? "", "base64").toString(),
    token: users[0]?.user.token ?? "",
  };
}

export const hostedClusters =
  "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters";

/** The status of a condition; undefined where it is not there. */
export function conditionOf(thing: Thing, type: string): string | undefined {
  return thing.status?.conditions?.find((each) => each.type === type)?.status;
}

/** Wait until everything of the scenario is available. */
export async function untilAvailable({ output }: Running): Promise<void> {
  await vi.waitUntil(() => output().includes("Everything is available"), { timeout: 120_000 });
}
