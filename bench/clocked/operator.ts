import { readFileSync } from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { DriftInterval } from "postern/azure/drift-interval.ts";
import { providerOf } from "postern/azure/limits.ts";
import type { TokenSource } from "postern/azure/tokens.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { makeLog } from "postern/kube/log.ts";
import { type MakeFeature, Runtime } from "postern/kube/runtime.ts";
import { CountingClient } from "../../test/system/hosted/counting-client.ts";

/** What a bench gives the process of the operator. */
export interface Given {
  kubeconfig: string;
  resourceManager: string;
  token: string;
  now: number;
}

/** What that process answers after each step. */
export interface Stepped {
  now: number;
  nextDue: number;
  available: number;
  /** Requests to Azure by verb, and how many were refused as too many. */
  requests: Record<string, number>;
  /** The reads and polls of DNS among them. */
  dnsReads: number;
  /** The same by what is read. */
  dnsReadsOf: Record<string, number>;
  throttled: number;
  kubeWrites: number;
  cpuSeconds: number;
  memoryMB: number;
}

/**
 * The operator in a process of its own, so that its CPU and memory are its own, on a clock that `drive.ts` moves. Each
 * message is a time to move to; each answer says when something is due next, and what was asked of Azure.
 */
export async function serveSteps(
  featuresOf: (arm: Arm, everyone: TokenSource) => readonly MakeFeature[],
  available: (runtime: Runtime) => number,
): Promise<void> {
  const given = JSON.parse(process.argv[2] ?? "{}") as Given;
  const clock = new ManualClock(given.now);
  const requests: Record<string, number> = {};
  let open = 0;
  let throttled = 0;
  let dnsReads = 0;
  const dnsReadsOf: Record<string, number> = {};
  let kubeWrites = 0;
  const everyone: TokenSource = {
    identity: "operator",
    // Asked for right before a request is sent: from here on it is under way.
    token: async () => {
      open++;
      return given.token;
    },
  };
  const drift = new DriftInterval();
  const arm = new Arm({
    cloud: customCloud({ resourceManager: given.resourceManager }),
    credential: everyone,
    clock,
    onRequest: ({ verb, resource, throttled: refused, priority }) => {
      if (priority === "drift" && verb === "GET") drift.read();
      open--;
      const poll =
        verb === "GET" && /operations|operationResults|operationStatuses/i.test(resource);
      const name = poll ? "poll" : verb;
      requests[name] = (requests[name] ?? 0) + 1;
      if (verb === "GET" && providerOf(resource) === "dns") {
        dnsReads++;
        const what = `${poll ? "poll" : resource}${priority === "drift" ? ", drift" : ""}`;
        dnsReadsOf[what] = (dnsReadsOf[what] ?? 0) + 1;
      }
      if (refused) throttled++;
    },
  });
  const client = new CountingClient(await fromKubeconfig(given.kubeconfig), {
    userAgent: "postern-bench",
    onRequest: ({ method }) => {
      if (method !== "GET") kubeWrites++;
    },
  });
  const log = makeLog({ format: "json", level: "error" });
  const features = featuresOf(arm, everyone);
  const runtime = new Runtime({ client, clock, log, features, drift });
  client.caches = runtime.caches;

  /** Until nothing is under way but what waits for the clock. Real time is waited without using the CPU that is measured. */
  const settled = async () => {
    for (let calm = 0; calm < 2; ) {
      for (let i = 0; i < 10; i++) await turn();
      if (open === 0 && client.calm) calm++;
      else {
        calm = 0;
        await sleep(1);
      }
    }
  };
  const stepped = (): Stepped => {
    const { user, system } = process.cpuUsage();
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return {
      now: clock.now(),
      nextDue: clock.nextDue,
      available: available(runtime),
      requests,
      dnsReads,
      dnsReadsOf: { ...dnsReadsOf },
      throttled,
      kubeWrites,
      cpuSeconds: (user + system) / 1e6,
      memoryMB: Number(peak ?? 0) / 1024,
    };
  };

  process.on("message", (time: number) => {
    void (async () => {
      clock.moveTo(time);
      await settled();
      process.send?.(stepped());
    })();
  });
  process.on("disconnect", () => process.exit());
  void runtime.run(new AbortController().signal);
  await Promise.all(runtime.caches.all().map((cache) => cache.filled));
  await settled();
  process.send?.(stepped());
}
