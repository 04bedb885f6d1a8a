import type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
import { plainName, sameName } from "@postern/core/dns-name.ts";
import { keyOf } from "@postern/core/kind.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import { connectionsOf, type PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import { indexOf, isClosed, isHidden, networkOf, targetsOf, type WorldIndex } from "./index-of.ts";
import { admission, provisioned, resolution } from "./parts/states.ts";
import {
  addressesIn,
  aliasIn,
  linksTo,
  networksOf,
  recordFor,
  zoneName,
  zonesFor,
} from "./records.ts";
import { balancerHops } from "./trace-balancer.ts";
import type { World, Zone } from "./world.ts";

/** The paths to a host from every network that has a zone for it. None: no private zone could have the host. */
export function tracesOf(world: World, host: string, only?: string): Trace[] {
  const index = indexOf(world);
  const name = plainName(host);
  const zones = zonesFor(world, name);
  const linked = [...new Set(zones.flatMap(networksOf))]
    .filter((network) => only === undefined || matches(network, only))
    .map((network) => walk(index, network, name));
  const unlinkedZones = zones.filter(({ links }) => links.length === 0);
  if (only !== undefined) return linked;
  return [...linked, ...unlinkedZones.map((zone) => unlinked(index, zone, name))];
}

/** The names of the networks that can be traced from, sorted; of those that match a name or an id, where one is given. */
export function networksToTraceFrom({ azure }: World, only?: string): string[] {
  const ids = [
    ...azure.networks.map(({ id = "" }) => idKey(id)),
    ...azure.zones.flatMap(networksOf),
  ];
  const found = ids.filter((id) => only === undefined || matches(id, only));
  return [...new Set(found.map(lastSegment))].sort();
}

/** A host and every name that it is an alias of, in any network: the zones of all of them are needed. */
export function aliasesOf(world: World, host: string): string[] {
  const found = new Set([plainName(host)]);
  for (const name of found)
    for (const zone of zonesFor(world, name)) {
      const alias = aliasIn(recordFor(zone, name));
      if (alias !== undefined) found.add(alias);
    }
  return [...found];
}

/** The cluster that publishes a host, as namespace/name. */
export function publishedBy({ kube }: World, host: string): string | undefined {
  const found = kube.hostedClusters.find(({ spec }) =>
    (spec.services ?? []).some(({ servicePublishingStrategy: { route, loadBalancer } }) =>
      [route?.hostname, loadBalancer?.hostname].some((each) => sameName(each, host)),
    ),
  );
  return found && keyOf(found);
}

function unlinked(index: WorldIndex, zone: Zone, name: string): Trace {
  const about = { what: "zone", name: zoneName(zone.zone) } as const;
  const hop: Hop = isClosed(index, zone, "links")
    ? {
        ...about,
        state: "unknown",
        found: "the virtual network links of the zone cannot be read",
        remedy: readable,
      }
    : {
        ...about,
        state: "broken",
        found:
          "the zone is not linked to any virtual network, so no client can resolve its records",
        remedy: "Link the zone to the clients' virtual network.",
      };
  return { hops: [hop], works: false, known: mayKnow(index, zone, name) };
}

const readable = "Grant the credential a role with read access: postern permissions";

/** Whether a zone has a record of a name, or its records cannot be read. */
function mayKnow(index: WorldIndex, zone: Zone, name: string): boolean {
  return recordFor(zone, name) !== undefined || isClosed(index, zone, "records");
}

function walk(index: WorldIndex, network: string, name: string): Trace {
  const hops = hopsOf(index, network, name, new Set());
  const broken = hops.findIndex(({ state }) => state !== "ok");
  return {
    network: lastSegment(network),
    hops: broken < 0 ? hops : hops.slice(0, broken + 1),
    works: broken < 0,
    known: zonesFor(index.world, name)
      .filter((zone) => networksOf(zone).includes(network))
      .some((zone) => mayKnow(index, zone, name)),
  };
}

function hopsOf(
  index: WorldIndex,
  network: string,
  name: string,
  before: ReadonlySet<string>,
): Hop[] {
  const [first, ...others] = zonesFor(index.world, name).filter((zone) =>
    networksOf(zone).includes(network),
  );
  if (first === undefined) return [publicAlias(name)];
  // Azure asks the most specific zone that is linked, and no other.
  const zone = zoneName(first.zone);
  const hops: Hop[] = [zoneHop(first, network)];
  const record = recordFor(first, name);
  if (record === undefined && isClosed(index, first, "records"))
    return [
      ...hops,
      { ...unread(name, `the records of zone ${zone} cannot be read`), what: "record" },
    ];
  if (record === undefined) {
    const hidden = others.find((other) => recordFor(other, name) !== undefined);
    return [...hops, noRecord(name, zone, hidden && zoneName(hidden.zone))];
  }
  const addresses = addressesIn(record);
  const alias = aliasIn(record);
  if (alias !== undefined) {
    const seen = new Set([...before, name]);
    if (seen.has(alias)) return [...hops, circle(name, alias)];
    hops.push({ what: "record", name, state: "ok", found: `alias of ${alias}` });
    return [...hops, ...hopsOf(index, network, alias, seen)];
  }
  hops.push({ what: "record", name, state: "ok", found: addresses.join(", ") });
  // Networks may have the same address ranges: only the client's network and its peered networks count.
  const reached = new Set([network, ...index.peersOf(network)]);
  const having = index.world.azure.endpoints.filter(
    (each) =>
      reached.has(networkOf(each.properties.subnet?.id) ?? "") &&
      index.addressesOf(each).some((address) => addresses.includes(address)),
  );
  const own = having.find(({ properties }) => networkOf(properties.subnet?.id) === network);
  if (own === undefined && having.length > 1) return [...hops, severalEndpoints(addresses, having)];
  const endpoint = own ?? having[0];
  const hidden = ["endpoints", "network interfaces"].filter((each) => isHidden(index, each));
  if (endpoint === undefined && hidden.length > 0) {
    const why = `not all ${hidden.join(" and ")} can be read, so the owner of this address is unknown`;
    return [...hops, { ...unread(addresses.join(", "), why), what: "endpoint" }];
  }
  if (endpoint === undefined) return [...hops, noEndpoint(addresses)];
  return [...hops, ...beyond(index, endpoint)];
}

