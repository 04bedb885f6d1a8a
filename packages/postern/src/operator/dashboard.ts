import { realClock } from "@postern/core/clock.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Journal } from "../kube/journal.ts";
import type { Log } from "../kube/log.ts";
import type { Runtime } from "../kube/runtime.ts";
import { type Dashboard, serveDashboard } from "../server/dashboard.ts";
import { gather } from "../view/gather.ts";
import { Refusals } from "../view/refusals.ts";
import type { OperatorAzure } from "./azure.ts";
import type { Protection } from "./pages.ts";

/** Pages may look at lists of this age: the dashboard must not cost the controllers their budget. */
const freshMs = 30_000;

/** The dashboard of an operator: it looks by the operator's own identity, last of all who ask, and changes nothing. */
export async function startDashboard(given: {
  listen: { host: string; port: number };
  protection: Protection | undefined;
  version: string;
  client: KubeClient;
  azure: OperatorAzure;
  journal: Journal;
  runtime: () => Runtime | undefined;
  subscriptions: readonly string[];
  management: string | undefined;
  log: Log;
  /** The client id by which this process asks, as its environment gives it. */
  ownClient: string | undefined;
}): Promise<Dashboard> {
  const {
    listen,
    protection,
    version,
    client,
    azure,
    journal,
    runtime,
    subscriptions,
    management,
    log,
    ownClient,
  } = given;
  const refusals = new Refusals(realClock);
  return serveDashboard({
    listen,
    protection,
    version,
    log,
    mode: "operator",
    portal: azure.cloud.portal,
    source: {
      kube: () => client,
      runtime,
      identityNames: new Map(ownClient ? [[ownClient.toLowerCase(), "operator"]] : []),
      journal: () => journal,
      budgets: () => azure.arm.budgets.states(),
      gather: (zones) => {
        const signal = AbortSignal.timeout(60_000);
        const caller = {
          priority: "drift",
          signal,
          mayWrite: () => false,
          id: "dashboard",
        } as const;
        const arm = azure.arm.for(caller);
        return gather({
          kube: client,
          arm,
          signal,
          subscriptions,
          management,
          zones,
          refusals,
          maxAgeMs: freshMs,
        });
      },
    },
  });
}
