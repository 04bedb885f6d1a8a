import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { realClock, wait } from "@postern/core/clock.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { Arm } from "postern/azure/arm.ts";
import { KubeClient } from "postern/kube/client.ts";
import type { Log } from "postern/kube/log.ts";
import { type Dashboard, serveDashboard } from "postern/server/dashboard.ts";
import { watchPresence } from "postern/server/presence.ts";
import { gather } from "postern/view/gather.ts";
import { breakages } from "./breakages.ts";
import { portInUse } from "./local-error.ts";
import type { LocalOperator } from "./operator.ts";
import type { OwedRoles } from "./owed-roles.ts";

/** A page that several people read is read once in this time. */
const freshMs = 500;
/** Reading the simulator costs nobody's budget: what changes in Azure alone is seen soon. */
const pulseMs = 3_000;
/** How long there is no operator after a page was told of it: long enough to see what that means. */
const downMs = 5_000;
/** How long a page may take to ask. */
const unaskedMs = 30_000;

/** The dashboard of local mode, which reads Azure as the user and can inject faults. */
export async function startDashboard(given: {
  operator: LocalOperator;
  /** The ARM client of the user; with a real Azure that of the operator is used. */
  userArm: Arm | undefined;
  subscriptions: readonly string[];
  management: string | undefined;
  port: number;
  version: string;
  simulator: Simulator | undefined;
  operatorId: string | undefined;
  managementGroup: string;
  owed: OwedRoles;
  log: Log;
}): Promise<Pick<Dashboard, "url" | "overview" | "close">> {
  const { operator, userArm, subscriptions, management, port, version, simulator, operatorId } =
    given;
  const { managementGroup, owed, log } = given;
  const armClient = () => userArm ?? operator.arm;
  // Its own: that of the operator ends with the operator.
  const client = new KubeClient(operator.client.connection, { userAgent: `postern/${version}` });
  const presence = watchPresence(() => operator.runtime);
  // Called when a page is told that no operator runs.
  let toldLost: () => void = () => undefined;
  const dashboard = await serveDashboard({
    listen: { host: "127.0.0.1", port },
    mode: "local",
    // The simulator has none.
    portal: userArm ? undefined : operator.arm.cloud.portal,
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
                const renewed = () => {
                  dashboard.renew();
                  resolve();
                };
                const untilNoticed = async (signal: AbortSignal) => {
                  const told = new AbortController();
                  toldLost = () => told.abort();
                  renewed();
                  // A busy machine may take longer to draw the page than the operator would be away.
                  const either = AbortSignal.any([signal, told.signal]);
                  await wait(realClock, unaskedMs, either).catch(() => undefined);
                  // As long as a person needs to see it, however fast the clock of the operator runs.
                  await wait(realClock, downMs, signal);
                };
                operator.restart(untilNoticed).then(
                  () => renewed(),
                  (error: unknown) => log.error({ err: error }, "the operator did not restart"),
                );
              }),
            reconcileAll: () => {
              const { runtime, arm } = operator;
              // What was read a moment ago would do, and hide what has changed.
              arm.forgetReads();
              runtime.request(
                runtime.caches.all().flatMap((cache) => cache.list().map((each) => keyOf(each))),
              );
            },
          })
        : [],
    source: {
      pulseMs,
      // As the scenario calls them.
      identityNames: new Map(
        simulator?.directory
          .save()
          .applications.map(({ appId, displayName }) => [appId.toLowerCase(), displayName]),
      ),
      kube: () => client,
      runtime: () => operator.runtime,
      presence: () => {
        const now = presence();
        if (now.state === "lost") toldLost();
        return now;
      },
      journal: () => operator.journal,
      budgets: () => operator.budgets(),
      gather: (zones) => {
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
          management,
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
    overview: dashboard.overview,
    close: async () => {
      await dashboard.close();
      client.close();
      userArm?.close();
    },
  };
}
