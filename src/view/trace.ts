import { connectionsOf, type PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import { keyOf } from "../model/kind.ts";
import { idKey, lastSegment } from "../model/resource-id.ts";
import type { State } from "./drawn.ts";
import { indexOf, isHidden, networkOf, targetsOf, type WorldIndex } from "./index-of.ts";
import { admission, balancerIdOf, provisioned } from "./parts/states.ts";
import {
  addressesIn,
  aliasIn,
  networksOf,
  plain,
  recordFor,
  zoneName,
  zonesFor,
} from "./records.ts";
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
  /** Whether a zone of this network has the name. Where it has not, nobody promised that it works from there. */
  known: boolean;
}

/** The ways of a host from every network that has a zone for it. None: no private zone knows the host. */
export function tracesOf(world: World, host: string, only?: string): Trace[] {
  const index = indexOf(world);
  const name = plain(host);
  const zones = zonesFor(world, name);
  const linked = [...new Set(zones.flatMap(networksOf))]
    .filter((network) => only === undefined || matches(network, only))
    .map((network) => walk(index, network, name));
  const lonely = zones.filter(({ links }) => links.length === 0);
  if (only !== undefined) return linked;
  return [...linked, ...lonely.map((zone) => unlinked(zone, name))];
}

/** The names that a host is another name of, here or there; their zones belong to the question too. */
export function aliasesOf(world: World, host: string): string[] {
  const found = new Set([plain(host)]);
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
      [route?.hostname, loadBalancer?.hostname].some((each) => each && plain(each) === plain(host)),
    ),
  );
  return found && keyOf(found);
}

function unlinked(lonely: Zone, name: string): Trace {
  const hop: Hop = {
    what: "zone",
    name: zoneName(lonely.zone),
    state: "broken",
    found: "the zone is linked to no network, so nobody can ask it",
    remedy: "link it to the network of the clients",
  };
  return {
    network: "none",
    hops: [hop],
    works: false,
    known: recordFor(lonely, name) !== undefined,
  };
}

function walk(index: WorldIndex, network: string, name: string): Trace {
  const hops = hopsOf(index, network, name, new Set());
  const broken = hops.findIndex(({ state }) => state !== "ok");
  return {
    network: lastSegment(network),
    hops: broken < 0 ? hops : hops.slice(0, broken + 1),
    works: broken < 0,
    known: !zonesFor(index.world, name)
      .filter((zone) => networksOf(zone).includes(network))
      .every((zone) => recordFor(zone, name) === undefined),
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
  const hops: Hop[] = [{ what: "zone", name: zone, state: "ok", found: `answers for ${zone}` }];
  const record = recordFor(first, name);
  if (record === undefined) {
    const hidden = others.find((other) => recordFor(other, name) !== undefined);
    return [...hops, noRecord(name, zone, hidden && zoneName(hidden.zone))];
  }
  const addresses = addressesIn(record);
  const alias = aliasIn(record);
  if (alias !== undefined) {
    const seen = new Set([...before, name]);
    if (seen.has(alias)) return [...hops, circle(name, alias)];
    hops.push({ what: "record", name, state: "ok", found: `is another name of ${alias}` });
    return [...hops, ...hopsOf(index, network, alias, seen)];
  }
  hops.push({ what: "record", name, state: "ok", found: addresses.join(", ") });
  // Two networks may have the same addresses: only the client's own counts, and those that it is peered with.
  const reached = new Set([network, ...index.peersOf(network)]);
  const having = index.world.azure.endpoints.filter(
    (each) =>
      reached.has(networkOf(each.properties.subnet?.id) ?? "") &&
      index.addressesOf(each).some((address) => addresses.includes(address)),
  );
  const own = having.find(({ properties }) => networkOf(properties.subnet?.id) === network);
  if (own === undefined && having.length > 1) return [...hops, severalEndpoints(addresses, having)];
  const endpoint = own ?? having[0];
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
      ...(made.state !== "ok" && {
        remedy: /^deleting$/i.test(made.reason ?? "")
          ? "it is being deleted: the operator makes it anew when it is gone"
          : "wait until Azure has made it, or delete it",
      }),
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
        ...(isHidden(index, "load balancers")
          ? { state: "unknown", found: "it lies where we cannot look, or is gone" }
          : { state: "broken", found: "it is gone" }),
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
    // Azure tells of a pool of interfaces in the second list, and leaves the first one empty.
    (sum, { properties: { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } }) =>
      sum + Math.max(loadBalancerBackendAddresses.length, backendIPConfigurations.length),
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

function severalEndpoints(addresses: readonly string[], having: readonly PrivateEndpoint[]): Hop {
  const networks = having.map(({ properties }) =>
    lastSegment(networkOf(properties.subnet?.id) ?? ""),
  );
  return {
    what: "endpoint",
    name: addresses.join(", "),
    state: "unknown",
    found: `no endpoint in this network has the address, and several elsewhere do: in ${networks.join(", ")}`,
    remedy: "see with which of these networks it is peered",
  };
}

function circle(name: string, alias: string): Hop {
  return {
    what: "record",
    name,
    state: "broken",
    found: `is another name of ${alias}, which leads back here`,
    remedy: "let one of the two records have an address",
  };
}

/** A name that no linked zone could have is asked of the public DNS. */
function publicAlias(name: string): Hop {
  return {
    what: "record",
    name,
    state: "unknown",
    found: "no private zone of this network could have it: it is asked of the public DNS",
    remedy: "a name of the public DNS is not traced here",
  };
}

function matches(network: string, wanted: string): boolean {
  return network === idKey(wanted) || lastSegment(network) === wanted.toLowerCase();
}
