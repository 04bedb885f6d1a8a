import { realClock } from "@postern/core/clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import type { Journal } from "../kube/journal.ts";
import type { Log } from "../kube/log.ts";
import type { Runtime } from "../kube/runtime.ts";
import { type Dashboard, serveDashboard } from "../server/dashboard.ts";
import { gather } from "../view/gather.ts";
import { Refusals } from "../view/refusals.ts";
import type { OperatorAzure } from "./azure.ts";

/** Pages may look at lists of this age: the dashboard must not cost the controllers their budget. */
const freshMs = 30_000;

/** The dashboard of an operator: it looks by the operator's own identity, last of all who ask, and changes nothing. */
export async function startDashboard(given: {
  listen: { host: string; port: number };
  version: string;
  client: KubeClient;
  azure: OperatorAzure;
  journal: Journal;
  runtime: () => Runtime | undefined;
  subscriptions: readonly string[];
  log: Log;
}): Promise<Dashboard> {
  const { listen, version, client, azure, journal, runtime, subscriptions, log } = given;
  // It asks nobody who they are: the way to it is kubectl port-forward, which does.
  if (!/^(localhost|127(\.\d+){3}|::1)$/.test(listen.host))
    throw new KubeError(
      "NotListening",
      `the dashboard is not served on ${listen.host} · whoever reaches that address could read it · give --dashboard 127.0.0.1:${listen.port} and use kubectl port-forward`,
    );
  const refusals = new Refusals(realClock);
  try {
    return await serveDashboard({
      listen,
      version,
      log,
      mode: "operator",
      source: {
        kube: () => client,
        runtime,
        journal: () => journal,
        budgets: () => azure.arm.budgets.states(),
        look: (zones) => {
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
            zones,
            refusals,
            maxAgeMs: freshMs,
          });
        },
      },
    });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw new KubeError(
      "NotListening",
      `listening on ${listen.host}:${listen.port} for the dashboard failed · ${code} · give --dashboard another place`,
      { cause },
    );
  }
}
