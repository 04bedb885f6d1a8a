import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  managementNetwork,
  observed,
  otherGroup,
  otherNetwork,
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
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";
import { zoneIn } from "./zones/desired.ts";

const { public: own, base, toWorkload, toManagement } = zoneIds;

function withInfrastructure(over: Partial<NonNullable<Observed["infrastructure"]>>): Observed {
  const world = observed();
  return world.infrastructure
    ? { ...world, infrastructure: { ...world.infrastructure, ...over } }
    : world;
}

/** A name that each private zone has. */
const nameIn = { toWorkload: "apiserver", toManagement: "ingress" } as const;

const deleting = (): Observed => ({
  ...observed(),
  cluster: { ...observed().cluster, deleting: true },
});
const reported = ({ infrastructure }: Observed) =>
  `${infrastructure?.condition?.status} ${infrastructure?.condition?.reason}`;

describe("before names are made", () => {
  test("a paused cluster is left alone, one that goes too", () => {
    const cluster = { ...observed().cluster, paused: true, deleting: true };
    expect(plan(new PaperDns().observed({ ...observed(), cluster }))).toMatchObject({ steps: [] });
  });

  test("an infrastructure object that is not there is looked for again in a minute", () => {
    const planned = plan(observed({ infrastructure: undefined }));
    expect(planned).toMatchObject({ steps: [], requeue: { afterMs: 60_000 } });
  });

  test("the infrastructure object gets its finalizer before anything is created", () => {
    const planned = plan(new PaperDns().observed(withInfrastructure({ hasFinalizer: false })));
    expect(planned.steps.map((step) => step.do)).toEqual(["add finalizer"]);
  });

  test("that is not adopted yet is told what would follow the finalizer: a dry run shows nothing else of it", () => {
    const azure = new PaperDns();
    const [step] = plan(azure.observed(withInfrastructure({ hasFinalizer: false }))).steps;
    const { steps } = plan(azure.observed(withInfrastructure({})));
    expect(steps.length).toBeGreaterThan(0);
    expect(step?.why).toContain(`; then: ${steps[0]?.do} ${steps[0]?.name}`);
  });

  test("a cluster that is not ready is looked at again in two minutes", () => {
    const cluster = { ...observed().cluster, ready: false };
    expect(plan(observed({ cluster }))).toMatchObject({ steps: [], requeue: { afterMs: 120_000 } });
  });
});

describe("a Cluster", () => {
  test.each(["aks", "other"] as const)(
    "on infrastructure that is %s has the finalizer itself",
    (is) => {
      expect(
        plan(new PaperDns().observed(withInfrastructure({ is, hasFinalizer: false }))).finalizer,
      ).toBe("add");
      expect(plan(new PaperDns().observed(withInfrastructure({ is }))).finalizer).toBe("add");
    },
  );

  test("of an AzureCluster is not", () => {
    expect(plan(new PaperDns().observed(withInfrastructure({}))).finalizer).toBeUndefined();
  });

  test("that goes is let go after its infrastructure object", () => {
    const given = withInfrastructure({ is: "other" });
    const cluster = { ...given.cluster, deleting: true };
    const first = plan(new PaperDns([]).observed({ ...given, cluster }));
    expect(first.steps.map((step) => step.do)).toEqual(["remove finalizer"]);
    const free = withInfrastructure({ is: "other", hasFinalizer: false });
    expect(plan({ ...free, cluster })).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("that lives is not let go although its infrastructure object goes", () => {
    const deletedCluster = withInfrastructure({ is: "other", hasFinalizer: false, deleting: true });
    expect(plan(deletedCluster).finalizer).toBeUndefined();
  });
});

test("zones and their links have the tags that the AzureCluster names for everything, and follow them", () => {
  const azure = new PaperDns();
  const zones = [own, toWorkload, toManagement];
  const links = () =>
    [...azure.things.values()].filter(({ is }) => is === "link").map(({ id }) => id);
  const first = settle(azure, withInfrastructure({ tags: { team: "blue" } }));
  expect(links()).toHaveLength(2);
  for (const id of [...zones, ...links()]) expect(azure.tags(id)).toMatchObject({ team: "blue" });
  const { infrastructure } = first.world;
  if (infrastructure === undefined) throw new Error("there is no infrastructure object");
  settle(azure, { ...first.world, infrastructure: { ...infrastructure, tags: { cost: "42" } } });
  for (const id of [...zones, ...links()]) {
    expect(azure.tags(id)).toMatchObject({ cost: "42" });
    expect(azure.tags(id)).not.toHaveProperty("team");
  }
});

describe("the public zone", () => {
  test("is made, delegated, and holds api and apiserver", () => {
    const azure = new PaperDns();
    const { world, planned } = settle(azure, observed());
    expect(azure.tags(own)).toEqual({ ...ourMark, ...ourClaim });
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.100"]);
    expect(azure.values(own, "A", "apiserver")).toEqual(["10.1.0.100"]);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    expect(planned.requeue).toBe("drift");
  });

  test("gets AAAA records for addresses of version 6", () => {
    const azure = new PaperDns();
    settle(azure, observed({ api: { state: "known", values: ["10.1.0.100", "fd00::1"] } }));
    expect(azure.values(own, "AAAA", "api")).toEqual(["fd00::1"]);
  });

  test("is used where it already is, though the cluster is in another resource group", () => {
    const place = zoneIn(otherGroup, "public", "wc1.example.com");
    const azure = new PaperDns([
      { role: "public", id: own },
      { role: "public", id: place },
      { role: "base", id: base },
    ]);
    azure.zone(own);
    settle(azure, observed({ publicZoneId: place }));
    expect(azure.values(own, "A", "api")).toBeDefined();
    expect(azure.has(place)).toBe(false);
  });

  test("is made in the resource group of the cluster where there is none yet", () => {
    const place = zoneIn(otherGroup, "public", "wc1.example.com");
    const azure = new PaperDns([
      { role: "public", id: own },
      { role: "public", id: place },
      { role: "base", id: base },
    ]);
    settle(azure, observed({ publicZoneId: place }));
    expect(azure.values(place, "A", "api")).toBeDefined();
    expect(azure.has(own)).toBe(false);
  });

  test("has no address for a cluster of AKS, and is ready all the same", () => {
    const azure = new PaperDns();
    const world = { ...withInfrastructure({ is: "aks" }), api: { state: "none" } as const };
    const { planned } = settle(azure, { ...world, networks: {} });
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
    expect(azure.values(own, "A", "api")).toBeUndefined();
    expect(planned.requeue).toBe("drift");
  });

  test("is not said to be ready while the address of the API server is not known", () => {
    const azure = new PaperDns();
    const { world, planned } = settle(azure, observed({ api: { state: "unknown" } }));
    expect(reported(world)).toBe("undefined undefined");
    expect(planned.requeue).toEqual({ afterMs: 60_000 });
  });

  test("keeps its address while it is not known whether it still is right", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    settle(azure, { ...world, api: { state: "unknown" } });
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.100"]);
  });

  test("gets a changed address, and is otherwise not written again", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    const records: string[] = [];
    settle(azure, { ...world, api: { state: "known", values: ["10.1.0.101"] } }, ({ steps }) =>
      records.push(...steps.map((step) => ("id" in step ? step.id : step.do))),
    );
    expect(records).toEqual([`${own}/A/api`, `${own}/A/apiserver`]);
  });

  test("has the names of a bastion while there is one", () => {
    const azure = new PaperDns();
    const { world } = settle(
      azure,
      observed({ bastion: { state: "known", values: ["20.0.0.9"] } }),
    );
    expect(azure.values(own, "A", "bastion")).toEqual(["20.0.0.9"]);
    expect(azure.values(own, "A", "bastion1")).toEqual(["20.0.0.9"]);
    settle(azure, { ...world, bastion: { state: "none" } });
    expect(azure.values(own, "A", "bastion")).toBeUndefined();
  });

  test("of another cluster of the same name is not used, and the message says whose it is", () => {
    const azure = new PaperDns().zone(own, theirClaim);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    expect(world.infrastructure?.condition?.message).toContain("cluster wc10");
    expect(azure.values(base, "NS", "wc1")).toBeUndefined();
  });

  test("attack: of a cluster in another namespace is not used, and that one is not named", () => {
    const azure = new PaperDns().zone(own, { "postern_user_mc.victim.wc1": "uid-2" });
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    expect(world.infrastructure?.condition?.message).toContain("a cluster in another namespace");
    expect(world.infrastructure?.condition?.message).not.toContain("victim");
  });

  test("that was claimed by the same cluster under another uid is its own", () => {
    const azure = new PaperDns().zone(own, { [`postern_user_${us.clusterID}`]: "uid-before" });
    expect(reported(settle(azure, observed()).world)).toBe("True GSDNSZonesCreated");
  });
});

