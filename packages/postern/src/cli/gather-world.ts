import { managementKey } from "../operator/cluster-api.ts";
import { type GatherOptions, gather } from "../view/gather.ts";
import type { World } from "../view/world.ts";
import { operatorPresence } from "./operator-presence.ts";
import type { Session } from "./session.ts";

/** Both sides as the person who asks can see them, and whether an operator runs. */
export async function gatherWorld(
  session: Session,
  {
    subscriptions = [],
    ...options
  }: Pick<GatherOptions, "zones" | "maxAgeMs" | "subscriptions"> = {},
): Promise<World> {
  const { kube, reading: arm, signal, env } = session;
  const operator = await operatorPresence(session);
  const own = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  return gather({
    ...options,
    kube,
    arm,
    signal,
    operator,
    management: managementOf(session),
    subscriptions: [...own, ...subscriptions],
  });
}

/** The AzureCluster of the management cluster, as far as local mode tells. */
export function managementOf({ local }: Pick<Session, "local">): string | undefined {
  return managementKey(local?.operator);
}
