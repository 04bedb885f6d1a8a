import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { Arm } from "postern/azure/arm.ts";
import type { Log } from "postern/kube/log.ts";
import { serveDashboard } from "postern/server/dashboard.ts";
import { gather } from "postern/view/gather.ts";
import { breakages } from "./breakages.ts";
import { portInUse } from "./local-error.ts";
import type { LocalOperator } from "./operator.ts";
import type { OwedRoles } from "./owed-roles.ts";

/** A page that several look at is read once in this time. */
const freshMs = 500;

/** The dashboard of local mode, which looks by the eyes of the person at the keyboard and may break things. */
export async function startDashboard(given: {
  operator: LocalOperator;
  /** The road of the person; that of the operator with a real Azure. */
  person: Arm | undefined;
  subscriptions: readonly string[];
  port: number;
  version: string;
  simulator: Simulator | undefined;
  operatorId: string | undefined;
  managementGroup: string;
  owed: OwedRoles;
  log: Log;
}): Promise<{ url: string; close(): Promise<void> }> {
  const { operator, person, subscriptions, port, version, simulator, operatorId } = given;
  const { managementGroup, owed, log } = given;
  const road = () => person ?? operator.arm;
  const dashboard = await serveDashboard({
    listen: { host: "127.0.0.1", port },
    mode: "local",
    version,
    log,
    actions:
      simulator && person && operatorId
        ? breakages({
            simulator,
            person,
            operatorId,
            managementGroup,
            owed,
            killLeader: async () => {
              await operator.restart();
              dashboard.renew();
            },
          })
        : [],
    source: {
      kube: () => operator.client,
      runtime: () => operator.runtime,
      journal: () => operator.journal,
      budgets: () => operator.budgets(),
      look: (zones) => {
        const signal = AbortSignal.timeout(30_000);
        const caller = {
          priority: "drift",
          signal,
          mayWrite: () => false,
          id: "dashboard",
        } as const;
        const arm = road().for(caller);
        return gather({
          kube: operator.client,
          arm,
          signal,
          subscriptions,
          zones,
          maxAgeMs: freshMs,
        });
      },
    },
  }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EADDRINUSE") throw cause;
    throw portInUse(`cannot listen on 127.0.0.1:${port}`, "the dashboard", cause);
  });
  return {
    url: dashboard.url,
    close: async () => {
      await dashboard.close();
      person?.close();
    },
  };
}
