import type { PrivateRecordSet } from "../azure/gateways/private-dns.ts";
import type { PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import { idKey, lastSegment } from "../model/resource-id.ts";
import type { State } from "./drawn.ts";
import { connectionsOf, indexOf, networkOf, targetsOf, type WorldIndex } from "./index-of.ts";
import { admission, balancerIdOf, provisioned } from "./parts/states.ts";
import type { World, Zone } from "./world.ts";

/** One step on the way from a name to the machines behind it. */
export interface Hop {
  what: "zone" | "record" | "endpoint" | "approval" | "link service" | "load balancer" | "backend";
  name: string;
  state: State;
  /** What was found there. */
  found: string;
  /** What to do about it, where it breaks. */
  remedy?: string;
}

/** The way of a name as clients in one network go it. It ends at the first hop that is broken. */
export interface Trace {
  network: string;
  hops: Hop[];
  works: boolean;
}

/** The ways of a host from every network that has a zone for it. None: no private zone knows the host. */
export function tracesOf(world: World, host: string, only?: string): Trace[] {
  const index = indexOf(world);
  const name = host.toLowerCase().replace(/\.$/, "");
  const zones = world.azure.zones
    .filter(({ zone }) => covers(zoneName(zone), name))
    .sort((a, b) => zoneName(b.zone).length - zoneName(a.zone).length);
  const networks = new Map<string, Zone[]>();
  for (const zone of zones)
    for (const { properties } of zone.links) {
      const network = networkOf(properties.virtualNetwork?.id);
      if (network === undefined) continue;
      networks.set(network, [...(networks.get(network) ?? []), zone]);
    }
  const linked = [...networks]
    .filter(([network]) => only === undefined || matches(network, only))
    .map(([network, reached]) => walk(index, network, reached, name));
  const lonely = zones.filter(({ links }) => links.length === 0);
  if (only !== undefined) return linked;
  return [...linked, ...lonely.map((zone) => unlinked(zone))];
}

function unlinked({ zone }: Zone): Trace {
  const hop: Hop = {
    what: "zone",
    name: zoneName(zone),
    state: "broken",
    found: "the zone is linked to no network, so nobody can ask it",
    remedy: "link it to the network of the clients",
  };
  return { network: "none", hops: [hop], works: false };
}

function walk(index: WorldIndex, network: string, zones: readonly Zone[], name: string): Trace {
  const hops = hopsOf(index, network, zones, name);
  const broken = hops.findIndex(({ state }) => state !== "ok");
  return {
    network: lastSegment(network),
    hops: broken < 0 ? hops : hops.slice(0, broken + 1),
    works: broken < 0,
  };
}

function hopsOf(
  index: WorldIndex,
  network: string,
  [first, ...others]: readonly Zone[],
  name: string,
): Hop[] {
  // Azure asks the most specific zone that is linked, and no other.
  if (first === undefined) return [];
  const zone = zoneName(first.zone);
  const hops: Hop[] = [{ what: "zone", name: zone, state: "ok", found: `answers for ${zone}` }];
  const record = recordFor(first, name);
  if (record === undefined) {
    const hidden = others.find((other) => recordFor(other, name) !== undefined);
    return [...hops, noRecord(name, zone, hidden && zoneName(hidden.zone))];
  }
  const addresses = addressesIn(record);
  const alias = record.properties.cnameRecord?.cname.replace(/\.$/, "");
  if (alias !== undefined && alias !== name) {
    hops.push({ what: "record", name, state: "ok", found: `is another name of ${alias}` });
    const next = [first, ...others].filter((each) => covers(zoneName(each.zone), alias));
    return next.length > 0
      ? [...hops, ...hopsOf(index, network, next, alias)]
      : [...hops, { ...noRecord(alias, "every linked zone", undefined) }];
  }
  hops.push({ what: "record", name, state: "ok", found: addresses.join(", ") });
  // Two networks may have the same addresses: the client's own counts first, then those it may be peered with.
  const having = index.world.azure.endpoints.filter((each) =>
    index.addressesOf(each).some((address) => addresses.includes(address)),
  );
  const endpoint =
    having.find(({ properties }) => networkOf(properties.subnet?.id) === network) ?? having[0];
  if (endpoint === undefined) return [...hops, noEndpoint(addresses)];
  return [...hops, ...beyond(index, endpoint)];
}

/** From an endpoint to the machines behind the load balancer. */
function beyond(index: WorldIndex, endpoint: PrivateEndpoint): Hop[] {
  const made = provisioned(endpoint.properties.provisioningState);
  const name = endpoint.name ?? "";
  const hops: Hop[] = [
    {
      what: "endpoint",
      name,
      state: made.state,
      found: made.state === "ok" ? index.addressesOf(endpoint).join(", ") : `is ${made.reason}`,
      ...(made.state !== "ok" && { remedy: "wait until Azure has made it, or delete it" }),
    },
  ];
  const connection = connectionsOf(endpoint)[0];
  const said = connection?.properties.privateLinkServiceConnectionState;
  const letIn = admission(said?.status, said?.description);
  hops.push({
    what: "approval",
    name: connection?.name ?? name,
    state: letIn.state,
    found: letIn.reason ?? "",
    ...(letIn.state === "pending" && { remedy: `approve it: postern approve ${name}` }),
    ...(letIn.state === "broken" && {
      remedy:
        "a rejected or ended connection never comes back: delete the endpoint, and it is made anew",
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
        found: "it lies where we cannot look, or is gone",
        remedy: "look at it with the credential of its owner",
      },
    ];
  const serviceMade = provisioned(service.properties.provisioningState);
  hops.push({
    what: "link service",
    name: service.name ?? "",
    state: serviceMade.state,
    found: service.properties.alias ?? serviceMade.reason ?? "",
    ...(serviceMade.state !== "ok" && { remedy: "see postern tree for what Azure says of it" }),
  });
  return [...hops, ...balancerHops(index, balancerIdOf(service))];
}

function balancerHops(index: WorldIndex, id: string | undefined): Hop[] {
  const balancer = index.loadBalancer(id);
  if (balancer === undefined)
    return [
      {
        what: "load balancer",
        name: lastSegment(id ?? ""),
        state: "broken",
        found: "it is gone",
        remedy: "make the Service of the control plane anew, or look in its resource group",
      },
    ];
  const { loadBalancingRules: rules = [], backendAddressPools: pools = [] } = balancer.properties;
  const hop: Hop = {
    what: "load balancer",
    name: balancer.name ?? "",
    state: rules.length > 0 ? "ok" : "broken",
    found: rules.length > 0 ? `ports ${portsOf(rules).join(", ")}` : "it has no rule",
    ...(rules.length === 0 && {
      remedy: "the Service has no ports, or no cloud provider serves it",
    }),
  };
  const members = pools.reduce(
    (sum, { properties }) =>
      sum +
      (properties.loadBalancerBackendAddresses ?? properties.backendIPConfigurations ?? []).length,
    0,
  );
  return [
    hop,
    {
      what: "backend",
      name: pools.map(({ name }) => name).join(", "),
      state: members > 0 ? "ok" : "broken",
      found: `${members} machines`,
      ...(members === 0 && { remedy: "no machine is in its pool: look at the nodes" }),
    },
  ];
}

function portsOf(rules: readonly { properties: { frontendPort?: number } }[]): number[] {
  return [...new Set(rules.flatMap(({ properties }) => properties.frontendPort ?? []))];
}

function noRecord(name: string, zone: string, hidden: string | undefined): Hop {
  return {
    what: "record",
    name,
    state: "broken",
    found: hidden
      ? `${zone} has no record of it and hides the one in ${hidden}`
      : `${zone} has no record of it`,
    remedy: hidden
      ? `put the record into ${zone}, or take the link of ${zone} away`
      : "see postern plan for who would write it",
  };
}

function noEndpoint(addresses: readonly string[]): Hop {
  return {
    what: "endpoint",
    name: addresses.join(", "),
    state: "broken",
    found: "no endpoint that we can see has this address",
    remedy: "the record is old, or the endpoint lies where we cannot look: see postern plan",
  };
}

/** The record of a name in a zone: its own, or that of a wildcard. */
function recordFor({ zone, records }: Zone, name: string): PrivateRecordSet | undefined {
  const within = zoneName(zone);
  const label = name === within ? "@" : name.slice(0, -within.length - 1);
  const named = (wanted: string) =>
    records.find(
      (record) =>
        lastSegment(record.id ?? "").toLowerCase() === wanted &&
        (addressesIn(record).length > 0 || record.properties.cnameRecord !== undefined),
    );
  const own = named(label);
  if (own !== undefined || label === "@") return own;
  const labels = label.split(".");
  for (let at = 1; at <= labels.length; at++) {
    const found = named(["*", ...labels.slice(at)].join("."));
    if (found !== undefined) return found;
  }
  return undefined;
}

function addressesIn({ properties }: PrivateRecordSet): string[] {
  return [
    ...(properties.aRecords ?? []).map((each) => each.ipv4Address),
    ...(properties.aaaaRecords ?? []).map((each) => each.ipv6Address),
  ];
}

function zoneName({ id = "", name }: { id?: string; name?: string }): string {
  return (name ?? lastSegment(id)).toLowerCase();
}

function covers(zone: string, name: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

function matches(network: string, wanted: string): boolean {
  return network === idKey(wanted) || lastSegment(network) === wanted.toLowerCase();
}