describe("the delegation", () => {
  test("is written again when the name servers have changed", () => {
    const azure = new PaperDns()
      .zone(own, ourClaim)
      .record(base, "NS", "wc1", ["ns1-09.azure-dns.com."], ourMark, 3600);
    settle(azure, observed());
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
  });

  test("of somebody else to other servers is left, and reported", () => {
    const azure = new PaperDns().record(base, "NS", "wc1", ["ns.example.net."], {}, 3600);
    const { world } = settle(azure, observed());
    expect(azure.values(base, "NS", "wc1")).toEqual(["ns.example.net."]);
    expect(reported(world)).toBe(`False ${reasons.nameTaken}`);
    expect([...azure.things.keys()].sort()).toEqual(
      [base, `${base}/NS/wc1`].map((id) => id.toLowerCase()),
    );
  });

  test("of a zone that is another cluster's is left to that one, also if we had written it", () => {
    const azure = new PaperDns()
      .zone(own, theirClaim)
      .record(base, "NS", "wc1", servers, ourMark, 3600);
    settle(azure, observed());
    expect(azure.values(base, "NS", "wc1")).toBeUndefined();
    azure.record(base, "NS", "wc1", servers, theirMark, 3600);
    settle(azure, deleting());
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
  });

  test("is missed where there is no base zone, and the rest goes on", () => {
    const azure = new PaperDns();
    azure.things.delete(base.toLowerCase());
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe(`False ${reasons.baseZoneMissing}`);
    expect(azure.values(own, "A", "api")).toBeDefined();
  });
});

