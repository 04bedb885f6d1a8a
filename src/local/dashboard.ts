import type { Arm } from "../azure/arm.ts";
import { type Action, serveDashboard } from "../server/dashboard.ts";
import { gather } from "../view/gather.ts";
import type { LocalOperator } from "./operator.ts";

/** A page that several look at is read once in this time. */
const freshMs = 500;

/** The dashboard of local mode, which looks by the eyes of the person at the keyboard and may break things. */
export function startDashboard(given: {
  operator: () => LocalOperator;
  person: Arm;
  subscriptions: readonly string[];
  port: number;
  version: string;
  actions: readonly Action[];
}): Promise<{ url: string; close(): Promise<void> }> {
  const { operator, person, subscriptions, port, version, actions } = given;
  return serveDashboard({
    listen: { host: "127.0.0.1", port },
    mode: "local",
    version,
    actions,
    source: {
      kube: () => operator().client,
      runtime: () => operator().runtime,
      journal: () => operator().journal,
      budgets: () => operator().budgets(),
      look: (zones) => {
        const signal = AbortSignal.timeout(30_000);
        const arm = person.for({ priority: "drift", signal, mayWrite: () => false, id: "dashboard" });
        return gather({ kube: operator().client, arm, signal, subscriptions, zones, maxAgeMs: freshMs });
      },
    },
  });
}
