import type { Drawn, Line, Node, Picture } from "@postern/core/dashboard/picture.ts";
import { indexOf } from "./index-of.ts";
import { applianceParts } from "./parts/appliances.ts";
import { clusterApiParts } from "./parts/cluster-api.ts";
import { hostedParts } from "./parts/hosted.ts";
import { ownerOf } from "./parts/owner.ts";
import type { World } from "./world.ts";

/** The picture of a world; of one cluster where it is named. */
export function pictureOf(world: World, only?: string): Picture {
  const index = indexOf(world);
  const parts: Drawn[] = [hostedParts(index, only), clusterApiParts(index, only)];
  if (only === undefined) parts.push(applianceParts(index));
  // Only the page of one cluster has room for it.
  const owned = (node: Node): Node => {
    const owner = only === undefined ? undefined : ownerOf(index, node);
    return owner === undefined ? node : { ...node, owner };
  };
  const nodes = once(
    parts.flatMap((part) => part.nodes),
    ({ id }: Node) => id,
  );
  const drawnIn = new Set(nodes.flatMap(({ network }) => network ?? []));
  return {
    observedAt: index.now.toISOString(),
    operator: world.operator ?? { state: "unknown" },
    clusters: parts.flatMap((part) => part.clusters),
    networks: index.networks.filter(({ id }) => drawnIn.has(id)),
    nodes: nodes.map(owned),
    lines: once(
      parts.flatMap((part) => part.lines),
      ({ from, to }: Line) => `${from} ${to}`,
    ),
    unread: world.unread,
  };
}

/** Two link services may stand before one load balancer: it is drawn once. */
function once<T>(all: readonly T[], keyOf: (each: T) => string): T[] {
  return [...new Map(all.map((each) => [keyOf(each), each])).values()];
}
