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
import { type Desired, desiredObjects, type Exposure, exposures } from "../desired/objects.ts";
import type { Observed } from "../observed.ts";
import { topologyReasons } from "../reasons.ts";
import type { TopologyStep } from "../steps.ts";
import { create, deleteObject, isBeingDeleted, update } from "../steps.ts";

/** What is to be done about the Services and Routes, and what is in the way of the rest. */
export interface NetworkPlan {
  steps: TopologyStep[];
  /** Why not all of it is as desired yet, although there may be no steps. */
  waiting: Problem | undefined;
}

/**
 * Create what is desired, update what differs, and delete what is not desired any more, last. Public or private access is removed
 * only when the other one works: at no moment is the API server out of the workers' reach.
 *
 *     to delete        is deleted when
 *     public parts     every private part exists and its links are Available; also, the API server
 *                      is behind the link
 *     private parts    every public part exists, with an address, and is admitted where a router says so
 */
export function networkPlan(
  observed: Observed,
  controlPlane: HostedControlPlane,
  access: PrivateAccess,
  publishing: Publishing,
): NetworkPlan {
  const desired = desiredObjects(controlPlane, access, publishing).filter(
    ({ kind }) => kind !== "Route" || observed.routes !== undefined,
  );
  const steps: TopologyStep[] = [];
  let waiting: Problem | undefined;
  for (const each of desired) {
    const taken = publishedHostnames(each.object).find((host) => observed.taken?.includes(host));
    if (taken !== undefined) waiting ??= hostnameTaken(taken);
    // A cluster that publishes a hostname keeps it, so what exists is not changed.
    if (taken !== undefined && each.kind === "Route") continue;
    const one = taken === undefined ? each : withoutHostname(each);
    const found = findObject(observed, one.kind, one.object.metadata.name);
    if (found === undefined) steps.push(create(one.kind, one.object, "it is part of the topology"));
    else if (isBeingDeleted(found)) waiting ??= beingDeleted(one.kind, found);
    else if (!isMade(found) && !belongsTo(found, controlPlane)) waiting = another(one.kind, found);
    else {
      const patch = changeTo(found, one, controlPlane);
      if (patch)
        steps.push(update(one.kind, found, patch, "it differs from what the topology wants"));
    }
  }
  const settled = steps.length === 0 && waiting === undefined;
  const unwanted = unwantedObjects(observed, desired);
  for (const exposure of ["public", "private"] as const) {
    const surplus = unwanted.filter((one) => one.exposure === exposure);
    if (surplus.length === 0) continue;
    const other = exposure === "public" ? "private" : "public";
    const problem = settled
      ? whyNotReady(other, observed, desired, access, publishing)
      : applying("it is new");
    if (problem === undefined)
      steps.push(
        ...surplus.map(({ kind, object }) => deleteObject(kind, object, "not wanted any more")),
      );
    else waiting ??= problem;
  }
  if (observed.routes === undefined) waiting ??= noRoutes;
  return { steps, waiting };
}

function withoutHostname(one: Desired): Desired {
  const { [externalDnsAnnotation]: _, ...annotations } = one.object.metadata.annotations ?? {};
  return { ...one, object: { ...one.object, metadata: { ...one.object.metadata, annotations } } };
}

/** The links that a cluster should have. */
export function linksOf(access: PrivateAccess, { oauth }: Publishing): string[] {
  if (access.type !== "PrivateLink") return [];
  return oauth.type === "LoadBalancer" ? [privateRouter, oauthServer] : [privateRouter];
}

