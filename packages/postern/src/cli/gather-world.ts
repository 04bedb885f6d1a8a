import { type GatherOptions, gather } from "../view/gather.ts";
import type { World } from "../view/world.ts";
import type { Session } from "./session.ts";

/** Both sides as the person who asks can see them. */
export function gatherWorld(
  { kube, reading: arm, signal, env }: Session,
  {
    subscriptions = [],
    ...options
  }: Pick<GatherOptions, "zones" | "maxAgeMs" | "subscriptions"> = {},
): Promise<World> {
  const own = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  return gather({ ...options, kube, arm, signal, subscriptions: [...own, ...subscriptions] });
}
