import { type GatherOptions, gather } from "../view/gather.ts";
import type { World } from "../view/world.ts";
import type { Session } from "./session.ts";

/** Both sides as the person who asks can see them. */
export function look(
  { kube, reading: arm, signal, env }: Session,
  options: Pick<GatherOptions, "zones" | "maxAgeMs"> = {},
): Promise<World> {
  const subscriptions = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  return gather({ ...options, kube, arm, signal, subscriptions });
}
