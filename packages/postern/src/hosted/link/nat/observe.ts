import {
  idKey,
  nameOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { fresherMs } from "../../../private-link/link-service/frontends.ts";
import type { Gate } from "../../../private-link/nat-subnets/networks.ts";
import { serviceBehind } from "../../../private-link/nat-subnets/reservations.ts";
import { isSharedSubnet, type NatNetwork } from "../../../private-link/nat-subnets/subnets.ts";
import { isClusterNatSubnet, linkServiceName, oauthServer, privateRouter } from "../../names.ts";
import type { LinkParts } from "../cluster/dependencies.ts";
import type { Subject, Up } from "../observed.ts";
import { chooseNat, clusterSubnets, networkOf } from "./choose.ts";
import type { NatObserved, NatSnapshot, ObservedNatDeletion } from "./observed.ts";

/** What a reconcile knows of the time, and through whom it asks Azure. */
export interface Asking {
  arm: ArmClient;
  now: number;
  maxAgeMs: number;
  /** Another HostedCluster says that it has the same clusterID. */
  sharesClusterID: boolean;
}

type WithoutNat = Omit<Up, "nat">;

const subnetType = "Microsoft.Network/virtualNetworks/subnets";
const open: Gate = { is: "open" };

/** Read the subnets from which a link service that is to be created may take its address. */
export async function observeNat(
  given: WithoutNat,
  asking: Asking,
  parts: LinkParts,
): Promise<NatObserved> {
  const { networks } = parts;
  const { arm, now, maxAgeMs } = asking;
  const subnet = given.frontend.is === "found" ? given.frontend.frontend.subnet : undefined;
  const own = subnet === undefined ? undefined : networkOf(subnet);
  const { natSubnetID } = given;
  const id = natSubnetID === undefined ? own : networkOf(natSubnetID);
  if (id === undefined) return { is: "unknown network" };
  const gate = natSubnetID === undefined ? await networks.gate(arm, id, now) : open;
  const snapshot = (network: NatNetwork | undefined) =>
    snapshotOf(id, network, gate, given, asking, parts);
  const isElsewhere = natSubnetID !== undefined && own !== undefined && !sameId(own, id);
  if (isElsewhere || (gate.is === "failed" && gate.removing !== true)) return snapshot(undefined);
  const first = snapshot(await networks.read(arm, id, maxAgeMs, now));
  if (gate.is === "busy" || chooseNat({ ...given, nat: first }).is === "exists") return first;
  // What is not as it should be may have been put right meanwhile.
  return snapshot(await networks.read(arm, id, fresherMs, now));
}

function snapshotOf(
  id: ResourceId,
  network: NatNetwork | undefined,
  gate: Gate,
  given: WithoutNat,
  asking: Asking,
  { networks, reservations, installation, natSubnets, natPrefixLength, ...parts }: LinkParts,
): NatSnapshot {
  const { subject, natSubnetID } = given;
  const { now } = asking;
  const possible =
    natSubnetID !== undefined
      ? [parseResourceId(natSubnetID, subnetType)]
      : natSubnets === "per-cluster"
        ? clusterSubnets(id, given)
        : [];
  const shared = (network?.subnets ?? []).filter(({ name }) => isSharedSubnet(name, installation));
  const ids = [...possible, ...shared.map((each) => each.id)];
  return {
    is: "observed",
    natSubnets: natSubnetID === undefined ? natSubnets : "given",
    prefixLength: natPrefixLength,
    id,
    network,
    gate,
    claim: networks.claimable(id, subject.uid, now),
    uses: new Map(ids.map((each) => [idKey(each), reservations.useOf(each, subject, now)])),
    candidates: possible.map((each) => ({
      id: each,
      hasSiblings: reservations.siblingsIn(each, subject),
      isAnothers: isAnothers(each, network, given, asking, { reservations, ...parts }),
    })),
  };
}

/**
 * Whether a link of another control plane takes addresses from a subnet: as recorded, or as Azure shows, because what
 * HyperShift created is not recorded. A link service without an owner tag is HyperShift's, and its name says which cluster it belongs to.
 */
function isAnothers(
  id: ResourceId,
  network: NatNetwork | undefined,
  { subject, known }: WithoutNat,
  { sharesClusterID }: Asking,
  parts: Pick<LinkParts, "reservations" | "serviceList" | "namespaceOf">,
): boolean {
  const { reservations, serviceList, namespaceOf } = parts;
  if (reservations.strangersIn(id, subject)) return true;
  const names = [privateRouter, oauthServer].map((link) =>
    linkServiceName(link, known.clusterID).toLowerCase(),
  );
  const found = network?.subnets.find((each) => sameId(each.id, id));
  return (found?.configurations ?? []).some((each) => {
    const service = serviceBehind(each);
    if (service === undefined) return false;
    const owner = serviceList.ownerOf(service);
    if (owner === undefined) return sharesClusterID || !names.includes(service);
    return owner !== subject.uid && namespaceOf(owner) !== subject.namespace;
  });
}

/** Read the subnet that a link leaves, where it may be the last one in it. */
export async function observeNatDeletion(
  { uid, namespace, recordedSubnet }: Subject,
  { arm, now }: { arm: ArmClient; now: number },
  { reservations, networks, installation }: LinkParts,
): Promise<ObservedNatDeletion> {
  if (recordedSubnet === undefined) return { is: "nothing" };
  if (reservations.othersIn(recordedSubnet, uid)) return { is: "used by others" };
  const subnet = parseResourceId(recordedSubnet, subnetType);
  const id = networkOf(subnet);
  const isShared = isSharedSubnet(nameOf(subnet), installation);
  if (!isShared && !isClusterNatSubnet(nameOf(subnet))) return { is: "nothing" };
  const gate = await networks.gate(arm, id, now);
  if (gate.is !== "open") return { is: "observed", subnet, gate, candidates: [] };
  const network = await networks.read(arm, id, 0, now);
  // Somebody may have come while it was read.
  if (reservations.othersIn(recordedSubnet, uid)) return { is: "used by others" };
  const left = network ? leftBehind(network, subnet, isShared ? installation : undefined) : [];
  const candidates = left.map(({ id: each, state, configurations }) => {
    const { others, isReserved, isClosed } = reservations.useOf(each, { uid, namespace }, now);
    return {
      id: each,
      isOwn: sameId(each, subnet),
      state,
      isTaken: others > 0 || isReserved || isClosed,
      holders: configurations.map(serviceBehind),
    };
  });
  return { is: "observed", subnet, gate, candidates };
}

/** The subnet itself, and where nobody is left in any of the shared ones, those that were created ahead of need. */
function leftBehind(network: NatNetwork, subnet: ResourceId, installation: string | undefined) {
  const own = network.subnets.filter((each) => sameId(each.id, subnet));
  if (installation === undefined) return own;
  const shared = network.subnets.filter(({ name }) => isSharedSubnet(name, installation));
  const empty = shared.every((each) => sameId(each.id, subnet) || each.configurations.length === 0);
  return empty ? [...own, ...shared.filter((each) => !sameId(each.id, subnet))] : own;
}