describe("the name of a cluster in the base zone", () => {
  const named = (name: string, over: Partial<Observed> = {}): Observed => ({
    ...observed(over),
    cluster: { ...observed().cluster, name },
    domains: { ...observed().domains, cluster: `${name}.example.com` },
  });
  /** What there is after everything that is planned was done. */
  const outcome = (azure: PaperDns, world: Observed) => {
    const before = JSON.stringify([...azure.things]);
    const { world: end } = settle(azure, world);
    return { reported: reported(end), unchanged: JSON.stringify([...azure.things]) === before };
  };

  test.each(["www", "vpn", "mail", "ns", "ns2", "autodiscover", "api", "console", "api.victim"])(
    "attack: a cluster called %s gets nothing",
    (name) => {
      expect(outcome(new PaperDns(), named(name))).toEqual({
        reported: `False ${reasons.nameReserved}`,
        unchanged: true,
      });
    },
  );

  test("attack: a cluster of a reserved name does not even get a finalizer", () => {
    const world = { ...named("www"), infrastructure: withInfrastructure({ hasFinalizer: false }) };
    const planned = plan({ ...world, infrastructure: world.infrastructure.infrastructure });
    expect(planned.steps).toEqual([]);
    expect(planned.conditions).toMatchObject([{ status: "False" }]);
    expect(planned.finalizer).toBeUndefined();
  });

  test.each([
    ["A", "wc1", {}],
    ["CNAME", "wc1", {}],
    ["TXT", "wc1", {}],
    ["A", "shop.wc1", {}],
    ["NS", "wc1", {}],
    ["NS", "wc1", theirMark],
  ])("attack: the record set %s %s of somebody else is not shadowed", (type, name, metadata) => {
    const azure = new PaperDns().record(base, type, name, ["ns.example.net."], metadata, 3600);
    expect(outcome(azure, observed())).toEqual({
      reported: `False ${reasons.nameTaken}`,
      unchanged: true,
    });
  });

  test("attack: a newer cluster of the same name gets nothing, not even in the management network", () => {
    expect(outcome(new PaperDns(), observed({ namesake: "older" }))).toEqual({
      reported: `False ${reasons.nameTaken}`,
      unchanged: true,
    });
  });

  test("that it has already is not taken from it", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    const now = settle(azure, { ...world, namesake: "older" });
    expect(reported(now.world)).toBe("True GSDNSZonesCreated");
  });

  test("attack: the zone of somebody else with the management cluster is not taken over", () => {
    const azure = new PaperDns()
      .zone(toWorkload)
      .link(toWorkload, "mc-vnet-link", managementNetwork)
      .record(toWorkload, "A", "api", ["10.9.9.9"]);
    // A zone of the tenant's own, which nobody marked, proves nothing either.
    azure.zone(own);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.tags(toWorkload)).toEqual({});
    expect(azure.values(toWorkload, "A", "api")).toEqual(["10.9.9.9"]);
  });

  test("attack: a zone with the management cluster that another cluster left is not taken over", () => {
    const tags = { postern_left_by: "mc.other.wc1/uid-9" };
    const azure = new PaperDns()
      .zone(toWorkload, tags)
      .record(toWorkload, "A", "theirs", ["10.9.9.9"]);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    expect(azure.tags(toWorkload)).toEqual(tags);
  });

  test("a zone that an earlier cluster of the same namespace and name left is used, and what is in it stays", () => {
    const left = { postern_left_by: `${us.clusterID}/earlier` };
    const azure = new PaperDns();
    for (const id of [toWorkload, toManagement])
      azure.zone(id, left).record(id, "A", "theirs", ["10.9.9.9"]);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    for (const id of [toWorkload, toManagement]) {
      expect(azure.values(id, "A", "theirs")).toEqual(["10.9.9.9"]);
      expect(azure.tags(id)).toEqual({ postern_left_by: `${us.clusterID}/${us.uid}` });
    }
  });

  test("a zone that nobody uses and that holds nothing any more is removed by whoever leaves it last", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    for (const { id } of azure.below(toManagement)) azure.things.delete(id.toLowerCase());
    azure.zone(toManagement, { postern_left_by: "mc.other.wc2/uid-9" });
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.has(toManagement)).toBe(false);
  });

  test("attack: the zone of somebody else in the group of a shared identity is not taken over", () => {
    const azure = new PaperDns()
      .zone(own)
      .record(own, "A", "api", ["10.9.9.9"])
      .record(base, "NS", "wc1", servers, {}, 3600);
    const other = { ...withInfrastructure({ is: "other" }), networks: {} };
    const { world } = settle(azure, other);
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.values(own, "A", "api")).toEqual(["10.9.9.9"]);
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
  });

  test("attack: a delegation is not marked before the cluster has shown that it may write the zone", () => {
    const azure = new PaperDns().zone(own).record(base, "NS", "wc1", servers, {}, 3600);
    const [first] = plan(azure.observed(observed())).steps.filter(
      (step) => "role" in step && step.role === "base",
    );
    expect(first).toBeUndefined();
  });
});

describe("tags that somebody replaced", () => {
  const replaced = { x: "y" };
  const everything = () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    azure.record(own, "TXT", "from-inside", []);
    for (const { id, ...each } of [...azure.things.values()])
      if (each.is === "zone" && id !== base) azure.zone(id, replaced);
      else if (each.is === "link")
        azure.set(id, { is: "link", link: { ...each.link, tags: replaced } });
    return { azure, world };
  };

  test("are restored, and nothing is made beside what is there", () => {
    const { azure, world } = everything();
    const before = [...azure.things.keys()].sort();
    const { world: now } = settle(azure, world);
    expect(reported(now)).toBe("True GSDNSZonesCreated");
    expect(azure.tags(own)).toEqual({ ...replaced, ...ourMark, ...ourClaim });
    for (const id of [toWorkload, toManagement]) {
      expect(azure.tags(id)).toEqual({ ...replaced, ...ourClaim });
      const [link] = azure.below(id).filter(({ is }) => is === "link");
      expect(azure.tags(link?.id ?? "")).toEqual({ ...replaced, ...ourClaim });
    }
    expect([...azure.things.keys()].sort()).toEqual(before);
  });

  test("do not keep anything from being deleted with the cluster", () => {
    const { azure, world } = everything();
    const end = settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
    expect(end.world.infrastructure?.hasFinalizer).toBe(false);
  });
});

describe("metadata that somebody removed from record sets", () => {
  const everything = () => {
    const azure = new PaperDns();
    const { world: now } = settle(azure, observed());
    const published = ["10.0.0.7", "10.1.0.6", "10.1.0.8"];
    const world = {
      ...now,
      infrastructure: now.infrastructure && { ...now.infrastructure, published },
    };
    for (const { id, ...each } of [...azure.things.values()])
      if (each.is === "record" && !id.toLowerCase().startsWith(`${base}/`.toLowerCase()))
        azure.set(id, { is: "record", record: { ...each.record, metadata: {} } });
    return { azure, world };
  };
  const recordsIn = (azure: PaperDns) =>
    [toWorkload, toManagement].flatMap((id) =>
      azure.below(id).flatMap((each) => (each.is === "record" ? [each.record] : [])),
    );

  test("are written again", () => {
    const { azure, world } = everything();
    settle(azure, world);
    for (const { metadata } of recordsIn(azure)) expect(metadata).toMatchObject(ourMark);
  });

  test("do not keep a zone from being deleted with the cluster", () => {
    const { azure, world } = everything();
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
  });

  test.each([
    ["A", "apiserver", "10.9.9.9"],
    ["TXT", "api", "hello"],
    ["A", "somebody", "10.0.0.7"],
  ])("is no reason to delete what somebody else wrote: %s %s %s", (type, name, value) => {
    const { azure, world } = everything();
    azure.record(toWorkload, type, name, [value]);
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.values(toWorkload, type, name)).toEqual([value]);
  });

  test("is not restored where another cluster uses the zone, too", () => {
    const { azure, world } = everything();
    azure.zone(toManagement, { ...azure.tags(toManagement), ...theirClaim });
    settle(azure, world);
    for (const each of azure.below(toManagement))
      if (each.is === "record") expect(each.record.metadata).toEqual({});
  });
});

