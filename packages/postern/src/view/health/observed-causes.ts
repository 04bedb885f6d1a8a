import type { Node, NodeKind } from "@postern/core/dashboard/picture.ts";
import type { Cause, Health } from "@postern/core/health.ts";
import { shellWord } from "@postern/core/shell.ts";

/** In the order in which one depends on the other: the first that fails is the cause of the rest. */
const order: readonly NodeKind[] = [
  "backend",
  "load-balancer",
  "link-service",
  "endpoint",
  "zone",
  "record",
];

/** What people call a resource of a kind. */
export const kindNames: Record<NodeKind, string> = {
  cluster: "cluster",
  "load-balancer": "load balancer",
  backend: "backend pool",
  "link-service": "link service",
  endpoint: "private endpoint",
  zone: "private DNS zone",
  record: "DNS record",
  pool: "backend pool",
  appliance: "appliance",
};

/**
 * What Azure shows to be wrong with a cluster whose conditions say `reported`. `final` does not change without a person. Endpoints
 * of others at its link service concern their owners, not this cluster.
 */
export function observedCauses(
  nodes: readonly Node[],
  reported: Health,
): { final: Cause[]; others: Cause[] } {
  const own = nodes
    .filter(({ kind, facts }) => order.includes(kind) && facts.owner !== "another")
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const isOnly = own.filter(({ kind }) => kind === "endpoint").length === 1;
  const final = own.filter(isFinal).map((node) => causeOf(node, "Unavailable", isOnly));
  const isName = ({ kind }: Node) => kind === "zone" || kind === "record";
  const hops = own.filter((node) => !isName(node) && !isFinal(node));
  const failed = hops.filter((node) => isFailed(node, reported));
  // Names follow the endpoint: while a hop is missing they cannot be right.
  const names = failed.length + final.length > 0 ? [] : own.filter(isName);
  const records = names.filter(({ kind }) => kind === "record");
  const allWrong = records.length > 0 && records.every((node) => isFailed(node, reported));
  const others = [...failed, ...names.filter((node) => isFailed(node, reported))].map((node) => {
    const isOneOfSeveral = node.kind === "record" && !allWrong;
    const worst: Health = isOneOfSeveral ? "Degraded" : "Unavailable";
    const isProgress = reported === "Progressing" || isBeingWritten(node);
    return causeOf(node, isProgress ? "Progressing" : worst, isOnly);
  });
  return { final, others };
}

/** A rejected or ended connection never comes back: the endpoint has to be deleted. */
export function isFinal({ kind, state, reason = "" }: Node): boolean {
  return kind === "endpoint" && state === "broken" && /^(rejected|disconnected)$/i.test(reason);
}

function isFailed(node: Node, reported: Health): boolean {
  const { state } = node;
  if (state === "broken" || state === "absent") return true;
  // The conditions say that clients can connect, and Azure that they cannot, or soon cannot.
  if (reported === "Progressing") return false;
  return state === "pending" || (state === "working" && (isDeleting(node) || isBeingWritten(node)));
}

function isDeleting({ reason = "" }: Node): boolean {
  return /^deleting$/i.test(reason);
}

/** Azure has one word for an endpoint that is created and one that is updated, and nobody can connect to the former. */
function isBeingWritten({ kind, state, reason = "" }: Node): boolean {
  return kind === "endpoint" && state === "working" && !/^deleting$/i.test(reason);
}

function causeOf(node: Node, health: Health, isOnly: boolean): Cause {
  const { kind, label, state, reason, message } = node;
  const what = `${capitalised(kindNames[kind])} ${label}`;
  const cause = (text: string, remedy: string, as = reason): Cause => ({
    health,
    reason: as || "Failed",
    message: text,
    remedy,
    about: label,
  });
  if (isFinal(node))
    return cause(
      `The owner of the link service ${/^rejected$/i.test(reason ?? "") ? "rejected" : "ended"} the connection of private endpoint ${label}.`,
      "Ask the owner to accept it, then delete the private endpoint; Postern recreates it.",
    );
  if (state === "pending")
    return cause(
      `The connection of private endpoint ${label} waits for approval by the owner of the link service.`,
      `Approve it: postern approve ${shellWord(selectorOf(node, isOnly))}`,
      "ApprovalPending",
    );
  if (isBeingWritten(node))
    return cause(
      `${what} is being created or updated in Azure.`,
      "Wait until the operation ends; the conditions follow it.",
    );
  if (state === "working")
    return cause(
      `${what} is being deleted in Azure.`,
      "Postern recreates it as soon as it is deleted.",
    );
  if (kind === "backend")
    return cause(
      `${what} has no machines, so nothing answers behind the load balancer.`,
      "Check the nodes of the management cluster and the events of the Service.",
      "NoBackends",
    );
  if (state === "absent")
    return cause(
      `${what} does not exist in Azure.`,
      "Postern creates what it owns again; postern plan shows what it does next.",
      "NotFound",
    );
  if (kind === "zone" || kind === "record")
    return cause(`${what}: ${message ?? reason}.`, "Postern repairs the records that it owns.");
  return cause(
    `${what} failed in Azure: provisioning state ${reason}.`,
    "Postern writes what it owns again. The owner of anything else has to do so.",
  );
}

/** What `postern approve` takes for it: its cluster, or its id where that has several or another cluster requests it. */
function selectorOf({ cluster, azureId, label, facts }: Node, isOnly: boolean): string {
  const isHosted = facts.connection === undefined;
  return (isOnly && isHosted ? cluster : azureId) ?? label;
}

/** A text as it begins a sentence. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
