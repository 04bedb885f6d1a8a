import type { KubeObject, OwnerReference } from "@postern/core/kind.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { PrivateAccess } from "@postern/core/kinds/private-access.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import { externalDnsAnnotation, publishedHostnames } from "../../hostnames.ts";
import { oauthServer, privateRouter } from "../../names.ts";
import type { Problem } from "../cluster/check.ts";
import { hostnameTaken } from "../cluster/forbidden.ts";
import { isAvailable } from "../cluster/link-conditions.ts";
import type { Publishing } from "../cluster/publishing.ts";
import { patchTo } from "../desired/difference.ts";
import { belongsTo, isMade } from "../desired/labels.ts";
import { type Side, sides, type Wanted, wantedObjects } from "../desired/objects.ts";
import type { Observed } from "../observed.ts";
import { topologyReasons } from "../reasons.ts";
import type { TopologyStep } from "../steps.ts";
import { change, isBeingDeleted, make, remove } from "../steps.ts";

/** What is to be done about the Services and Routes, and what is in the way of the rest. */
export interface NetworkPlan {
  steps: TopologyStep[];
  /** Why not all of it is as wanted yet, although there may be nothing to do. */
  waiting: Problem | undefined;
}

/**
 * Make what is wanted, put right what differs, and take away what is not wanted any more, last. A way in is closed
 * only when the other one is open: at no moment is the API server out of the workers' reach.
 *
 *     to take away     is taken away when
 *     public parts     every part of the private side is there and its links are Available; also, the API server
 *                      is behind the link
 *     private parts    every part of the public side is there, with an address, and admitted where a router says so
 */
export function networkPlan(
  seen: Observed,
  controlPlane: HostedControlPlane,
  access: PrivateAccess,
  publishing: Publishing,
): NetworkPlan {
  const wanted = wantedObjects(controlPlane, access, publishing).filter(
    ({ kind }) => kind !== "Route" || seen.routes !== undefined,
  );
  const steps: TopologyStep[] = [];
  let waiting: Problem | undefined;
  for (const each of wanted) {
    const taken = publishedHostnames(each.object).find((host) => seen.taken?.includes(host));
    if (taken !== undefined) waiting ??= hostnameTaken(taken);
    // Whoever publishes a hostname by now keeps it, so what exists of it is left as it is.
    if (taken !== undefined && each.kind === "Route") continue;
    const one = taken === undefined ? each : withoutHostname(each);
    const held = heldOf(seen, one.kind, one.object.metadata.name);
    if (held === undefined) steps.push(make(one.kind, one.object, "it is part of the topology"));
    else if (isBeingDeleted(held)) waiting ??= goingAway(one.kind, held);
    else if (!isMade(held) && !belongsTo(held, controlPlane)) waiting = another(one.kind, held);
    else {
      const patch = changeTo(held, one, controlPlane);
      if (patch)
        steps.push(change(one.kind, held, patch, "it differs from what the topology wants"));
    }
  }
  const settled = steps.length === 0 && waiting === undefined;
  const surplus = surplusOf(seen, wanted);
  for (const side of ["public", "private"] as const) {
    const going = surplus.filter((one) => one.side === side);
    if (going.length === 0) continue;
    const other = side === "public" ? "private" : "public";
    const held = settled
      ? heldUpBy(other, seen, wanted, access, publishing)
      : applying("it is new");
    if (held === undefined)
      steps.push(...going.map(({ kind, object }) => remove(kind, object, "not wanted any more")));
    else waiting ??= held;
  }
  if (seen.routes === undefined) waiting ??= noRoutes;
  return { steps, waiting };
}

function withoutHostname(one: Wanted): Wanted {
  const { [externalDnsAnnotation]: _, ...annotations } = one.object.metadata.annotations ?? {};
  return { ...one, object: { ...one.object, metadata: { ...one.object.metadata, annotations } } };
}

/** The links that a cluster should have. */
export function linksOf(access: PrivateAccess, { oauth }: Publishing): string[] {
  if (access.type !== "PrivateLink") return [];
  return oauth.type === "LoadBalancer" ? [privateRouter, oauthServer] : [privateRouter];
}

