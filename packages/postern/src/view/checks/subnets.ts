import { parseCidr, usableAddresses } from "@postern/core/cidr.ts";
import { counted } from "@postern/core/counted.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { privateAccess } from "@postern/core/kinds/private-access.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { Subnet } from "../../azure/gateways/subnets.ts";
import { askedIn } from "../cluster-objects.ts";
import { isSharedSubnetName } from "../computed-names.ts";
import type { World } from "../world.ts";
import { findings, type WorldCheck } from "./check.ts";
import { ownServices } from "./links.ts";

/** Below this many free addresses a subnet gets a warning. */
const fewAddresses = 4n;
/** Azure's limit for one link service. */
const mostNatAddresses = 8;

/** Azure creates a link service only in a subnet where this network policy is disabled. */
export const natPolicy: WorldCheck = {
  name: "NAT subnet policy",
  run: (world) =>
    findings(
      natPolicy.name,
      natSubnets(world).map(({ subnet, id }) => {
        const policy = subnet.properties.privateLinkServiceNetworkPolicies ?? "Enabled";
        // Any other subnet was chosen by the author of the cluster: its owner decides whether it is changed.
        return policy === "Disabled"
          ? { about: id, result: "ok", found: "privateLinkServiceNetworkPolicies is Disabled." }
          : {
              about: id,
              result: "failed",
              found: `privateLinkServiceNetworkPolicies is ${policy}, so Azure creates no link service in this subnet.`,
              remedy: isSharedSubnetName(lastSegment(id))
                ? `Disable them: az network vnet subnet update --ids ${shellWord(id)} --disable-private-link-service-network-policies true`
                : "A HostedCluster names this subnet. Ask the subnet's owner to disable these policies, or use another subnet in the HostedCluster.",
            };
      }),
    ),
};

/** Subnets of link services and of endpoints must have addresses left. */
export const freeAddresses: WorldCheck = {
  name: "free addresses",
  run: (world) =>
    findings(
      freeAddresses.name,
      [...natSubnets(world), ...endpointSubnets(world)].map(({ subnet, id }) => {
        const left = freeIn(subnet);
        if (left === undefined)
          return {
            about: id,
            result: "not checked",
            found: "The subnet has no IPv4 address range.",
          };
        const found = `${counted(left, "free address", "free addresses")}.`;
        if (left >= fewAddresses) return { about: id, result: "ok", found };
        return {
          about: id,
          result: left <= 0n ? "failed" : "warning",
          found,
          remedy: "Add an address range to the subnet, or use another subnet.",
        };
      }),
    ),
};

export const natAddresses: WorldCheck = {
  name: "NAT addresses",
  run: (world) =>
    findings(
      natAddresses.name,
      ownServices(world).map(({ id = "", properties }) => {
        const count = properties.ipConfigurations?.length ?? 0;
        return {
          about: id,
          result: count > mostNatAddresses ? "failed" : "ok",
          found: `${counted(count, "NAT address", "NAT addresses")}; the limit is ${mostNatAddresses}.`,
          ...(count > mostNatAddresses && {
            remedy: `Request at most ${mostNatAddresses} natIPConfigurations for its link service.`,
          }),
        };
      }),
    ),
};

interface Place {
  id: string;
  subnet: Subnet;
}

function natSubnets(world: World): Place[] {
  return found(world, [
    ...ownServices(world).flatMap(({ properties }) =>
      (properties.ipConfigurations ?? []).map((each) => each.properties.subnet?.id),
    ),
    ...world.kube.links.map(({ spec }) => spec.natSubnetID),
    ...world.kube.hostedClusters.map(askedSubnet),
  ]);
}

/** The subnet that a cluster requests, before anything is created for it. */
function askedSubnet({ spec }: HostedCluster): string | undefined {
  const azure = spec.platform?.azure;
  try {
    return azure && privateAccess(azure).natSubnetID;
  } catch {
    // Its condition reports the contradiction.
    return undefined;
  }
}

function endpointSubnets(world: World): Place[] {
  return found(world, [
    ...ownEndpoints(world).map(({ properties }) => properties.subnet?.id),
    ...world.kube.links.map(({ spec }) => spec.guestSubnetID),
  ]);
}

/** The endpoints that Postern created or that an object names; the subnets of others are not checked. */
function ownEndpoints({ azure, kube }: World): PrivateEndpoint[] {
  const ids = kube.links.flatMap(({ status }) => status?.privateEndpointID ?? []);
  const named = new Set([...ids, ...askedIn(kube).endpoints].map(idKey));
  return azure.endpoints.filter(
    ({ id = "", tags }) => ownerIn(tags) !== undefined || named.has(idKey(id)),
  );
}

/** The subnets of these ids, each once. What cannot be read is skipped, and is in `unread`. */
function found({ azure }: World, ids: readonly (string | undefined)[]): Place[] {
  const all = new Map(
    azure.networks.flatMap(({ id: network = "", properties }) =>
      (properties.subnets ?? []).map((subnet) => {
        const id = subnet.id ?? `${network}/subnets/${subnet.name}`;
        return [idKey(id), { id, subnet }] as const;
      }),
    ),
  );
  const keys = new Set(ids.flatMap((id) => (id === undefined ? [] : [idKey(id)])));
  return [...keys].flatMap((key) => all.get(key) ?? []);
}

function freeIn({ properties }: Subnet): bigint | undefined {
  const blocks =
    properties.addressPrefixes ?? (properties.addressPrefix ? [properties.addressPrefix] : []);
  const four = blocks.filter((block) => !block.includes(":"));
  if (four.length === 0) return undefined;
  const usable = four.reduce((sum, block) => sum + usableAddresses(parseCidr(block)), 0n);
  return usable - BigInt(properties.ipConfigurations?.length ?? 0);
}
