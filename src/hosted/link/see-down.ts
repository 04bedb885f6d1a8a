import type { ArmView } from "../../azure/arm.ts";
import { attempt } from "../../azure/attempt.ts";
import { guestFirstMs } from "../../azure/disconnect.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import type { Pass } from "../../kube/pass.ts";
import type { AzurePrivateLinkService } from "../../model/kinds/azure-private-link-service.ts";
import {
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "../../model/resource-id.ts";
import {
  endpointFinalizer,
  isClusterNatSubnet,
  linkServiceName,
  ownLinkServiceName,
} from "../names.ts";
import type { Belonging } from "./belonging.ts";
import { claimantOf } from "./claimant.ts";
import { longestName } from "./cluster.ts";
import { whose } from "./link-service.ts";
import { isSharedSubnet, type NatNetwork, type NatSubnet } from "./nat-subnets.ts";
import { serviceBehind } from "./nat-users.ts";
import type { LinkParts } from "./parts.ts";
import type { Down, LeavingSeen, Subject } from "./seen.ts";
import { isHeld, ownNatSubnet, serviceId } from "./subject.ts";

/** How old the list may be where the name of the service is known beside it. */
const listedMs = 30_000;
const unsettledMs = 10_000;

/** Read what is left of a link that is being deleted. The cluster may be paused or gone. */
export async function seeDown(
  object: AzurePrivateLinkService,
  belonging: Belonging,
  subject: Subject,
  pass: Pass,
  parts: LinkParts,
): Promise<Down> {
  const seen = { stage: "down", subject, guestMs: guestMs(object, pass.date()) } as const;
  const nothing = { services: [], natOfService: undefined, nat: { is: "nothing" } } as const;
  if (!isHeld(object)) return { ...seen, ...nothing };
  const view = parts.sides.management(pass);
  const now = pass.now().getTime();
  const clusterID = belonging.cluster?.spec.clusterID;
  // Without the cluster only its tag tells of a service that was made since the last list.
  await parts.serviceList.refresh(view, clusterID === undefined ? 0 : listedMs, now);
  const services: Down["services"][number][] = [];
  let natOfService: string | undefined;
  for (const id of candidates(subject, belonging, parts)) {
    const look = await privateLinkServices(view).look(id);
    const ours =
      look.state !== "there" ||
      whose(look.resource, claimantOf(subject, belonging, id, parts)).is !== "another";
    services.push({ id, look, ours });
    if (look.state === "there" && ours)
      natOfService ??= ownNatSubnet(look.resource, subject, parts);
  }
  const left = services.some(({ look, ours }) => ours && look.state !== "absent");
  if (left) return { ...seen, services, natOfService, nat: { is: "nothing" } };
  const nat = await attempt(() =>
    seeLeaving(subject, serviceNames(services), { view, now }, parts),
  );
  return {
    ...{ ...seen, services, natOfService },
    nat: "failed" in nat ? { is: "failed", failure: nat.failed } : nat,
  };
}

/**
 * Where a service of the object may be: under its usual name, under its own where another cluster has or had the usual one, and
 * wherever its tag was seen. Not where the status says: a tenant may have written that.
 */
function candidates(
  { name, uid, fields }: Subject,
  { cluster, sharesClusterID }: Belonging,
  { sides, serviceList }: LinkParts,
): ResourceId[] {
  const clusterID = cluster?.spec.clusterID;
  const ids: ResourceId[] = [];
  if (clusterID !== undefined) {
    const [usual, own] = [
      linkServiceName(name, clusterID),
      ownLinkServiceName(name, clusterID, uid),
    ].map((each) =>
      each.length <= longestName ? serviceId(sides.managementGroup, each) : undefined,
    );
    if (usual !== undefined) ids.push(usual);
    const usesOwn = sharesClusterID || sameId(fields.privateLinkServiceID ?? "", own ?? "");
    if (own !== undefined && usesOwn) ids.push(own);
  }
  const all = [...ids, ...serviceList.ownedBy(uid)];
  return [...new Map(all.map((id) => [idKey(id), id])).values()];
}

function serviceNames(services: Down["services"]): Set<string> {
  return new Set(services.map(({ id }) => nameOf(id).toLowerCase()));
}

/** While the guest side holds the object too, it gets its time to delete the endpoint itself. */
function guestMs({ metadata }: AzurePrivateLinkService, now: Date): number {
  if (metadata.finalizers?.includes(endpointFinalizer) !== true) return 0;
  const since = now.getTime() - Date.parse(metadata.deletionTimestamp ?? "");
  return Math.max(0, guestFirstMs - Math.max(0, since));
}

/** What becomes of the subnet that the object leaves: the last one out takes it away. */
async function seeLeaving(
  { uid, notedSubnet }: Subject,
  gone: ReadonlySet<string>,
  { view, now }: { view: ArmView; now: number },
  { natUsers, networks, installation }: LinkParts,
): Promise<LeavingSeen> {
  const leave = (): LeavingSeen => {
    natUsers.leave(uid);
    return { is: "nothing" };
  };
  if (notedSubnet === undefined || natUsers.othersIn(notedSubnet, uid)) return leave();
  const subnet = parseResourceId(notedSubnet, "Microsoft.Network/virtualNetworks/subnets");
  const id = parentOf(subnet) as ResourceId;
  const shared = isSharedSubnet(nameOf(subnet), installation);
  if (!shared && !isClusterNatSubnet(nameOf(subnet))) return leave();
  const gate = await networks.gate(view, id, now);
  if (gate.is === "failed") return { is: "failed", failure: gate.failure };
  if (gate.is === "busy") return { is: "changing", retryAfterMs: gate.retryAfterMs };
  const network = await networks.read(view, id, 0, now);
  // Somebody may have come while it was read.
  if (network === undefined || natUsers.othersIn(notedSubnet, uid)) return leave();
  for (const each of leftBehind(network, subnet, shared ? installation : undefined)) {
    const mine = sameId(each.id, subnet);
    if (!mine && (natUsers.usedIn(each) > 0 || natUsers.isClosed(each.id, now))) continue;
    if (/^(updating|creating|deleting)$/i.test(each.state))
      return { is: "changing", retryAfterMs: unsettledMs };
    const holders = each.configurations.map(serviceBehind);
    // An interface may outlive its service for a moment.
    if (holders.some((service) => gone.has(service ?? "")))
      return { is: "changing", retryAfterMs: unsettledMs };
    if (holders.length > 0) continue;
    natUsers.close(each.id, now);
    return { is: "to be removed", subnet: each.id };
  }
  return leave();
}

/** The subnet itself, and where nobody is left in any of the shared ones, those that were made ahead of need. */
function leftBehind(
  network: NatNetwork,
  subnet: ResourceId,
  installation: string | undefined,
): NatSubnet[] {
  const own = network.subnets.filter((each) => sameId(each.id, subnet));
  if (installation === undefined) return own;
  const shared = network.subnets.filter(({ name }) => isSharedSubnet(name, installation));
  const empty = shared.every((each) => sameId(each.id, subnet) || each.configurations.length === 0);
  return empty ? [...own, ...shared.filter((each) => !sameId(each.id, subnet))] : own;
}
