import type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
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
  plain,
  recordFor,
  zoneName,
  zonesFor,
} from "./records.ts";
import { balancerHops } from "./trace-balancer.ts";
import type { World, Zone } from "./world.ts";

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
  return [...linked, ...lonely.map((zone) => unlinked(index, zone, name))];
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

function unlinked(index: WorldIndex, lonely: Zone, name: string): Trace {
  const about = { what: "zone", name: zoneName(lonely.zone) } as const;
  const hop: Hop = isClosed(index, lonely, "links")
    ? {
        ...about,
        state: "unknown",
        found: "it cannot be read to which networks the zone is linked",
        remedy: readable,
      }
    : {
        ...about,
        state: "broken",
        found: "the zone is linked to no network, so nobody can ask it",
        remedy: "link it to the network of the clients",
      };
  return { network: "none", hops: [hop], works: false, known: mayKnow(index, lonely, name) };
}

const readable = "give the credential the right to read it: postern permissions";

/** Whether a zone has a name, as far as can be said. */
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
    return [...hops, { ...unread(name, `the records of ${zone} cannot be read`), what: "record" }];
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
  const hidden = ["endpoints", "network interfaces"].filter((each) => isHidden(index, each));
  if (endpoint === undefined && hidden.length > 0) {
    const why = `not all ${hidden.join(" and ")} can be read, so it is not known which has this address`;
    return [...hops, { ...unread(addresses.join(", "), why), what: "endpoint" }];
  }
  if (endpoint === undefined) return [...hops, noEndpoint(addresses)];
  return [...hops, ...beyond(index, endpoint)];
}

function zoneHop(zone: Zone, network: string): Hop {
  const name = zoneName(zone.zone);
  const { state, reason } = resolution(zone.zone, linksTo(zone, network));
  if (state === "ok") return { what: "zone", name, state, found: `answers for ${name}` };
  return {
    what: "zone",
    name,
    state,
    found: `the network does not resolve ${name}: the zone or its link is ${reason}`,
    remedy:
      state === "working"
        ? "wait until Azure has written it"
        : "the operator writes what it owns again; have the owner of anything else do so",
  };
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
  const connectionState = connection?.properties.privateLinkServiceConnectionState;
  const letIn = admission(connectionState?.status, connectionState?.description);
  hops.push({
    what: "approval",
    name: connection?.name ?? name,
    state: letIn.state,
    found: letIn.reason ?? "",
    ...(letIn.state === "pending" && {
      remedy: `approve it: postern approve ${shellWord(endpoint.id ?? name)}`,
    }),
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
  return [...hops, ...balancerHops(index, service)];
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

function unread(name: string, found: string): Pick<Hop, "name" | "state" | "found" | "remedy"> {
  return { name, state: "unknown", found, remedy: readable };
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
