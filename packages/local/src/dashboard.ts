import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { Arm } from "postern/azure/arm.ts";
import { KubeClient } from "postern/kube/client.ts";
import type { Log } from "postern/kube/log.ts";
import { serveDashboard } from "postern/server/dashboard.ts";
import { gather } from "postern/view/gather.ts";
import { breakages } from "./breakages.ts";
import { portInUse } from "./local-error.ts";
import type { LocalOperator } from "./operator.ts";
import type { OwedRoles } from "./owed-roles.ts";

/** A page that several people read is read once in this time. */
const freshMs = 500;
/** Reading the simulator costs nobody's budget: what changes in Azure alone is seen soon. */
const pulseMs = 3_000;
/** How long there is no operator after it was killed: long enough to see what that means. */
const downMs = 5_000;

/** The dashboard of local mode, which reads Azure as the user and can inject faults. */
export async function startDashboard(given: {
  operator: LocalOperator;
  /** The ARM client of the user; with a real Azure that of the operator is used. */
  userArm: Arm | undefined;
  subscriptions: readonly string[];
  port: number;
  version: string;
  simulator: Simulator | undefined;
  operatorId: string | undefined;
  managementGroup: string;
  owed: OwedRoles;
  log: Log;
}): Promise<{ url: string; close(): Promise<void> }> {
  const { operator, userArm, subscriptions, port, version, simulator, operatorId } = given;
  const { managementGroup, owed, log } = given;
  const armClient = () => userArm ?? operator.arm;
  // Its own: that of the operator ends with the operator.
  const client = new KubeClient(operator.client.connection, { userAgent: `postern/${version}` });
  const dashboard = await serveDashboard({
    listen: { host: "127.0.0.1", port },
    mode: "local",
    version,
    log,
    actions:
      simulator && userArm && operatorId
        ? breakages({
            simulator,
            userArm,
            operatorId,
            managementGroup,
            owed,
            // Nobody waits for the next one.
            killLeader: () =>
              new Promise((resolve) => {
                const onDown = () => {
                  dashboard.renew();
                  resolve();
                };
                operator.restart(downMs, onDown).then(
                  () => onDown(),
                  (error: unknown) => log.error({ err: error }, "the operator did not start again"),
                );
              }),
            reconcileAll: () => {
              const { runtime } = operator;
              runtime.request(
                runtime.caches.all().flatMap((cache) => cache.list().map((each) => keyOf(each))),
              );
            },
          })
        : [],
    source: {
      pulseMs,
      kube: () => client,
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
        const arm = armClient().for(caller);
        return gather({
          kube: client,
          arm,
          signal,
          subscriptions,
          zones,
          maxAgeMs: freshMs,
        });
      },
    },
  }).catch((cause: Error) => {
    if ((cause.cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE") throw cause;
    throw portInUse(`cannot listen on 127.0.0.1:${port}`, "the dashboard", cause.cause as Error);
  });
  return {
    url: dashboard.url,
    close: async () => {
      await dashboard.close();
      client.close();
      userArm?.close();
    },
  };
}
