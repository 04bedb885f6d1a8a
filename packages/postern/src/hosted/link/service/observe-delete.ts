import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { idKey, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { privateLinkServices } from "../../../azure/gateways/private-link-services.ts";
import { maxReadAgeMs } from "../../../azure/read-cache.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { tryRead } from "../../../kube/try-read.ts";
import { tenantFirstMs } from "../../../private-link/link-service/disconnect.ts";
import { endpointFinalizer, linkServiceName, ownLinkServiceName } from "../../names.ts";
import type { LinkParts } from "../cluster/dependencies.ts";
import { longestName } from "../cluster/requirements.ts";
import { hasFinalizer, ownNatSubnet, serviceId } from "../cluster/subject.ts";
import type { Belonging } from "../cluster/verified-cluster.ts";
import { observeNatDeletion } from "../nat/observe.ts";
import type { Down, Subject } from "../observed.ts";
import { claimantOf, ownershipOf } from "./owner.ts";

/** How old the list may be where the name of the service is known beside it. */
const listedMs = 30_000;

/** Read what is left of a link that is being deleted. The cluster may be paused or deleted. */
export async function observeDelete(
  object: AzurePrivateLinkService,
  belonging: Belonging,
  subject: Subject,
  reconcile: Reconcile,
  parts: LinkParts,
): Promise<Down> {
  const observed = {
    stage: "down",
    subject,
    endpointGraceMs: endpointGraceMs(object, reconcile.date()),
  } as const;
  const nothing = { services: [], natOfService: undefined, nat: { is: "nothing" } } as const;
  if (!hasFinalizer(object)) return { ...observed, ...nothing };
  const arm = parts.armClients.management(reconcile);
  const now = reconcile.now().getTime();
  const clusterID = belonging.cluster?.spec.clusterID;
  // Without the cluster, a service that was created since the last list is found by its tag only.
  const maxAgeMs = clusterID === undefined ? 0 : Math.min(listedMs, maxReadAgeMs(reconcile));
  await parts.serviceList.refresh(arm, maxAgeMs, now);
  const services: Down["services"][number][] = [];
  let natOfService: ResourceId | undefined;
  for (const id of candidates(subject, belonging, parts)) {
    const observation = await privateLinkServices(arm).observe(id);
    const isOwn =
      observation.state !== "exists" ||
      ownershipOf(observation.resource, claimantOf(subject, belonging, id, parts)).is !== "another";
    services.push({ id, observation, isOwn });
    if (observation.state === "exists" && isOwn)
      natOfService ??= ownNatSubnet(observation.resource, subject, parts);
  }
  const left = services.some(({ observation, isOwn }) => isOwn && observation.state !== "absent");
  if (left) return { ...observed, services, natOfService, nat: { is: "nothing" } };
  const nat = await tryRead(reconcile, () => observeNatDeletion(subject, { arm, now }, parts));
  return {
    ...observed,
    services,
    natOfService,
    nat: "failed" in nat ? { is: "failed", failure: nat.failed } : nat,
  };
}

/**
 * Where a service of the object may be: under its usual name, under its own where another cluster has or had the usual one, and
 * wherever its tag was found. Not where the status says: a tenant may have written that.
 */
function candidates(
  { name, uid, fields }: Subject,
  { cluster, sharesClusterID }: Belonging,
  { armClients, serviceList }: LinkParts,
): ResourceId[] {
  const clusterID = cluster?.spec.clusterID;
  const ids: ResourceId[] = [];
  if (clusterID !== undefined) {
    const [usual, own] = [
      linkServiceName(name, clusterID),
      ownLinkServiceName(name, clusterID, uid),
    ].map((each) =>
      each.length <= longestName ? serviceId(armClients.managementGroup, each) : undefined,
    );
    if (usual !== undefined) ids.push(usual);
    const usesOwn = sharesClusterID || sameId(fields.privateLinkServiceID ?? "", own ?? "");
    if (own !== undefined && usesOwn) ids.push(own);
  }
  const all = [...ids, ...serviceList.ownedBy(uid)];
  return [...new Map(all.map((id) => [idKey(id), id])).values()];
}

/** While the finalizer of the endpoint feature is on the object, that feature gets time to delete the endpoint itself. */
function endpointGraceMs({ metadata }: AzurePrivateLinkService, now: Date): number {
  if (metadata.finalizers?.includes(endpointFinalizer) !== true) return 0;
  const since = now.getTime() - Date.parse(metadata.deletionTimestamp ?? "");
  return Math.max(0, tenantFirstMs - Math.max(0, since));
}
