import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { realClock } from "@postern/core/clock.ts";
import { installKinds } from "@postern/local/install.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { findOrBuild } from "../test/setup/binaries.ts";
import { startControlPlane } from "../test/setup/control-plane.ts";
import { type Run, runLocal } from "./local/program.ts";
import { configMap, link, type Sample } from "./local/samples.ts";
import { type Server, type Speed, speedOf } from "./local/speed.ts";
import { atLeast, atMost, makeReport, median, publish, type Row, told } from "./report.ts";

// Local mode: how fast it starts, the demo, load, and the embedded API beside the real one. See README.md.
const { values } = parseArgs({
  options: {
    json: { type: "string" },
    rounds: { type: "string", default: "3" },
    clusters: { type: "string", default: "200" },
    objects: { type: "string", default: "5000" },
    only: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), "postern-bench-local-"));

async function times<T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let n = 0; n < count; n++) all.push(await act(n));
  return all;
}

/** The first start has nothing compiled; the next ones find what it left. */
async function demo(): Promise<Row[]> {
  const cache = (n: number) => join(folder, `cache-${n}`);
  const args = ["--speed", "100"];
  const first = await times(rounds, (n) => runLocal(args, cache(n)));
  const next = await times(rounds, (n) => runLocal(args, cache(n)));
  const of = (runs: Run[], field: keyof Run) => median(runs.map((run) => run[field]));
  return [
    atMost("first start to the ready file", of(first, "readySeconds"), "s", 3),
    atMost("next start to the ready file", of(next, "readySeconds"), "s", 3),
    told("first start: CPU", of(first, "readyCpuSeconds"), "s"),
    told("next start: CPU", of(next, "readyCpuSeconds"), "s"),
    atMost("demo available after that", of([...first, ...next], "availableSeconds"), "s", 10),
    atMost("demo: Ctrl-C to the end", of([...first, ...next], "stopSeconds"), "s", 3),
    told("demo: memory", of(first, "memoryMB"), "MB"),
  ];
}

async function load(): Promise<Row[]> {
  const clusters = Number(values.clusters);
  const args = ["--speed", "1000", "--clusters", String(clusters)];
  const run = await runLocal(args, join(folder, "cache-0"));
  return [
    told(`${clusters} more clusters: available`, run.readySeconds + run.availableSeconds, "s"),
    told(`${clusters} more clusters: memory`, run.memoryMB, "MB"),
    told(`${clusters} more clusters: Kubernetes`, run.kubernetesRequests, "requests"),
    told(`${clusters} more clusters: Azure`, run.azureRequests, "requests"),
    atMost(`${clusters} more clusters: Ctrl-C to the end`, run.stopSeconds, "s", 3),
  ];
}

/** The embedded API and the real one in turn, each in a process of its own and with its data on disk. */
async function api(): Promise<Row[]> {
  const found = await findOrBuild((line) => process.stderr.write(`${line}\n`));
  if ("missing" in found) throw new Error(found.missing);
  const plane = await startControlPlane(found.binaries);
  const child = fork(join(import.meta.dirname, "local/api.ts"), [join(folder, "kubernetes.db")]);
  try {
    const [kubeconfig] = (await once(child, "message")) as [string];
    const embedded: Server = { kubeconfig, pids: [child.pid ?? 0] };
    const real: Server = {
      kubeconfig: readFileSync(plane.address.kubeconfig, "utf8"),
      pids: Object.values(plane.pids()),
    };
    await installBoth(embedded, real);
    return [
      ...(await compared("links", link, embedded, real)),
      ...(await compared("ConfigMaps", configMap, embedded, real)),
    ];
  } finally {
    child.disconnect();
    await plane.stop();
  }
}

async function installBoth(...servers: Server[]): Promise<void> {
  for (const { kubeconfig } of servers) {
    const client = new KubeClient(await fromKubeconfigText(kubeconfig, "the bench"));
    await installKinds(client, false, realClock, new AbortController().signal);
    client.close();
  }
}

async function compared(
  what: string,
  sample: Sample,
  embedded: Server,
  real: Server,
): Promise<Row[]> {
  const count = Number(values.objects);
  const pairs = await times(rounds, async () => ({
    real: await speedOf(real, sample, count, 5),
    embedded: await speedOf(embedded, sample, count, 5),
  }));
  const of = (side: "real" | "embedded", field: keyof Speed) =>
    median(pairs.map((pair) => pair[side][field]));
  const ratio = (field: keyof Speed) =>
    median(pairs.map((pair) => pair.embedded[field] / pair.real[field]));
  return [
    told(`${what}: writes, embedded API`, of("embedded", "writesPerSecond"), "/s"),
    told(`${what}: writes, kube-apiserver`, of("real", "writesPerSecond"), "/s"),
    atLeast(`${what}: writes, times as many`, ratio("writesPerSecond"), "x", 3),
    told(`${what}: CPU of a write, embedded API`, of("embedded", "writeCpuMs"), "ms"),
    told(`${what}: CPU of a write, kube-apiserver`, of("real", "writeCpuMs"), "ms"),
    told(`${what}: list of ${count}, embedded API`, of("embedded", "listSeconds") * 1000, "ms"),
    told(`${what}: list of ${count}, kube-apiserver`, of("real", "listSeconds") * 1000, "ms"),
    atLeast(`${what}: lists, times as fast`, 1 / ratio("listSeconds"), "x", 1),
    told(`${what}: CPU of a list, embedded API`, of("embedded", "listCpuMs"), "ms"),
    told(`${what}: CPU of a list, kube-apiserver`, of("real", "listCpuMs"), "ms"),
  ];
}

const parts: Record<string, () => Promise<Row[]>> = { demo, load, api };
try {
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts))
    if (values.only === undefined || values.only === name) rows.push(...(await part()));
  publish(makeReport("local", rows), values.json);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
