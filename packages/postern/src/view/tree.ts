import type { Node, Picture, State } from "@postern/core/dashboard/picture.ts";

/** A node with all that hangs under it. */
export interface Branch {
  kind: Node["kind"];
  label: string;
  state: State;
  reason?: string;
  message?: string;
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
  const branch = ({ id, kind, label, state, reason, message, facts, azureId }: Node): Branch => ({
    kind,
    label,
    state,
    ...(reason && { reason }),
    ...(message && { message }),
    facts,
    ...(azureId && { azureId }),
    under: (children.get(id) ?? []).map(branch),
  });
  return (children.get(undefined) ?? []).map(branch);
}
