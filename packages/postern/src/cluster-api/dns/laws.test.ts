import { claimsIn, leftTag, withoutClaim } from "@postern/core/claims.ts";
import { nameOf, parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  managementNetwork,
  observed,
  otherGroup,
  ourClaim,
  ourMark,
  PaperDns,
  servers,
  settle,
  theirClaim,
  theirMark,
  them,
  us,
  workloadGroup,
  workloadNetwork,
  zoneIds,
} from "../../../../../test/cluster-api/paper-dns.ts";
import { fc } from "../../../../../test/setup/random.ts";
import type { Addresses, Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { zoneIn } from "./zones/desired.ts";
import { nameRefusal } from "./zones/name.ts";

const { public: own, base, toWorkload, toManagement } = zoneIds;
const elsewhere = zoneIn(otherGroup, "public", "wc1.example.com");
const capz = { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1": "owned" };

/** Whose something is before we come. */
type Ownership = "nobody" | "another" | "ours" | "capz";
const ownership = fc.constantFrom<Ownership>("nobody", "another", "ours");
const claims = (who: Ownership): Record<string, string> =>
  ({ nobody: { note: "by hand" }, another: theirClaim, ours: ourClaim, capz })[who];
const tagsOfOwner = (who: Ownership): Record<string, string> =>
  ({ nobody: {}, another: theirMark, ours: ourMark, capz: {} })[who];

const record = fc.record({
  who: ownership,
  type: fc.constantFrom("A", "CNAME", "TXT"),
  name: fc.constantFrom("api", "apiserver", "ingress", "gateway", "*", "bastion", "www"),
  value: fc.constantFrom("10.1.0.100", "10.0.0.7", "192.0.2.1"),
});
const records = fc.uniqueArray(record, {
  maxLength: 4,
  // Azure would not have let them in beside each other.
  selector: ({ name }) => name,
});
const privateZone = fc.option(
  fc.record({
    who: fc.constantFrom<Ownership>("nobody", "another", "ours", "capz"),
    link: fc.option(fc.record({ who: ownership, desired: fc.boolean(), ourName: fc.boolean() })),
    records,
  }),
);

/** Something that may be in Azure already. */
const found = fc.record({
  own: fc.option(fc.record({ who: ownership, records })),
  elsewhere: fc.option(ownership),
  delegation: fc.option(
    fc.record({
      who: ownership,
      servers: fc.constantFrom("ns1-01.azure-dns.com.", "ns.example.net."),
    }),
  ),
  base: fc.boolean(),
  group: fc.constantFrom<Ownership>("nobody", "ours"),
  toWorkload: privateZone,
  toManagement: privateZone,
});
type Found = typeof found extends fc.Arbitrary<infer T> ? T : never;

function azureWith(all: Found, { is }: Desired): PaperDns {
  const isAzure = is === "azure";
  // What is not of CAPZ has a zone of its own, and nothing private.
  const has = isAzure ? all : { ...all, elsewhere: null, toWorkload: null, toManagement: null };
  const azure = new PaperDns([
    { role: "public", id: own },
    { role: "base", id: base },
    ...(isAzure
      ? ([
          { role: "public", id: elsewhere },
          { role: "toWorkload", id: toWorkload },
          { role: "toManagement", id: toManagement },
        ] as const)
      : []),
  ]);
  if (!isAzure && (has.own || has.group === "ours"))
    azure.set(workloadGroup, { is: "group", tags: tagsOfOwner(has.group) });
  if (!has.base) azure.things.delete(base.toLowerCase());
  const put = (
    zone: string,
    all: readonly { who: Ownership; type: string; name: string; value: string }[],
  ) => {
    for (const { who, type, name, value } of all) {
      const values = type === "CNAME" ? [`ingress.${nameOf(parseResourceId(zone))}`] : [value];
      azure.record(zone, type, name, values, tagsOfOwner(who));
    }
  };
  if (has.own) put(azure.zone(own, claims(has.own.who)) && own, has.own.records);
  if (has.elsewhere) azure.zone(elsewhere, claims(has.elsewhere));
  if (has.delegation && has.base)
    azure.record(
      base,
      "NS",
      "wc1",
      [has.delegation.servers],
      tagsOfOwner(has.delegation.who),
      3600,
    );
  if (has.base) azure.record(base, "NS", "wc10", ["ns.example.net."], theirMark, 3600);
  const sides = [
    [toWorkload, has.toWorkload, managementNetwork, "mc"],
    [toManagement, has.toManagement, workloadNetwork, "wc1"],
  ] as const;
  for (const [zone, side, network, group] of sides) {
    if (!side) continue;
    azure.zone(zone, claims(side.who));
    put(zone, side.records);
    const { link } = side;
    if (link) {
      const to = link.desired ? network : network.replace(/vnet$/, "other");
      azure.link(zone, link.ourName ? `${group}-vnet-link` : "by-hand", to, claims(link.who));
    }
  }
  return azure;
}

const address = (...values: string[]): fc.Arbitrary<Addresses> =>
  fc.constantFrom<Addresses>({ state: "known", values }, { state: "unknown" }, { state: "none" });

/** How the cluster is. */
const desired = fc.record({
  is: fc.constantFrom("azure", "azure", "aks", "other" as const),
  place: fc.constantFrom(own, elsewhere),
  api: address("10.1.0.100"),
  bastion: address("20.0.0.9"),
  services: fc.constantFrom<Observed["services"]>(
    undefined,
    [],
    [{ name: "ingress", addresses: ["20.0.0.1"] }],
  ),
  toWorkload: address("10.0.0.7"),
  gateway: address("10.1.0.8"),
  ingress: address("10.1.0.6"),
  wildcards: fc.record({
    cluster: fc.constantFrom(undefined, "api", "gateway", "no name"),
    management: fc.constantFrom(undefined, "gateway", "edge"),
  }),
  served: fc.record({ toWorkload: fc.boolean(), toManagement: fc.boolean() }),
});
type Desired = typeof desired extends fc.Arbitrary<infer T> ? T : never;

function worldWith({ is, place, gateway, ingress, ...rest }: Desired): Observed {
  const world = observed();
  const group = {
    id: workloadGroup,
    observation: { state: "absent" },
    tags: {},
    location: "westeurope",
    mayAdopt: false,
  } as const;
  return {
    ...world,
    ...rest,
    infrastructure: world.infrastructure && { ...world.infrastructure, is },
    publicZoneId: is === "azure" ? place : own,
    toManagement: { gateway, ingress },
    group: is === "azure" ? undefined : group,
    networks: is === "azure" ? world.networks : {},
  };
}

const ends = (world: Observed): Observed => ({
  ...world,
  cluster: { ...world.cluster, deleting: true },
});

/** Whether something carries our mark or our claim, and not that of a cluster whose name begins with ours. */
function isMarked(thing: unknown): boolean {
  const text = JSON.stringify(thing ?? {});
  return text.includes(`"${us.clusterID}/`) || text.includes(`postern_user_${us.clusterID}"`);
}

/** Everything that carries our mark or our claim, but the resource group: that is never deleted. */
function ownedIn(azure: PaperDns): string[] {
  return [...azure.things.values()]
    .filter((each) => each.is !== "group" && isMarked(withoutLastUser(each)))
    .map(({ id }) => id);
}

/** A zone that others have put something into stays, and says who used it last. */
function withoutLastUser(thing: Thing): Thing {
  if (!("tags" in thing)) return thing;
  const { [leftTag]: _, ...tags } = thing.tags;
  return { ...thing, tags };
}

describe("whatever is in Azure", () => {
  test("a cluster settles, and then nothing is planned any more (law 1)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const azure = azureWith(has, is);
        const { world } = settle(azure, worldWith(is));
        expect(plan(azure.observed(world)).steps).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("nothing of ours is left after the end, however far it had come (law 2)", () => {
    fc.assert(
      fc.property(found, desired, fc.nat(4), (has, is, reconciles) => {
        const azure = azureWith(has, is);
        const world = worldWith(is);
        for (let reconcile = 0; reconcile < reconciles; reconcile++)
          for (const step of plan(azure.observed(world)).steps) azure.apply(step);
        const end = settle(azure, ends(world));
        expect(end.world.infrastructure?.hasFinalizer).toBe(false);
        expect(ownedIn(azure)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("nothing of anybody else's is changed or deleted (law 3)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const azure = azureWith(has, is);
        const before = new Map(
          [...azure.things]
            .filter(([, each]) => !isOwnedOrOld(azure, each, is.is))
            .map(([id, each]) => [id, shown(each)]),
        );
        settle(azure, ends(settle(azure, worldWith(is)).world));
        for (const [id, was] of before) {
          const remaining = azure.things.get(id);
          expect(remaining && shown(remaining), id).toBe(was);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("it is said to be ready only if the cluster's name leads to its zone and its address (law 5)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const azure = azureWith(has, is);
        const { world } = settle(azure, worldWith(is));
        if (world.infrastructure?.condition?.status !== "True") return;
        expect(azure.values(base, "NS", "wc1")).toBeDefined();
        if (is.api.state !== "known" || is.is === "aks") return;
        const addresses = [own, elsewhere].map((zone) => azure.values(zone, "A", "api"));
        expect(addresses).toContainEqual(["10.1.0.100"]);
      }),
      { numRuns: 300 },
    );
  });

  test("nor before the private names lead to its endpoints, in both networks (law 5)", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        fc.pre(is.is === "azure");
        const azure = azureWith(has, is);
        const { world } = settle(azure, worldWith(is));
        if (world.infrastructure?.condition?.status !== "True") return;
        const answers = (zone: string, name: string, network: string, own: string) => {
          const links = azure.below(zone).filter((each) => each.is === "link");
          const linked = links.filter((each) => JSON.stringify(each).includes(network));
          expect(linked, zone).not.toEqual([]);
          // What CAPZ has in this place is used as it is.
          if (JSON.stringify(azure.tags(zone)).includes("sigs.")) return;
          const remaining = azure.things.get(`${zone}/A/${name}`.toLowerCase());
          // The name of another user of the zone leads to its endpoint, which is good in its own network.
          const theirs = JSON.stringify(remaining).includes(them.clusterID);
          const shared = linked.some(({ id }) => {
            const tags = JSON.stringify(azure.tags(id));
            return tags.includes(them.clusterID) || !tags.includes("postern_");
          });
          if (!(theirs && shared)) expect(azure.values(zone, "A", name), zone).toEqual([own]);
        };
        if (!is.served.toWorkload) answers(toWorkload, "apiserver", managementNetwork, "10.0.0.7");
        if (is.served.toManagement) return;
        const address = is.ingress.state === "known" ? "10.1.0.6" : "10.1.0.8";
        answers(toManagement, "ingress", workloadNetwork, address);
      }),
      { numRuns: 300 },
    );
  });

  test("a wildcard of ours always leads to a name of its zone", () => {
    fc.assert(
      fc.property(found, desired, (has, is) => {
        const azure = azureWith(has, is);
        // While it is not known where an endpoint leads, its zone is left as it is.
        fc.pre(![is.gateway, is.ingress, is.toWorkload].some(({ state }) => state === "unknown"));
        const { world } = settle(azure, worldWith(is));
        // Of a cluster that does not get its name nothing is changed.
        fc.pre(nameRefusal(azure.observed(world)) === undefined);
        for (const each of azure.things.values()) {
          if (each.is !== "record" || each.record.name !== "*") continue;
          const zone = each.id.split("/").slice(0, -2).join("/");
          // In a zone that is another's nothing is done at all.
          if (!isMarked(each.record.metadata) || !isMarked(azure.tags(zone))) continue;
          const target = (each.record.values[0] ?? "").split(".")[0] ?? "";
          expect(
            azure.values(zone, "A", target) ?? azure.values(zone, "CNAME", target),
          ).toBeDefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});

type Thing = PaperDns["things"] extends Map<string, infer T> ? T : never;

/**
 * What is ours to change: what carries our mark, a link of our name in a zone of ours, and what the operator before us left:
 * zones with the cluster that nobody has marked, with their link of our name and the names that it wrote. In the group of the
 * management cluster and in the base zone nothing is without proof.
 */
function isOwnedOrOld(azure: PaperDns, thing: Thing, is: Desired["is"]): boolean {
  if (isMarked(thing)) return true;
  const isOld = (tags: Record<string, string> | undefined) =>
    tags !== undefined &&
    !JSON.stringify(tags).includes("postern_") &&
    !Object.keys(tags).some((name) => name.startsWith("sigs."));
  const zoneId = thing.is === "zone" ? thing.id : thing.id.split("/").slice(0, -2).join("/");
  // A delegation to a name server of the cluster's zone, which nobody marked, is that of the operator before us.
  if (zoneId.toLowerCase() === base.toLowerCase()) return isOldDelegation(thing);
  const zoneTags = azure.tags(zoneId);
  if (thing.is === "link" && isMarked(zoneTags))
    return isOld(thing.link.tags) && thing.id.endsWith("-vnet-link");
  // A record set under a name of ours, without any metadata, in a zone that nobody else claims: somebody removed the metadata.
  if (thing.is === "record" && isMarked(zoneTags) && claimsIn(zoneTags).length === 1)
    return Object.keys(thing.record.metadata).length === 0 && ourNames.test(thing.record.name);
  if (!isOld(zoneTags)) return false;
  const hasProof = azure.below(zoneId).some((each) => each.is === "record" && isMarked(each));
  const needsProof = zoneId === toWorkload || is !== "azure";
  if (needsProof && !hasProof && !isDelegated(azure, zoneId)) return false;
  if (thing.is === "zone") return true;
  if (thing.is === "link") return isOld(thing.link.tags);
  return thing.is === "record" && Object.keys(thing.record.metadata).length === 0;
}

const ourNames = /^(api|apiserver|bastion|bastion1|ingress|gateway|\*)$/;

/**
 * Whether the delegation proves a zone: the public zone of a cluster of another provider by one that we wrote, the zone in the
 * group of the management cluster by one of the operator before us, which wrote both.
 */
function isDelegated(azure: PaperDns, zone: string): boolean {
  const delegation = azure.things.get(`${base}/NS/wc1`.toLowerCase());
  if (zone === own) return isMarked(delegation);
  return zone === toWorkload && delegation !== undefined && isOldDelegation(delegation);
}

function isOldDelegation(thing: Thing): boolean {
  return (
    thing.is === "record" &&
    Object.keys(thing.record.metadata).length === 0 &&
    thing.record.values.some((each) => servers.includes(each))
  );
}

/** Without the etag, and without our claim, which a zone that is shared has for a while. */
function shown(thing: Thing): string {
  const { etag: _, ...rest } = thing;
  if (rest.is === "link") {
    const tags = withoutClaim(rest.link.tags ?? {}, us);
    return JSON.stringify({ ...rest, link: { ...rest.link, tags } });
  }
  const tags = "tags" in rest ? withoutClaim(rest.tags, us) : undefined;
  return JSON.stringify({ ...rest, ...(tags && { tags }) });
}