/** Why public or private access does not work yet; undefined where it does, or where the topology has none. */
function whyNotReady(
  exposure: "public" | "private",
  observed: Observed,
  desired: readonly Desired[],
  access: PrivateAccess,
  publishing: Publishing,
): Problem | undefined {
  const isPrivate = exposure === "private";
  if (isPrivate ? !access.reachablePrivately : !access.reachablePublicly) return undefined;
  const reason = isPrivate ? topologyReasons.waitingForPrivate : topologyReasons.waitingForPublic;
  const stay = `the ${isPrivate ? "public" : "private"} Services and Routes are kept`;
  if (isPrivate && publishing.apiServer.type !== "Route")
    return {
      reason,
      message: `${stay} · the API server is not behind the private link · create the cluster with APIServer published as Route`,
    };
  const closed = desired.find(
    ({ kind, object, ...one }) =>
      one.exposure === exposure && !isOpen(kind, findObject(observed, kind, object.metadata.name)),
  );
  if (closed)
    return {
      reason,
      message: `${stay} · ${closed.kind} ${closed.object.metadata.name} cannot be reached yet · see its events`,
    };
  const missing = (isPrivate ? linksOf(access, publishing) : []).filter(
    (name) => !observed.links.some((link) => link.metadata.name === name && isAvailable(link)),
  );
  if (missing.length === 0) return undefined;
  return {
    reason,
    message: `${stay} · the private link of ${missing.join(" and ")} is not available yet · see the conditions of that AzurePrivateLinkService`,
  };
}

/** Whether requests get through. A Route that no router reports on only has to exist. */
function isOpen(kind: Desired["kind"], found: Service | Route | undefined): boolean {
  if (found === undefined || isBeingDeleted(found)) return false;
  if (kind === "Route") {
    const routers = (found as Route).status?.ingress ?? [];
    const admits = ({ type, status }: { type: string; status: string }) =>
      type === "Admitted" && status === "True";
    return routers.length === 0 || routers.some(({ conditions }) => conditions?.some(admits));
  }
  const { spec, status } = found as Service;
  return spec?.type !== "LoadBalancer" || (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** What we created and the topology does not have. */
function unwantedObjects(observed: Observed, desired: readonly Desired[]) {
  const found: { kind: Desired["kind"]; exposure: Exposure; object: KubeObject }[] = [];
  for (const [kind, names] of Object.entries(exposures) as [
    Desired["kind"],
    Record<string, Exposure>,
  ][])
    for (const [name, exposure] of Object.entries(names)) {
      const object = findObject(observed, kind, name);
      const isWanted = desired.some(
        (one) => one.kind === kind && one.object.metadata.name === name,
      );
      if (object && !isWanted && isMade(object) && !isBeingDeleted(object))
        found.push({ kind, exposure, object });
    }
  return found;
}

/** The merge patch that puts a Service or Route right. Other owners than control planes are left in its list. */
function changeTo(found: KubeObject, { object }: Desired, controlPlane: HostedControlPlane) {
  const { labels, annotations, ownerReferences = [] } = object.metadata;
  const others = (found.metadata.ownerReferences ?? []).filter(
    ({ kind }: OwnerReference) => kind !== "HostedControlPlane",
  );
  const desired = {
    metadata: {
      labels,
      annotations,
      ...(!belongsTo(found, controlPlane) && { ownerReferences: [...others, ...ownerReferences] }),
    },
    spec: object.spec,
  };
  return patchTo(found, desired) as object | undefined;
}

function findObject(
  observed: Observed,
  kind: Desired["kind"],
  name: string,
): Service | Route | undefined {
  const all: readonly (Service | Route)[] =
    kind === "Service" ? observed.services : (observed.routes ?? []);
  return all.find(({ metadata }) => metadata.name === name);
}

function applying(message: string): Problem {
  return { reason: topologyReasons.applying, message };
}

/** Somebody deleted it. The Service of a load balancer cannot be deleted while a link service uses that. */
function beingDeleted(kind: string, { metadata }: KubeObject): Problem {
  const { finalizers = [] } = metadata;
  const why =
    finalizers.length > 0 ? `has the finalizers ${finalizers.join(", ")}` : "still exists";
  return applying(
    `${kind} ${metadata.name} is being deleted and ${why} · it is recreated afterwards · if it is not deleted, delete the AzurePrivateLinkService of this name, which is recreated as well`,
  );
}

function another(kind: string, { metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.another,
    message: `${kind} ${metadata.name} in ${metadata.namespace} is not changed · it was not created by this control plane · rename or delete it`,
  };
}

const noRoutes: Problem = {
  reason: topologyReasons.noRoutes,
  message:
    "the Routes of this cluster are not created · the API server does not serve the kind Route · install manifests/crds/route.openshift.io_routes.yaml, or publish by LoadBalancer",
};
