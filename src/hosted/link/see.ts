import type { ArmView } from "../../azure/arm.ts";
import { attempt } from "../../azure/attempt.ts";
import type { Look } from "../../azure/gateway.ts";
import {
  type PrivateLinkService,
  privateLinkServices,
} from "../../azure/gateways/private-link-services.ts";
import { oldestSightingMs } from "../../azure/sightings.ts";
import type { Pass } from "../../kube/pass.ts";
import type { AzurePrivateLinkService } from "../../model/kinds/azure-private-link-service.ts";
import { isLeftBehind } from "../../model/ownership.ts";
import { parentOf, parseResourceId, type ResourceId, sameId } from "../../model/resource-id.ts";
import { clusterKeyOf, known } from "./cluster.ts";
import type { Frontend } from "./frontends.ts";
import { allowedSubscriptions, differences } from "./link-service.ts";
import type { LinkParts } from "./parts.ts";
import { seeDown } from "./see-down.ts";
import { seeNat } from "./see-nat.ts";
import type { FrontendSeen, Seen, Subject, Up } from "./seen.ts";
import { ownNatSubnet, serviceId, subjectOf } from "./subject.ts";
import { wantedOf } from "./wanted.ts";

/** Read everything about one link, once. Azure is not asked where nothing can be done. */
export async function see(
  object: AzurePrivateLinkService,
  pass: Pass,
  parts: LinkParts,
): Promise<Seen> {
  const key = clusterKeyOf(object);
  const cluster = key === undefined ? undefined : parts.hostedClusters.get(key);
  const subject = subjectOf(object, cluster, parts);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const found = known(object, cluster, pass.date());
  if (!deleting && found.is !== "wanted") return { stage: "stopped", subject, known: found };
  const seen = await attempt(async () =>
    deleting || found.is !== "wanted"
      ? seeDown(object, cluster, subject, pass, parts)
      : seeUp(object, subject, found, pass, parts),
  );
  return "failed" in seen ? { stage: "unseen", subject, failure: seen.failed } : seen;
}

async function seeUp(
  object: AzurePrivateLinkService,
  subject: Subject,
  found: Up["known"],
  pass: Pass,
  parts: LinkParts,
): Promise<Up> {
  const { sides, serviceList } = parts;
  const view = sides.management(pass);
  const now = pass.now().getTime();
  const maxAgeMs = oldestSightingMs(pass.priority);
  const id = serviceId(sides.managementGroup, found.serviceName);
  await serviceList.refresh(view, maxAgeMs, now);
  const isLeft = (look: Look<PrivateLinkService>) =>
    look.state === "there" &&
    isLeftBehind(look.resource.tags, { ...found, uid: subject.uid }, parts.exists);
  const first = await lookAt(view, id, maxAgeMs, subject);
  // What another left is taken over by what Azure says of it now.
  const told = isLeft(first) ? await privateLinkServices(view).look(id) : first;
  const current = told.state === "there" ? frontendIn(told.resource) : undefined;
  const frontend = await attempt(async () => {
    const expected = (all: readonly Frontend[]) =>
      current === undefined ? all.length > 0 : all.some((each) => sameId(each.id, current));
    const all = await parts.frontends.at(
      view,
      sides.managementGroup,
      found.loadBalancerIP,
      maxAgeMs,
      now,
      expected,
    );
    return chosen(all, current);
  });
  const { natSubnetID, additionalAllowedSubscriptions = [] } = object.spec;
  const wanted: Omit<Up, "nat" | "service" | "left" | "natOfService"> = {
    stage: "up",
    ...{ subject, known: found, natSubnetID, id },
    allowed: allowedSubscriptions(found.guestSubscription, additionalAllowedSubscriptions),
    frontend: "failed" in frontend ? { is: "failed", failure: frontend.failed } : frontend,
  };
  const service = await asItIsNow(view, told, wanted);
  const seen: Omit<Up, "nat"> = {
    ...{ ...wanted, service, left: isLeft(service) },
    natOfService:
      service.state === "there" ? ownNatSubnet(service.resource, subject, parts) : undefined,
  };
  if (seen.natOfService !== undefined)
    parts.natUsers.reserve(subject.uid, seen.natOfService, found.serviceName);
  // What has failed may have failed for its subnet: that is looked at anew.
  if (service.state === "failed" && seen.frontend.is === "found") {
    const { subnet } = seen.frontend.frontend;
    const network = subnet === undefined ? undefined : parentOf(parseResourceId(subnet));
    if (network !== undefined) parts.networks.forget(network);
  }
  const needed = service.state === "absent" && seen.frontend.is === "found";
  if (!needed) return { ...seen, nat: { is: "not needed" } };
  const nat = await attempt(() => seeNat(seen, { view, now, maxAgeMs }, parts));
  return { ...seen, nat: "failed" in nat ? { is: "failed", failure: nat.failed } : nat };
}

/** A service that should be there and is not in the list is read: what was published is not withdrawn on hearsay. */
async function lookAt(
  view: ArmView,
  id: ResourceId,
  maxAgeMs: number,
  { fields }: Subject,
): Promise<Look<PrivateLinkService>> {
  const services = privateLinkServices(view);
  const look = await services.look(id, maxAgeMs);
  const published = sameId(fields.privateLinkServiceID ?? "", id);
  return look.state === "absent" && published ? services.look(id) : look;
}

/**
 * A service that is to be deleted and made anew is read by every pass: its connections go one after another, and an old
 * sighting would tell of them as if nothing had been done.
 */
async function asItIsNow(
  view: ArmView,
  told: Look<PrivateLinkService>,
  wanted: Parameters<typeof wantedOf>[0] & Pick<Up, "id" | "natSubnetID">,
): Promise<Look<PrivateLinkService>> {
  if (told.state !== "there" || wanted.frontend.is !== "found") return told;
  const { fixed } = differences(told.resource, wantedOf(wanted, wanted.natSubnetID));
  return fixed.length > 0 ? privateLinkServices(view).look(wanted.id) : told;
}

/** The one that the service stands before stays; else the first by id, so that it is always the same. */
function chosen(all: readonly Frontend[], current: string | undefined): FrontendSeen {
  const frontend = all.find((each) => sameId(each.id, current ?? "")) ?? all[0];
  return frontend === undefined ? { is: "missing" } : { is: "found", frontend };
}

function frontendIn({ properties }: PrivateLinkService): string | undefined {
  return properties.loadBalancerFrontendIpConfigurations?.[0]?.id;
}
