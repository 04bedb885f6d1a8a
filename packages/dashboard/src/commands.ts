import { shellWord } from "@postern/core/shell.ts";
import type { ClusterPage, Node } from "./types.ts";

const shows: Partial<Record<Node["kind"], string>> = {
  "load-balancer": "az network lb show",
  backend: "az network lb address-pool show",
  "link-service": "az network private-link-service show",
  endpoint: "az network private-endpoint show",
  zone: "az network private-dns zone show",
};

/** The command that shows a resource of Azure; the type of a record is in its id. */
export function azFor({ kind, azureId }: Node): string | undefined {
  if (!azureId) return undefined;
  const type = azureId.split("/").at(-2)?.toLowerCase() ?? "";
  const show =
    kind === "record" ? `az network private-dns record-set ${shellWord(type)} show` : shows[kind];
  return show && `${show} --ids ${shellWord(azureId)}`;
}

/** What a page knows of the objects of a cluster. */
interface Asked {
  picture: Pick<ClusterPage["picture"], "nodes">;
  conditions: readonly Pick<ClusterPage["conditions"][number], "object">[];
}

/** How to see the objects that ask for a resource: its own, and that of a load balancer; without one those of the cluster. */
export function kubectlFor(node: Node, { picture, conditions }: Asked): string[] {
  let at: Node | undefined = node;
  while (at && !at.object) at = picture.nodes.find(({ id }) => id === at?.under);
  const objects = at?.object ? [at.object] : conditions.map(({ object }) => object);
  return objects.flatMap((object) => {
    const [kind = "", key = ""] = object.split(" ");
    const [namespace = "", name] = key.split("/");
    if (name === undefined) return [];
    const within = `-n ${shellWord(namespace)}`;
    const service = node.kind === "load-balancer" && node.facts.service;
    return [
      ...(service ? [`kubectl describe service ${shellWord(service)} ${within}`] : []),
      `kubectl describe ${shellWord(kind.toLowerCase())} ${shellWord(name)} ${within}`,
    ];
  });
}
