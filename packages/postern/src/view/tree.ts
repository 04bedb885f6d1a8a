import type { Node, Picture, State } from "@postern/core/dashboard/picture.ts";

/** A node with all that hangs under it. */
export interface Branch {
  kind: Node["kind"];
  label: string;
  state: State;
  reason?: string;
  message?: string;
  /** Of a cluster: its health, and what to do about its worst cause. */
  health?: Node["health"];
  since?: string;
  remedy?: string;
  facts: Record<string, string>;
  azureId?: string;
  under: Branch[];
}

/** The picture as trees: clusters with their links, and gateway load balancers with their appliances. */
export function treeOf({ nodes }: Picture): Branch[] {
  const children = new Map<string | undefined, Node[]>();
  for (const node of nodes) {
    const siblings = children.get(node.under) ?? [];
    siblings.push(node);
    children.set(node.under, siblings);
  }
  const branch = (node: Node): Branch => branchOf(node, (children.get(node.id) ?? []).map(branch));
  return (children.get(undefined) ?? []).map(branch);
}

function branchOf(node: Node, under: Branch[]): Branch {
  const { kind, label, state, health, since, reason, message, remedy, facts, azureId } = node;
  return {
    kind,
    label,
    state,
    ...(health && { health }),
    ...(since && { since }),
    ...(remedy && { remedy }),
    ...(reason && { reason }),
    ...(message && { message }),
    facts,
    ...(azureId && { azureId }),
    under,
  };
}