describe("taking over from the operator before us", () => {
  const left = () =>
    new PaperDns()
      .zone(own)
      .record(own, "A", "api", ["10.9.9.9"])
      .record(own, "A", "apiserver", ["10.1.0.100"])
      .record(base, "NS", "wc1", servers, {}, 3600)
      .zone(toWorkload)
      .link(toWorkload, "mc-vnet-link", managementNetwork)
      .record(toWorkload, "A", "apiserver", ["10.0.0.7"])
      .record(toWorkload, "CNAME", "*", ["ingress.wc1.example.com"]);

  test("its zones, its link and its names become ours, and are put right", () => {
    const azure = left();
    const { world } = settle(azure, observed());
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.100"]);
    expect(azure.tags(own)).toMatchObject(ourClaim);
    expect(azure.tags(`${toWorkload}/virtualNetworkLinks/mc-vnet-link`)).toMatchObject(ourClaim);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
  });

  test("a wildcard that leads to itself goes", () => {
    const azure = left();
    settle(azure, observed());
    expect(azure.values(toWorkload, "CNAME", "*")).toBeUndefined();
  });

  test("a wildcard of the public zone stays where its target does not exist yet, and is deleted with the cluster", () => {
    const azure = left().record(own, "CNAME", "*", ["ingress.wc1.example.com"]);
    const { world } = settle(azure, observed());
    expect(azure.values(own, "CNAME", "*")).toEqual(["ingress.wc1.example.com"]);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    settle(azure, deleting());
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
  });

  test.each<[string, string[], number]>([
    ["another time to live", servers, 60],
    ["a name server too few", servers.slice(1), 3600],
    ["a name server too many", [...servers, "ns.elsewhere.example."], 3600],
  ])("a delegation with %s becomes ours, and is put right", (_, values, ttl) => {
    const azure = left().record(base, "NS", "wc1", values, {}, ttl);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    expect(azure.values(base, "NS", "wc1")).toEqual(servers);
    settle(azure, deleting());
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
  });

  test("attack: a delegation that leads elsewhere stays, and the name is taken", () => {
    const elsewhere = ["ns1.elsewhere.example."];
    const azure = left().record(base, "NS", "wc1", elsewhere, {}, 3600);
    const { world } = settle(azure, observed());
    expect(reported(world)).toBe("False NameTaken");
    expect(azure.values(base, "NS", "wc1")).toEqual(elsewhere);
  });

  test("ingress becomes ours while the workload cluster does not answer, and is put right later", () => {
    const other = { ...withInfrastructure({ is: "other" }), networks: {}, services: undefined };
    const azure = new PaperDns()
      .zone(own)
      .record(own, "A", "ingress", ["20.0.0.1"])
      .record(own, "A", "theirs", ["20.0.0.3"])
      .record(base, "NS", "wc1", servers, ourMark, 3600);
    const { world } = settle(azure, other);
    expect(azure.values(own, "A", "ingress")).toEqual(["20.0.0.1"]);
    settle(azure, { ...world, services: [{ name: "ingress", addresses: ["20.0.0.2"] }] });
    expect(azure.values(own, "A", "ingress")).toEqual(["20.0.0.2"]);
    expect(azure.values(own, "A", "theirs")).toEqual(["20.0.0.3"]);
  });

  test("a zone is not claimed while its old address cannot be judged", () => {
    const azure = left();
    const { world } = settle(azure, observed({ api: { state: "unknown" } }));
    expect(azure.tags(own)).toEqual({});
    settle(azure, { ...world, api: { state: "known", values: ["10.1.0.100"] } });
    expect(azure.tags(own)).toMatchObject(ourClaim);
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.100"]);
  });

  test("nothing of it is left when the cluster goes", () => {
    const azure = left();
    settle(azure, observed());
    settle(azure, deleting());
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
  });
});

describe("wildcards", () => {
  test("lead to ingress once somebody has written it in the same zone", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    expect(azure.values(own, "CNAME", "*")).toBeUndefined();
    azure.record(own, "A", "ingress", ["20.0.0.1"]);
    settle(azure, world);
    expect(azure.values(own, "CNAME", "*")).toEqual(["ingress.wc1.example.com"]);
    expect(azure.values(own, "A", "ingress")).toEqual(["20.0.0.1"]);
  });

  test("lead where the annotation says, if that is a name of the zone", () => {
    const azure = new PaperDns();
    const wildcards = { cluster: "api", management: "gateway" };
    settle(azure, observed({ wildcards }));
    expect(azure.values(own, "CNAME", "*")).toEqual(["api.wc1.example.com"]);
    expect(azure.values(toManagement, "CNAME", "*")).toEqual(["gateway.mc.example.com"]);
    expect(azure.values(toManagement, "A", "gateway")).toEqual(["10.1.0.8"]);
  });

  test("are never written in the zone of the management network without a target there", () => {
    const azure = new PaperDns();
    settle(azure, observed());
    expect(azure.values(toWorkload, "CNAME", "*")).toBeUndefined();
    expect(azure.values(toWorkload, "A", "api")).toEqual(["10.0.0.7"]);
  });

  test("have a target of any name in the zone of the workload network", () => {
    const azure = new PaperDns();
    settle(azure, observed({ wildcards: { cluster: undefined, management: "edge" } }));
    expect(azure.values(toManagement, "A", "edge")).toEqual(["10.1.0.8"]);
    expect(azure.values(toManagement, "CNAME", "*")).toEqual(["edge.mc.example.com"]);
  });

  test("are not written for an annotation that is no name, which is reported", () => {
    const azure = new PaperDns();
    const { world } = settle(
      azure,
      observed({ wildcards: { cluster: "no name", management: undefined } }),
    );
    expect(reported(world)).toBe(`False ${reasons.invalidAnnotation}`);
    expect(azure.values(own, "A", "api")).toBeDefined();
  });

  test("go when their target goes", () => {
    const azure = new PaperDns();
    const services = [{ name: "ingress", addresses: ["20.0.0.1"] }];
    const { world } = settle(azure, observed({ services }));
    expect(azure.values(own, "CNAME", "*")).toBeDefined();
    settle(azure, { ...world, services: [] });
    expect(azure.values(own, "A", "ingress")).toBeUndefined();
    expect(azure.values(own, "CNAME", "*")).toBeUndefined();
  });
});