function zoneHop(zone: Zone, network: string): Hop {
  const name = zoneName(zone.zone);
  const { state, reason } = resolution(zone.zone, linksTo(zone, network));
  if (state === "ok")
    return { what: "zone", name, state, found: `linked to network ${lastSegment(network)}` };
  return {
    what: "zone",
    name,
    state,
    found: `the network does not resolve ${name}, because the zone or its virtual network link is ${reason}`,
    remedy:
      state === "working"
        ? "Wait until Azure has finished the operation."
        : "Postern updates what it owns. Ask the owner of anything else to update it.",
  };
}

/** From a private endpoint to the machines behind the load balancer. */
function beyond(index: WorldIndex, endpoint: PrivateEndpoint): Hop[] {
  const endpointState = provisioned(endpoint.properties.provisioningState);
  const name = endpoint.name ?? "";
  const hops: Hop[] = [
    {
      what: "endpoint",
      name,
      state: endpointState.state,
      found:
        endpointState.state === "ok"
          ? index.addressesOf(endpoint).join(", ")
          : `provisioning state ${endpointState.reason}`,
      ...(endpointState.state !== "ok" && {
        remedy: /^deleting$/i.test(endpointState.reason ?? "")
          ? "Postern recreates the endpoint after Azure has deleted it."
          : "Wait until Azure has finished. If it fails, delete the endpoint; Postern recreates it.",
      }),
    },
  ];
  const connection = connectionsOf(endpoint)[0];
  const connectionState = connection?.properties.privateLinkServiceConnectionState;
  const approval = admission(connectionState?.status, connectionState?.description);
  hops.push({
    what: "approval",
    name: connection?.name ?? name,
    state: approval.state,
    found: approval.reason ?? "",
    ...(approval.state === "pending" && {
      remedy: `Approve it: postern approve ${shellWord(endpoint.id ?? name)}`,
    }),
    ...(approval.state === "broken" && {
      remedy:
        "Ask the owner of the link service to accept the endpoint, then delete it; Postern recreates it.",
    }),
  });
  const [target = ""] = targetsOf(endpoint);
  const service = index.linkService(target) ?? index.byAlias(target);
  if (service === undefined)
    return [
      ...hops,
      {
        what: "link service",
        name: lastSegment(target),
        state: "unknown",
        found: "the link service does not exist, or this credential cannot read it",
        remedy: "Check it with a credential that can read the link service.",
      },
    ];
  const serviceState = provisioned(service.properties.provisioningState);
  hops.push({
    what: "link service",
    name: service.name ?? "",
    state: serviceState.state,
    found: service.properties.alias ?? serviceState.reason ?? "",
    ...(serviceState.state !== "ok" && {
      remedy: "Check the resource in Azure: postern tree -o wide",
    }),
  });
  return [...hops, ...balancerHops(index, service)];
}

function noRecord(name: string, zone: string, hidden: string | undefined): Hop {
  return {
    what: "record",
    name,
    state: "broken",
    found: hidden
      ? `zone ${zone} has no record for it, and hides the record in zone ${hidden}`
      : `zone ${zone} has no record for it`,
    remedy: hidden
      ? `Create the record in zone ${zone}, or delete the virtual network link of ${zone}.`
      : "Check whether the operator would create it: postern plan",
  };
}

function unread(name: string, found: string): Pick<Hop, "name" | "state" | "found" | "remedy"> {
  return { name, state: "unknown", found, remedy: readable };
}

function noEndpoint(addresses: readonly string[]): Hop {
  return {
    what: "endpoint",
    name: addresses.join(", "),
    state: "broken",
    found: "no private endpoint with this address was found",
    remedy:
      "The record is out of date, or this credential cannot read the endpoint. Check the plan: postern plan",
  };
}

function severalEndpoints(addresses: readonly string[], having: readonly PrivateEndpoint[]): Hop {
  const networks = having.map(({ properties }) =>
    lastSegment(networkOf(properties.subnet?.id) ?? ""),
  );
  return {
    what: "endpoint",
    name: addresses.join(", "),
    state: "unknown",
    found: `no endpoint in this network has the address, but several in other networks do: ${networks.join(", ")}`,
    remedy: "Check which of these networks are peered with it.",
  };
}

function circle(name: string, alias: string): Hop {
  return {
    what: "record",
    name,
    state: "broken",
    found: `alias of ${alias}, which is an alias of this name again`,
    remedy: "Replace one of the two records with an address record.",
  };
}

/** A name that no linked zone could have is resolved by public DNS. */
function publicAlias(name: string): Hop {
  return {
    what: "record",
    name,
    state: "unknown",
    found: "resolved by public DNS, because no private DNS zone of this network covers it",
    remedy: "Query public DNS for it. Only private DNS is traced.",
  };
}

function matches(network: string, wanted: string): boolean {
  return network === idKey(wanted) || lastSegment(network) === wanted.toLowerCase();
}
