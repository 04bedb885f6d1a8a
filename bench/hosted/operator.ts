// The operator in a process of its own, so that its CPU and memory are its own, on a clock that bench/hosted.ts moves.
// Each message is a time to move to; each answer says what time it is, when something is due next, and what was asked of Azure.
import { readFileSync } from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { Arm } from "../../src/azure/arm.ts";
import { customCloud } from "../../src/azure/clouds.ts";
import { azureSides } from "../../src/hosted/azure-sides.ts";
import { endpointFeature } from "../../src/hosted/endpoint/controller.ts";
import { linkFeature } from "../../src/hosted/link/controller.ts";
import { observeFeature } from "../../src/hosted/observe/controller.ts";
import { fromKubeconfig } from "../../src/kube/credentials.ts";
import { makeLog } from "../../src/kube/log.ts";
import { Runtime } from "../../src/kube/runtime.ts";
import { isTrue } from "../../src/model/conditions.ts";
import { azurePrivateLinkService } from "../../src/model/kinds/azure-private-link-service.ts";
import { parseResourceId } from "../../src/model/resource-id.ts";
import { ManualClock } from "../../src/simulator/manual-clock.ts";
import { CountingClient } from "../../test/system/hosted/counting-client.ts";

/** What the bench gives this process. */
export interface Given {
  kubeconfig: string;
  resourceManager: string;
  token: string;
  managementGroup: string;
  now: number;
}

/** What this process answers after each step. */
export interface Stepped {
  now: number;
  nextDue: number;
  available: number;
  /** Requests to Azure by verb, and how many were refused as too many. */
  requests: Record<string, number>;
  throttled: number;
  kubeWrites: number;
  cpuSeconds: number;
  memoryMB: number;
}

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
const clock = new ManualClock(given.now);
const requests: Record<string, number> = {};
let open = 0;
let throttled = 0;
let kubeWrites = 0;

const arm = new Arm({
  cloud: customCloud({ resourceManager: given.resourceManager }),
  credential: {
    identity: "operator",
    // Asked for right before a request is sent: from here on it is under way.
    token: async () => {
      open++;
      return given.token;
    },
  },
  clock,
  onRequest: (request) => {
    open--;
    const name =
      request.verb === "GET" &&
      /operations|operationResults|operationStatuses/i.test(request.resource)
        ? "poll"
        : request.verb;
    requests[name] = (requests[name] ?? 0) + 1;
    if (request.throttled) throttled++;
  },
});
const sides = azureSides({
  arm,
  managementGroup: parseResourceId(given.managementGroup),
  credentialOf: () => credentialOfAll,
});
const credentialOfAll = {
  identity: "operator",
  token: async () => {
    open++;
    return given.token;
  },
};
const client = new CountingClient(await fromKubeconfig(given.kubeconfig), {
  userAgent: "postern-bench",
  onRequest: ({ method }) => {
    if (method !== "GET") kubeWrites++;
  },
});
const runtime = new Runtime({
  client,
  clock,
  log: makeLog({ format: "json", level: "error" }),
  features: [
    observeFeature(),
    linkFeature({ sides, natSubnets: "shared", natPrefixLength: 24, installation: "0benched" }),
    endpointFeature({ sides }),
  ],
});
client.caches = runtime.caches;
const links = runtime.caches.of(azurePrivateLinkService);

/** Until nothing is under way but what waits for the clock. Real time is waited without using the CPU that is measured. */
async function settled(): Promise<void> {
  for (let calm = 0; calm < 2; ) {
    for (let i = 0; i < 10; i++) await turn();
    if (open === 0 && client.calm) calm++;
    else {
      calm = 0;
      await sleep(1);
    }
  }
}

function stepped(): Stepped {
  const available = links
    .list()
    .filter((each) => isTrue(each.status?.conditions, "AzurePrivateLinkServiceAvailable")).length;
  const { user, system } = process.cpuUsage();
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return {
    now: clock.now(),
    nextDue: clock.nextDue,
    available,
    requests,
    throttled,
    kubeWrites,
    cpuSeconds: (user + system) / 1e6,
    memoryMB: Number(peak ?? 0) / 1024,
  };
}

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