describe("the names of Services on other infrastructure", () => {
  const other = () => ({ ...withInfrastructure({ is: "other" }), networks: {} });

  test("are written, and removed when nothing asks for them any more", () => {
    const azure = new PaperDns();
    const services = [
      { name: "ingress", addresses: ["20.0.0.1"] },
      { name: "edge", addresses: ["20.0.0.2"] },
    ];
    const { world } = settle(azure, { ...other(), services });
    expect(azure.values(own, "A", "edge")).toEqual(["20.0.0.2"]);
    settle(azure, { ...world, services: services.slice(0, 1) });
    expect(azure.values(own, "A", "edge")).toBeUndefined();
  });

  test("stay as they are while the cluster does not answer, and api is written all the same", () => {
    const azure = new PaperDns();
    const services = [{ name: "ingress", addresses: ["20.0.0.1"] }];
    const { world } = settle(azure, { ...other(), services });
    const { planned } = settle(azure, {
      ...world,
      services: undefined,
      api: { state: "known", values: ["10.1.0.5"] },
    });
    expect(azure.values(own, "A", "ingress")).toEqual(["20.0.0.1"]);
    expect(azure.values(own, "CNAME", "*")).toBeDefined();
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.5"]);
    expect(planned.requeue).toEqual({ afterMs: 60_000 });
  });
});

