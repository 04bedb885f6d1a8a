import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { installationTag, ownerIn } from "@postern/core/ownership.ts";
import { nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import type { ArmClient } from "../../azure/arm.ts";
import type { Observation } from "../../azure/gateway.ts";
import {
  type PrivateLinkService,
  privateLinkServices,
} from "../../azure/gateways/private-link-services.ts";
import { maxReadAgeMs } from "../../azure/read-cache.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead } from "../../kube/try-read.ts";
import { linkServiceDifferences } from "../../private-link/link-service/desired.ts";
import {
  type Frontend,
  fresherMs,
  frontendsAt,
  isFrontendOf,
} from "../../private-link/link-service/frontends.ts";
import type { Ownership } from "../../private-link/policy.ts";
import { ownLinkServiceName } from "../names.ts";
import type { LinkParts } from "./cluster/dependencies.ts";
import { known } from "./cluster/requirements.ts";
import { ownNatSubnet, serviceId, subjectOf } from "./cluster/subject.ts";
import { type Belonging, belongingOf } from "./cluster/verified-cluster.ts";
import { observeNat } from "./nat/observe.ts";
import type { Observed, ObservedFrontend, Subject, Up } from "./observed.ts";
import { allowedSubscriptions, desiredOf } from "./service/desired.ts";
import { observeDelete } from "./service/observe-delete.ts";
import { claimantOf, ownershipOf } from "./service/owner.ts";

/** Read everything about one link, once. Azure is not asked where nothing can be done. */
export async function observe(
  object: AzurePrivateLinkService,
  parts: LinkParts,
  reconcile: Reconcile,
): Promise<Observed> {
  const belonging = belongingOf(object, parts);
  const subject = subjectOf(object, belonging.cluster, parts);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const found = known(object, belonging, reconcile.date());
  if (!deleting && found.is !== "desired") return { stage: "stopped", subject, known: found };
  const observed = await tryRead(reconcile, async () =>
    deleting || found.is !== "desired"
      ? observeDelete(object, belonging, subject, reconcile, parts)
      : observeUp(object, belonging, subject, found, reconcile, parts),
  );
  return "failed" in observed ? { stage: "unread", subject, failure: observed.failed } : observed;
}

async function observeUp(
  object: AzurePrivateLinkService,
  belonging: Belonging,
  subject: Subject,
  given: Up["known"],
  reconcile: Reconcile,
  parts: LinkParts,
): Promise<Up> {
  const { armClients, serviceList } = parts;
  const arm = armClients.management(reconcile);
  const now = reconcile.now().getTime();
  const maxAgeMs = maxReadAgeMs(reconcile);
  await serviceList.refresh(arm, maxAgeMs, now);
  const usual = serviceId(armClients.managementGroup, given.serviceName);
  const own = serviceId(
    armClients.managementGroup,
    ownLinkServiceName(subject.name, given.clusterID, subject.uid),
  );
  const ownerOf = (observation: Observation<PrivateLinkService>, at: ResourceId): Ownership =>
    observation.state === "exists"
      ? ownershipOf(observation.resource, claimantOf(subject, belonging, at, parts))
      : { is: "ours" };
  const usualObservation = await observeService(arm, usual, maxAgeMs, subject);
  // Another cluster that has or had our clusterID does not prevent ours.
  const isAnothers = ownerOf(usualObservation, usual).is === "another";
  const taken =
    serviceList.ownedBy(subject.uid).some((each) => sameId(each, own)) ||
    sameId(subject.fields.privateLinkServiceID ?? "", own) ||
    (isAnothers && (belonging.sharesClusterID || hasLiveOwner(usualObservation, parts)));
  const id = taken ? own : usual;
  const found = { ...given, serviceName: nameOf(id) };
  const first = taken ? await observeService(arm, own, maxAgeMs, subject) : usualObservation;
  // An orphaned one is adopted as it is now, not as it was listed.
  const reported =
    ownerOf(first, id).is === "left" ? await privateLinkServices(arm).observe(id) : first;
  const current = reported.state === "exists" ? frontendIn(reported.resource) : undefined;
  const serviceUid = belonging.service?.metadata.uid ?? "";
  const frontend = await tryRead(reconcile, async (): Promise<ObservedFrontend> => {
    if (found.isServiceDeleting) return { is: "released" };
    // Nothing else shows when a failed load balancer is repaired.
    const expected = (all: readonly Frontend[]) =>
      all.every(({ failed }) => failed === undefined) &&
      (current === undefined
        ? all.some((each) => isFrontendOf(each, serviceUid))
        : all.some((each) => sameId(each.id, current)));
    const all = await frontendsAt(
      arm,
      armClients.loadBalancerGroups,
      found.loadBalancerIP,
      maxAgeMs,
      expected,
    );
    return chooseFrontend(all, serviceUid, current);
  });
  const { natSubnetID, additionalAllowedSubscriptions = [] } = object.spec;
  const desired: Omit<Up, "nat" | "service" | "owner" | "natOfService" | "isBalancerFull"> = {
    stage: "up",
    subject,
    known: found,
    natSubnetID,
    id,
    allowed: allowedSubscriptions(found.clusterSubscription, additionalAllowedSubscriptions),
    frontend: "failed" in frontend ? { is: "failed", failure: frontend.failed } : frontend,
  };
  const service = await asItIsNow(arm, reported, desired);
  const balancer =
    service.state === "absent" && desired.frontend.is === "found"
      ? desired.frontend.frontend.balancer
      : undefined;
  const isFull = () => balancer !== undefined && serviceList.isFull(balancer, id, now);
  // Somebody may have made room since the last list.
  if (isFull()) await serviceList.refresh(arm, Math.min(fresherMs, maxAgeMs), now);
  const observed: Omit<Up, "nat"> = {
    ...desired,
    isBalancerFull: isFull(),
    service,
    owner: ownerOf(service, id),
    natOfService:
      service.state === "exists" ? ownNatSubnet(service.resource, subject, parts) : undefined,
  };
  const needed = service.state === "absent" && observed.frontend.is === "found";
  if (!needed) return { ...observed, nat: { is: "not needed" } };
  const nat = await tryRead(reconcile, () =>
    observeNat(observed, { arm, now, maxAgeMs, sharesClusterID: belonging.sharesClusterID }, parts),
  );
  return { ...observed, nat: "failed" in nat ? { is: "failed", failure: nat.failed } : nat };
}

/** Whether the owner of a service exists: as an object here, or in another management cluster. */
function hasLiveOwner(
  observation: Observation<PrivateLinkService>,
  { exists, installation }: LinkParts,
): boolean {
  if (observation.state !== "exists") return false;
  const { tags } = observation.resource;
  return (
    exists(ownerIn(tags)?.uid ?? "") ||
    (tagOf(tags, installationTag) ?? installation) !== installation
  );
}

/** A service that should be there and is not in the list is read: what was published is not withdrawn on hearsay. */
async function observeService(
  arm: ArmClient,
  id: ResourceId,
  maxAgeMs: number,
  { fields }: Subject,
): Promise<Observation<PrivateLinkService>> {
  const services = privateLinkServices(arm);
  const observation = await services.observe(id, maxAgeMs);
  const published = sameId(fields.privateLinkServiceID ?? "", id);
  return observation.state === "absent" && published ? services.observe(id) : observation;
}

/**
 * A service that is to be deleted or replaced is read by every reconcile: its connections are removed one after another, and an old
 * read would show those that are removed already.
 */
async function asItIsNow(
  arm: ArmClient,
  reported: Observation<PrivateLinkService>,
  desired: Parameters<typeof desiredOf>[0] & Pick<Up, "natSubnetID">,
): Promise<Observation<PrivateLinkService>> {
  if (reported.state !== "exists") return reported;
  if (desired.frontend.is === "released") return privateLinkServices(arm).observe(desired.id);
  if (desired.frontend.is !== "found") return reported;
  const { fixed } = linkServiceDifferences(
    reported.resource,
    desiredOf(desired, desired.natSubnetID),
  );
  return fixed.length > 0 ? privateLinkServices(arm).observe(desired.id) : reported;
}

/** Only those of our Service: the one that the link service uses, else the first by id, so that it is always the same. */
function chooseFrontend(
  all: readonly Frontend[],
  serviceUid: string,
  current: string | undefined,
): ObservedFrontend {
  const own = all.filter((each) => isFrontendOf(each, serviceUid));
  const frontend = own.find((each) => sameId(each.id, current ?? "")) ?? own[0];
  if (frontend !== undefined) return { is: "found", frontend };
  const [foreign] = all;
  return foreign === undefined ? { is: "missing" } : { is: "foreign", frontend: foreign };
}

function frontendIn({ properties }: PrivateLinkService): string | undefined {
  return properties.loadBalancerFrontendIpConfigurations?.[0]?.id;
}
