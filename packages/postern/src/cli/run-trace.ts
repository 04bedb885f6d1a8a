import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { pictureOf } from "../view/picture.ts";
import { covers } from "../view/records.ts";
import { aliasesOf, networksToTraceFrom } from "../view/trace.ts";
import type { World } from "../view/world.ts";
import { findClusterKey } from "./find-cluster-key.ts";
import { gatherWorld } from "./gather-world.ts";
import type { Session } from "./session.ts";

/** What was read, and the hosts to trace in it. */
interface Traceable {
  world: World;
  hosts: readonly string[];
}

/** How old a list may be when a hostname turns out to be an alias, and more zones have to be read. */
const requeueMs = 60_000;

/** Kubernetes and Azure, with the contents of those zones that could have a host or its aliases. */
export async function gatherFor(session: Session, host: string): Promise<Traceable> {
  const open = (hosts: readonly string[], maxAgeMs: number) =>
    gatherWorld(session, {
      maxAgeMs,
      zones: ({ name = "" }) => hosts.some((each) => covers(name.toLowerCase(), each)),
    });
  let hosts = [host];
  let world = await open(hosts, 0);
  for (;;) {
    const all = aliasesOf(world, host);
    if (all.length === hosts.length) return { world, hosts: [host] };
    hosts = all;
    world = await open(hosts, requeueMs);
  }
}

/** Kubernetes and Azure, with the hostnames of a cluster. A wildcard is no name that a client asks for. */
export async function gatherCluster(session: Session, name: string): Promise<Traceable> {
  const world = await gatherWorld(session);
  const key = findClusterKey(name, world.kube, world.unread);
  const found = pictureOf(world, key).clusters.find((each) => each.key === key);
  return { world, hosts: (found?.hosts ?? []).filter((host) => !host.startsWith("*")) };
}

/** Reject a network that does not exist, and name those that do. One that may only be unreadable is accepted. */
export function checkNetwork(world: World, from: string | undefined): void {
  if (from === undefined || networksToTraceFrom(world, from).length > 0) return;
  if (world.unread.length > 0) return;
  const known = networksToTraceFrom(world);
  const near = nearest(from, known);
  const some = `${known.slice(0, 10).join(", ")}${known.length > 10 ? `, and ${known.length - 10} more` : ""}`;
  throw new UsageError(
    `network '${from}' does not exist: ${near ? `did you mean '${near}'? ` : ""}${some ? `the networks are ${some}` : "there are no networks"}`,
  );
}