describe("the private zones", () => {
  test("answer in both networks, without registration", () => {
    const azure = new PaperDns();
    settle(azure, observed());
    expect(azure.values(toWorkload, "A", "apiserver")).toEqual(["10.0.0.7"]);
    expect(azure.values(toManagement, "A", "ingress")).toEqual(["10.1.0.8"]);
    const links = azure.below(toWorkload).filter(({ is }) => is === "link");
    expect(links).toMatchObject([
      {
        id: `${toWorkload}/virtualNetworkLinks/mc-vnet-link`,
        link: {
          properties: { virtualNetwork: { id: managementNetwork }, registrationEnabled: false },
        },
      },
    ]);
    expect(azure.has(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toBe(true);
  });

  test("go when the endpoint is no longer approved", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    settle(azure, { ...world, toWorkload: { state: "none" } });
    expect(azure.has(toWorkload)).toBe(false);
    expect(azure.has(toManagement)).toBe(true);
  });

  test("stay while the endpoint is being changed", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    settle(azure, { ...world, toWorkload: { state: "unknown" } });
    expect(azure.values(toWorkload, "A", "apiserver")).toEqual(["10.0.0.7"]);
  });

  test("use a link of somebody else to the same network, and leave it behind", () => {
    const azure = new PaperDns()
      .zone(toWorkload, ourClaim)
      .link(toWorkload, "by-hand", managementNetwork, { note: "mine" });
    const { world } = settle(azure, observed());
    expect(azure.below(toWorkload).filter(({ is }) => is === "link")).toHaveLength(1);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    settle(azure, deleting());
    expect(azure.tags(`${toWorkload}/virtualNetworkLinks/by-hand`)).toEqual({ note: "mine" });
  });

  test("are linked under another name where ours leads to another network", () => {
    const azure = new PaperDns()
      .zone(toManagement, theirClaim)
      .link(toManagement, "wc1-vnet-link", managementNetwork, theirClaim);
    settle(azure, observed());
    expect(azure.tags(`${toManagement}/virtualNetworkLinks/wc1-wc1-vnet-vnet-link`)).toEqual(
      ourClaim,
    );
    expect(azure.tags(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toEqual(theirClaim);
  });

  test("are not made where a zone of CAPZ answers in the network already", () => {
    const azure = new PaperDns();
    const { world } = settle(
      azure,
      observed({ served: { toWorkload: true, toManagement: false } }),
    );
    expect(azure.has(toWorkload)).toBe(false);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
  });

  test("of CAPZ in the same place are used if they are linked, and never changed", () => {
    const capz = { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1": "owned" };
    const azure = new PaperDns()
      .zone(toWorkload, capz)
      .link(toWorkload, "mc-vnet-link", managementNetwork, capz)
      .record(toWorkload, "A", "apiserver", ["10.1.0.100"]);
    const { world } = settle(azure, observed());
    expect(azure.tags(toWorkload)).toEqual(capz);
    expect(azure.values(toWorkload, "A", "apiserver")).toEqual(["10.1.0.100"]);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
  });

  test("are shared by the clusters of one resource group, and stay for the others", () => {
    const azure = new PaperDns()
      .zone(toManagement, theirClaim)
      .link(toManagement, "wc1-vnet-link", workloadNetwork, theirClaim)
      .record(toManagement, "A", "ingress", ["10.1.0.9"], theirMark);
    const { world } = settle(azure, observed());
    expect(azure.tags(toManagement)).toEqual({ ...theirClaim, ...ourClaim });
    expect(azure.tags(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toEqual({
      ...theirClaim,
      ...ourClaim,
    });
    expect(azure.values(toManagement, "A", "ingress")).toEqual(["10.1.0.9"]);
    expect(reported(world)).toBe("True GSDNSZonesCreated");
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.tags(toManagement)).toEqual(theirClaim);
    expect(azure.tags(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toEqual(theirClaim);
    expect(azure.values(toManagement, "A", "gateway")).toBeUndefined();
  });

  describe("that Azure failed to write", () => {
    const linkId = `${toWorkload}/virtualNetworkLinks/mc-vnet-link`;
    const failed = { provisioningState: "Failed" } as const;

    /** A cluster whose names are ready, before something in Azure fails. */
    const settled = () => {
      const azure = new PaperDns();
      const { world } = settle(azure, observed());
      expect(reported(world)).toBe("True GSDNSZonesCreated");
      return { azure, world };
    };

    test.each(["Failed", "Canceled"])("a %s link of ours is written again", (provisioningState) => {
      const { azure, world } = settled();
      azure.link(toWorkload, "mc-vnet-link", managementNetwork, ourClaim, { provisioningState });
      const { etag } = azure.below(toWorkload).find(({ is }) => is === "link") ?? {};
      const planned = plan(azure.observed(world));
      expect(planned.steps).toMatchObject([
        { do: "update network link", id: linkId, ifMatch: etag },
      ]);
      expect(planned.conditions).toMatchObject([{ status: "False", reason: "ResourceFailed" }]);
      expect(reported(settle(azure, world).world)).toBe("True GSDNSZonesCreated");
      expect(azure.tags(linkId)).toEqual(ourClaim);
    });

    test("a failed link of somebody else is reported and left alone", () => {
      const azure = new PaperDns()
        .zone(toWorkload, ourClaim)
        .link(toWorkload, "by-hand", managementNetwork, {}, failed);
      const { world } = settle(azure, observed());
      expect(reported(world)).toBe("False ResourceFailed");
      expect(world.infrastructure?.condition?.message).toContain("by-hand");
      expect(azure.below(toWorkload).find(({ is }) => is === "link")).toMatchObject({
        link: { properties: failed },
      });
    });

    test("a failed link that another cluster claims is claimed, which repairs it", () => {
      const azure = new PaperDns()
        .zone(toManagement, { ...theirClaim, ...ourClaim })
        .link(toManagement, "wc1-vnet-link", workloadNetwork, theirClaim, failed);
      expect(plan(azure.observed(observed())).conditions).toMatchObject([
        { status: "False", reason: "ResourceFailed" },
      ]);
      expect(reported(settle(azure, observed()).world)).toBe("True GSDNSZonesCreated");
      expect(azure.tags(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toEqual({
        ...theirClaim,
        ...ourClaim,
      });
    });

    test("a link that does not resolve yet is waited for", () => {
      const { azure, world } = settled();
      azure.link(toWorkload, "mc-vnet-link", managementNetwork, ourClaim, {
        provisioningState: "Succeeded",
        virtualNetworkLinkState: "InProgress",
      });
      const { world: waiting, planned } = settle(azure, world);
      expect(reported(waiting)).toBe("False PrivateNamesPending");
      expect(planned.requeue).toEqual({ afterMs: 10_000 });
      expect(planned.events).toEqual([]);
      azure.link(toWorkload, "mc-vnet-link", managementNetwork, ourClaim);
      expect(reported(settle(azure, waiting).world)).toBe("True GSDNSZonesCreated");
    });

    test("of a new cluster nothing is reported while its link does not resolve yet", () => {
      const azure = new PaperDns()
        .zone(toWorkload, ourClaim)
        .link(toWorkload, "mc-vnet-link", managementNetwork, ourClaim, {
          virtualNetworkLinkState: "InProgress",
        });
      expect(settle(azure, observed()).world.infrastructure?.condition).toBeUndefined();
    });

    test("a failed zone of ours is written again with the same tags", () => {
      const { azure, world } = settled();
      azure.set(toWorkload, { is: "zone", tags: { ...ourClaim, note: "mine" }, ...failed });
      const planned = plan(azure.observed(world));
      expect(planned.steps).toMatchObject([{ do: "update DNS zone", id: toWorkload }]);
      expect(planned.conditions).toMatchObject([{ status: "False", reason: "ResourceFailed" }]);
      expect(reported(settle(azure, world).world)).toBe("True GSDNSZonesCreated");
      expect(azure.tags(toWorkload)).toEqual({ ...ourClaim, note: "mine" });
    });

    test.each([
      ["zone", failed, {}],
      ["link", {}, failed],
    ])("a failed %s of CAPZ is reported and left alone", (_what, zoneState, linkState) => {
      const capz = { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1": "owned" };
      const azure = new PaperDns();
      azure.set(toWorkload, { is: "zone", tags: capz, ...zoneState });
      azure.link(toWorkload, "mc-vnet-link", managementNetwork, capz, linkState);
      const before = azure.below(toWorkload);
      expect(reported(settle(azure, observed()).world)).toBe("False ResourceFailed");
      expect(azure.below(toWorkload)).toEqual(before);
    });

    test("a failed link of a CAPZ zone that serves the network is reported", () => {
      const id = `${otherGroup}/providers/Microsoft.Network/privateDnsZones/wc1.example.com/virtualNetworkLinks/capz`;
      const found = { properties: { virtualNetwork: { id: managementNetwork }, ...failed } };
      const served = { toWorkload: true, toManagement: false };
      const servedBy = { toWorkload: { id: parseResourceId(id), found } };
      const { world } = settle(new PaperDns(), observed({ served, servedBy }));
      expect(reported(world)).toBe("False ResourceFailed");
    });
  });

  describe("shared with a cluster in another network", () => {
    const link = `${toManagement}/virtualNetworkLinks/wc1-wc1-vnet-vnet-link`;
    const shared = () =>
      new PaperDns()
        .zone(toManagement, theirClaim)
        .link(toManagement, "wc1-vnet-link", otherNetwork, theirClaim)
        .record(toManagement, "A", "ingress", ["10.1.0.9"], theirMark);

    test("are not linked to ours, whose names would lead into theirs, and that is reported", () => {
      const azure = shared();
      const { world } = settle(azure, observed());
      expect(reported(world)).toBe(`False ${reasons.zoneOfAnotherNetwork}`);
      expect(world.infrastructure?.condition?.message).toContain("cluster wc10");
      expect(azure.has(link)).toBe(false);
      expect(azure.values(toManagement, "A", "ingress")).toEqual(["10.1.0.9"]);
    });

    test("are taken off ours where it was linked before that was known", () => {
      const azure = shared().link(
        toManagement,
        "wc1-wc1-vnet-vnet-link",
        workloadNetwork,
        ourClaim,
      );
      expect(reported(settle(azure, observed()).world)).toBe(
        `False ${reasons.zoneOfAnotherNetwork}`,
      );
      expect(azure.has(link)).toBe(false);
      expect(azure.has(`${toManagement}/virtualNetworkLinks/wc1-vnet-link`)).toBe(true);
    });

    test("are used when its names lead to the same address", () => {
      const azure = shared().record(toManagement, "A", "ingress", ["10.1.0.8"], theirMark);
      expect(reported(settle(azure, observed()).world)).toBe("True GSDNSZonesCreated");
      expect(azure.tags(link)).toEqual(ourClaim);
    });

    test("become ours when the other has gone", () => {
      const azure = shared();
      const { world } = settle(azure, observed());
      settle(azure, { ...deleting(), us: them });
      expect(reported(settle(azure, world).world)).toBe("True GSDNSZonesCreated");
      expect(azure.values(toManagement, "A", "ingress")).toEqual(["10.1.0.8"]);
    });

    test("are not said to be ready while it is not known in which network the other is", () => {
      const azure = new PaperDns()
        .zone(toManagement, theirClaim)
        .record(toManagement, "A", "ingress", ["10.1.0.9"], theirMark);
      const { world, planned } = settle(azure, observed());
      expect(world.infrastructure?.condition?.status).not.toBe("True");
      expect(planned.requeue).toEqual({ afterMs: 30_000 });
    });

    test("are used where somebody has linked the network of both by hand", () => {
      const azure = new PaperDns()
        .zone(toManagement, theirClaim)
        .link(toManagement, "by-hand", workloadNetwork)
        .record(toManagement, "A", "ingress", ["10.1.0.9"], theirMark);
      expect(reported(settle(azure, observed()).world)).toBe("True GSDNSZonesCreated");
    });
  });

  test("lead by the name of each generation to its own endpoint", () => {
    const azure = new PaperDns();
    const both = {
      gateway: { state: "known", values: ["10.1.0.8"] },
      ingress: { state: "known", values: ["10.1.0.6"] },
    } as const;
    settle(azure, observed({ toManagement: both }));
    expect(azure.values(toManagement, "A", "ingress")).toEqual(["10.1.0.6"]);
    expect(azure.values(toManagement, "A", "gateway")).toEqual(["10.1.0.8"]);
  });
});

describe("writes", () => {
  test("a time to live that was changed is put right, only if nobody has changed the record since", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    azure.record(own, "A", "api", ["10.1.0.100"], ourMark, 60);
    const etag = azure.things.get(`${own}/A/api`.toLowerCase())?.etag;
    const { steps } = plan(azure.observed(world));
    expect(steps).toMatchObject([
      { id: `${own}/A/api`, ifMatch: etag, records: { ttlSeconds: 300 } },
    ]);
  });

  test("what is not there is made only if nobody has made it meanwhile", () => {
    const made = plan(new PaperDns().observed(observed())).steps.filter(
      (step) => step.do === "create DNS zone",
    );
    expect(made).toHaveLength(3);
    for (const step of made) expect(step).toMatchObject({ ifNoneMatch: "*" });
  });

  test("a zone is claimed only after everything in it that becomes ours is marked", () => {
    const azure = new PaperDns().zone(own).record(own, "A", "api", ["10.9.9.9"]);
    const { steps } = plan(azure.observed(observed()));
    expect(steps.filter((step) => "id" in step && step.id === own)).toEqual([]);
    expect(steps.map((step) => step.do)).toContain("create record");
  });

  test("a wildcard goes together with its target, and not after it", () => {
    const azure = new PaperDns();
    const services = [{ name: "ingress", addresses: ["20.0.0.1"] }];
    const { world } = settle(azure, observed({ services }));
    const { steps } = plan(azure.observed({ ...world, services: [] }));
    expect(steps.map((step) => step.do)).toEqual(["delete record", "delete record"]);
  });

  test("a zone waits for its resource group", () => {
    const observation = { state: "absent" } as const;
    const group = {
      id: workloadGroup,
      observation,
      tags: {},
      location: "westeurope",
      mayAdopt: false,
    };
    const world = { ...withInfrastructure({ is: "other" }), networks: {}, group };
    const azure = new PaperDns([
      { role: "public", id: own },
      { role: "base", id: base },
    ]);
    expect(plan(azure.observed(world)).steps.map((step) => step.do)).toEqual([
      "create resource group",
    ]);
  });
});

describe("names in the way", () => {
  test("a record set of somebody else in our zone is left, reported, and holds up nothing else", () => {
    const azure = new PaperDns()
      .zone(own, ourClaim)
      .record(own, "A", "api", ["192.0.2.1"], { note: "mine" });
    const { world } = settle(azure, observed());
    expect(azure.values(own, "A", "api")).toEqual(["192.0.2.1"]);
    expect(azure.values(own, "A", "apiserver")).toEqual(["10.1.0.100"]);
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
  });

  test("a name of ours of another type makes way", () => {
    const azure = new PaperDns()
      .zone(own, ourClaim)
      .record(own, "CNAME", "api", ["x.example.com"], ourMark);
    const { world } = settle(azure, observed());
    expect(azure.values(own, "A", "api")).toEqual(["10.1.0.100"]);
    expect(azure.values(own, "CNAME", "api")).toBeUndefined();
    expect(reported(world)).toBe("True GSDNSZonesCreated");
  });
});

describe("the resource group of other infrastructure", () => {
  const group = {
    id: workloadGroup,
    observation: { state: "absent" },
    tags: { team: "a" },
    location: "westeurope",
    mayAdopt: false,
  } as const;
  const other = () => ({ ...withInfrastructure({ is: "other" }), networks: {}, group });

  test("is made with its tags before the zone, and is left when the cluster has gone", () => {
    const azure = new PaperDns();
    const done: string[] = [];
    const { world } = settle(azure, other(), ({ steps }) =>
      done.push(...steps.map((step) => step.do)),
    );
    expect(done.slice(0, 2)).toEqual(["create resource group", "create DNS zone"]);
    expect(azure.tags(workloadGroup)).toEqual({ team: "a", ...ourMark });
    const deleting = { ...world, cluster: { ...world.cluster, deleting: true } };
    const events: unknown[] = [];
    settle(azure, deleting, () => events.push(...(plan(azure.observed(deleting)).events ?? [])));
    expect([...azure.things.keys()].sort()).toEqual(
      [base.toLowerCase(), workloadGroup.toLowerCase()].sort(),
    );
    expect(events).toContainEqual(expect.objectContaining({ reason: "ResourceGroupLeft" }));
  });

  test("keeps the tags of others, and gets those that are missing", () => {
    const azure = new PaperDns();
    azure.set(workloadGroup, { is: "group", tags: { ...ourMark, theirs: "x" } });
    settle(azure, other());
    expect(azure.tags(workloadGroup)).toEqual({ ...ourMark, theirs: "x", team: "a" });
  });

  test("that was there before and may be used is neither tagged nor deleted, and the zone in it goes", () => {
    const azure = new PaperDns();
    azure.set(workloadGroup, { is: "group", tags: {} });
    const { world } = settle(azure, { ...other(), group: { ...group, mayAdopt: true } });
    expect(azure.tags(workloadGroup)).toEqual({});
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect([...azure.things.keys()].sort()).toEqual(
      [base.toLowerCase(), workloadGroup.toLowerCase()].sort(),
    );
  });

  test.each([
    ["that nobody marked", {}],
    ["of another cluster", { postern_owner: "mc.blue.wc1/uid" }],
  ])("attack: a cluster is called like a resource group %s", (_name, tags) => {
    const azure = new PaperDns();
    azure.set(workloadGroup, { is: "group", tags });
    const { world } = settle(azure, other());
    expect(reported(world)).toBe(`False ${reasons.ownedByAnother}`);
    expect(azure.tags(workloadGroup)).toEqual(tags);
    expect([...azure.things.keys()].sort()).toEqual(
      [base.toLowerCase(), workloadGroup.toLowerCase()].sort(),
    );
    const end = settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(end.world.infrastructure?.hasFinalizer).toBe(false);
  });

  test("that lost its owner tag still uses the zone of the cluster", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, other());
    azure.set(workloadGroup, { is: "group", tags: {} });
    expect(reported(settle(azure, world).world)).toBe(`True ${reasons.created}`);
  });

  test("cannot be made in a region that nobody knows, which is reported", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, { ...other(), group: { ...group, location: undefined } });
    expect(reported(world)).toBe(`False ${reasons.placeUnknown}`);
  });
});

describe("when a cluster goes", () => {
  test("everything goes, and then the object is let go", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    const end = settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect([...azure.things.keys()]).toEqual([base.toLowerCase()]);
    expect(end.world.infrastructure?.hasFinalizer).toBe(false);
    expect(end.planned.requeue).toBe("never");
  });

  test("the zone that we made goes with what was put into it from inside the cluster", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    azure.record(own, "TXT", "ingress", []);
    settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.has(own)).toBe(false);
  });

  test("a zone of which the network has gone already does not hold up the rest", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    for (const { id } of azure.below(workloadGroup)) azure.things.delete(id.toLowerCase());
    const end = settle(azure, { ...world, cluster: { ...world.cluster, deleting: true } });
    expect(azure.values(base, "NS", "wc1")).toBeUndefined();
    expect(end.world.infrastructure?.hasFinalizer).toBe(false);
  });

  test("the delegation goes although the infrastructure object has gone first", () => {
    const azure = new PaperDns();
    settle(azure, observed());
    const left = new PaperDns([
      { role: "base", id: base },
      { role: "toWorkload", id: toWorkload },
    ]);
    for (const [id, thing] of azure.things) left.things.set(id, thing);
    settle(left, { ...deleting(), infrastructure: undefined });
    expect(left.values(base, "NS", "wc1")).toBeUndefined();
    expect(left.has(toWorkload)).toBe(false);
  });

  test("the object keeps its finalizer until a zone that cannot be read has been looked at", () => {
    const azure = new PaperDns();
    settle(azure, observed());
    const failure = {
      reason: "AuthorizationFailed",
      message: "no · really · ask",
      requeueAfterMs: 600_000,
    };
    const unread = { on: "zone", failure } as const;
    const observation = azure.observed(deleting());
    const planned = plan({
      ...observation,
      zones: observation.zones.map((zone) =>
        zone.role === "toManagement" ? { ...zone, unread } : zone,
      ),
    });
    expect(planned.steps.map((step) => step.do)).not.toContain("remove finalizer");
    expect(planned.conditions).toMatchObject([{ reason: reasons.cleanupFailed }]);
    expect(planned.steps.map((step) => step.do)).toContain("delete record");
  });

  test("the object keeps its finalizer while something is still going", () => {
    const azure = new PaperDns().zone(toWorkload, ourClaim);
    const observation = azure.observed(deleting());
    const changing = { state: "changing", retryAfterMs: 7_000 } as const;
    const zones = observation.zones.map((zone) =>
      zone.role === "toWorkload" ? { ...zone, observation: changing } : zone,
    );
    const planned = plan({ ...observation, zones });
    expect(planned).toMatchObject({ steps: [], requeue: { afterMs: 7_000 } });
  });

  test("a zone that another has come to use is left to it without our tags", () => {
    const azure = new PaperDns().zone(own, { ...ourMark, ...ourClaim, ...theirClaim });
    settle(azure, deleting());
    expect(azure.tags(own)).toEqual(theirClaim);
  });

  test("an object without our finalizer is left alone", () => {
    const world = { ...withInfrastructure({ hasFinalizer: false, deleting: true }) };
    expect(plan(new PaperDns().observed(world))).toMatchObject({ steps: [], requeue: "never" });
  });
});