/** Why a side cannot be relied on yet; undefined where it can, or where the topology does not have it. */
function heldUpBy(
  side: "public" | "private",
  seen: Observed,
  wanted: readonly Wanted[],
  access: PrivateAccess,
  publishing: Publishing,
): Problem | undefined {
  const isPrivate = side === "private";
  if (isPrivate ? !access.reachablePrivately : !access.reachablePublicly) return undefined;
  const reason = isPrivate ? topologyReasons.waitingForPrivate : topologyReasons.waitingForPublic;
  const stay = `the ${isPrivate ? "public" : "private"} Services and Routes stay`;
  if (isPrivate && publishing.apiServer.type !== "Route")
    return {
      reason,
      message: `${stay} · the API server is not behind the private link · create the cluster with APIServer published as Route`,
    };
  const closed = wanted.find(
    ({ kind, object, ...one }) =>
      one.side === side && !isOpen(kind, heldOf(seen, kind, object.metadata.name)),
  );
  if (closed)
    return {
      reason,
      message: `${stay} · ${closed.kind} ${closed.object.metadata.name} cannot be reached yet · see its events`,
    };
  const missing = (isPrivate ? linksOf(access, publishing) : []).filter(
    (name) => !seen.links.some((link) => link.metadata.name === name && isAvailable(link)),
  );
  if (missing.length === 0) return undefined;
  return {
    reason,
    message: `${stay} · the private link of ${missing.join(" and ")} is not available yet · see the conditions of that AzurePrivateLinkService`,
  };
}

/** Whether requests get through. Where no router speaks of a Route, it is enough that it is there. */
function isOpen(kind: Wanted["kind"], held: Service | Route | undefined): boolean {
  if (held === undefined || isBeingDeleted(held)) return false;
  if (kind === "Route") {
    const routers = (held as Route).status?.ingress ?? [];
    const admits = ({ type, status }: { type: string; status: string }) =>
      type === "Admitted" && status === "True";
    return routers.length === 0 || routers.some(({ conditions }) => conditions?.some(admits));
  }
  const { spec, status } = held as Service;
  return spec?.type !== "LoadBalancer" || (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** What we made and the topology does not have. */
function surplusOf(seen: Observed, wanted: readonly Wanted[]) {
  const found: { kind: Wanted["kind"]; side: Side; object: KubeObject }[] = [];
  for (const [kind, names] of Object.entries(sides) as [Wanted["kind"], Record<string, Side>][])
    for (const [name, side] of Object.entries(names)) {
      const object = heldOf(seen, kind, name);
      const isWanted = wanted.some((one) => one.kind === kind && one.object.metadata.name === name);
      if (object && !isWanted && isMade(object) && !isBeingDeleted(object))
        found.push({ kind, side, object });
    }
  return found;
}

/** The merge patch that puts a Service or Route right. Other owners than control planes are left in its list. */
function changeTo(held: KubeObject, { object }: Wanted, controlPlane: HostedControlPlane) {
  const { labels, annotations, ownerReferences = [] } = object.metadata;
  const others = (held.metadata.ownerReferences ?? []).filter(
    ({ kind }: OwnerReference) => kind !== "HostedControlPlane",
  );
  const wanted = {
    metadata: {
      labels,
      annotations,
      ...(!belongsTo(held, controlPlane) && { ownerReferences: [...others, ...ownerReferences] }),
    },
    spec: object.spec,
  };
  return patchTo(held, wanted) as object | undefined;
}

function heldOf(seen: Observed, kind: Wanted["kind"], name: string): Service | Route | undefined {
  const all: readonly (Service | Route)[] =
    kind === "Service" ? seen.services : (seen.routes ?? []);
  return all.find(({ metadata }) => metadata.name === name);
}

function applying(message: string): Problem {
  return { reason: topologyReasons.applying, message };
}

/** Somebody deleted it. A load balancer's Service cannot go while a link service stands before it. */
function goingAway(kind: string, { metadata }: KubeObject): Problem {
  const held = metadata.finalizers ?? [];
  const why = held.length > 0 ? `is held by ${held.join(", ")}` : "is not gone yet";
  return applying(
    `${kind} ${metadata.name} is being deleted and ${why} · it is made anew when it is gone · if it stays, delete the AzurePrivateLinkService of this name, which is made anew too`,
  );
}

function another(kind: string, { metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.another,
    message: `${kind} ${metadata.name} in ${metadata.namespace} is left alone · this control plane did not make it · rename or delete it`,
  };
}

const noRoutes: Problem = {
  reason: topologyReasons.noRoutes,
  message:
    "the Routes of this cluster are left out · the API server does not know the kind Route · install manifests/crds/route.openshift.io_routes.yaml, or publish by LoadBalancer",
};
