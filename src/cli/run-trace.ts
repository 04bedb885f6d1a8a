import { gather } from "../view/gather.ts";
import { covers } from "../view/records.ts";
import { aliasesOf } from "../view/trace.ts";
import type { World } from "../view/world.ts";
import type { Session } from "./session.ts";

/** How old a list may be when a name turns out to be another name, and further zones are opened. */
const againMs = 60_000;

/** Both sides, with the zones open that a host and its other names could be in. */
export async function gatherFor(
  { kube, reading: arm, signal, env }: Session,
  host: string,
): Promise<World> {
  const subscriptions = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  const look = (hosts: readonly string[], maxAgeMs: number) =>
    gather({
      ...{ kube, arm, signal, subscriptions, maxAgeMs },
      zones: ({ name = "" }) => hosts.some((each) => covers(name.toLowerCase(), each)),
    });
  let hosts = [host];
  let world = await look(hosts, 0);
  for (;;) {
    const all = aliasesOf(world, host);
    if (all.length === hosts.length) return world;
    hosts = all;
    world = await look(hosts, againMs);
  }
}