describe("what is reported", () => {
  const none = { toWorkload: { state: "none" }, toManagement: {} } as const;

  test.each(["toWorkload", "toManagement"] as const)(
    "is ready when the endpoint %s has come and its names are there, and not when it has gone",
    (role) => {
      const azure = new PaperDns();
      const first = settle(azure, observed({ [role]: none[role] }));
      expect(azure.values(own, "A", "api")).toBeDefined();
      expect(reported(first.world)).toBe("undefined undefined");
      expect(first.planned).toMatchObject({ events: [], requeue: "drift" });
      const come = { ...first.world, [role]: observed()[role] };
      expect(plan(azure.observed(come)).steps.map((step) => step.do)).toEqual(["create DNS zone"]);
      const { world } = settle(azure, come, ({ conditions }) => {
        if (conditions.some(({ status }) => status === "True"))
          expect(azure.values(zoneIds[role], "A", nameIn[role])).toBeDefined();
      });
      expect(reported(world)).toBe("True GSDNSZonesCreated");
      const { world: after } = settle(azure, { ...world, [role]: none[role] });
      expect(reported(after)).toBe(`False ${reasons.privateNamesPending}`);
      expect(azure.has(zoneIds[role])).toBe(false);
    },
  );

  test("is not ready while an endpoint that has no names yet is being made", () => {
    const { world } = settle(new PaperDns(), observed({ toWorkload: { state: "unknown" } }));
    expect(reported(world)).toBe("undefined undefined");
  });

  test("is ready without private names where nobody asks for an endpoint", () => {
    const expected = { toWorkload: false, toManagement: false };
    expect(reported(settle(new PaperDns(), observed({ ...none, expected })).world)).toBe(
      "True GSDNSZonesCreated",
    );
  });

  test("a step that fails while the cluster goes says what else can be done", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    const cluster = { ...world.cluster, deleting: true };
    const { steps } = plan(azure.observed({ ...world, cluster }));
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps)
      expect(step).toMatchObject({
        failsAs: reasons.cleanupFailed,
        remedy: expect.stringContaining("finalizer"),
      });
  });

  test("a condition that says the same is not written again", () => {
    const azure = new PaperDns();
    const { world } = settle(azure, observed());
    expect(plan(azure.observed(world)).steps).toEqual([]);
  });
});
