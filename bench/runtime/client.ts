import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { KubeClient } from "postern/kube/client.ts";
import { findConnection } from "postern/kube/credentials.ts";
import type { Feature } from "postern/kube/feature.ts";
import { servePages } from "postern/kube/health.ts";
import { makeLog } from "postern/kube/log.ts";
import { Metrics } from "postern/kube/metrics.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { type Probe, probeKind } from "./probes.ts";

/**
 * The bench's work done by our runtime, wired as the operator wires it: lease, metrics, health page, events and log.
 * It prints one line of JSON when all objects are written and seen again.
 */
const { values } = parseArgs({
  options: {
    n: { type: "string" },
    namespace: { type: "string", default: "default" },
    concurrency: { type: "string", default: "16" },
    lease: { type: "string", default: "bench" },
  },
});
const wanted = Number(values.n);
const counts = { written: 0, seen: 0, failed: 0, passes: 0 };
let firstPass = 0;

const feature: Feature<Probe, Probe> = {
  name: "bench",
  kind: probeKind,
  conditions: ["Ready"],
  statusFields: ["address"],
  concurrency: Number(values.concurrency),
  observe: async (observed) => {
    if (counts.passes++ === 0) firstPass = performance.now();
    return { observed, context: undefined };
  },
  plan: ({ spec: { address } }) => ({
    steps: [],
    conditions: [
      { type: "Ready", status: "True", reason: "Connected", message: `reachable at ${address}` },
    ],
    status: { address },
    requeue: "never",
  }),
  apply: async () => ({ state: "done" }),
};

const log = makeLog();
const metrics = new Metrics({ processMetrics: true });
const connection = await findConnection();
const countRequest = metrics.requests(connection.server.host);
const client = new KubeClient(connection, {
  maxSockets: Number(values.concurrency),
  onRequest: (sent) => {
    countRequest(sent);
    if (sent.method !== "PATCH") return;
    if (sent.code === "200") counts.written++;
    else counts.failed++;
    if (counts.written >= wanted && counts.seen >= wanted) done();
  },
});
const runtime = new Runtime({
  client,
  log,
  metrics,
  namespace: values.namespace,
  lease: { namespace: values.namespace, name: values.lease, identity: `bench-${process.pid}` },
  features: [() => ({ feature })],
});
runtime.caches.of(probeKind).onChange(({ before, after }) => {
  if (after?.status?.address === undefined || before?.status?.address !== undefined) return;
  counts.seen++;
  if (counts.written >= wanted && counts.seen >= wanted) done();
});
const page = await servePages({
  listen: { host: "127.0.0.1", port: 0 },
  health: {
    alive: () => runtime.healthChecks(),
    ready: () => runtime.readyChecks(),
    details: true,
  },
  metrics: metrics.registry,
});

const stop = new AbortController();
const started = performance.now();
const running = runtime.run(stop.signal);

function done(): void {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const { written, failed, passes } = counts;
  const result = {
    seconds: (performance.now() - started) / 1000,
    listed: (firstPass - started) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakBytes: peakBytes(),
    written,
    failed,
    passes,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  stop.abort();
}

/** The kernel's own high mark. Not `ru_maxrss`: that one begins with the size of the parent process. */
function peakBytes(): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1]) * 1024;
}

await running;
client.close();
await page.close();
