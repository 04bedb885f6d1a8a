import { idKey } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import {
  cluster,
  clusterID,
  endpointOf,
  guestGroup,
  ids,
  link,
  managementGroup,
  network,
  service,
  zoneOf,
} from "../../../../test/cli/one-world.ts";
import { computedNames } from "../view/computed-names.ts";
import { unreadIn } from "../view/gather.ts";
import { type Known, orphansIn } from "../view/orphans.ts";
import { orphansByName } from "../view/orphans-by-name.ts";
import type { AzureWorld, KubeWorld } from "../view/world.ts";
import { deletableByName, deletableOrphans } from "./run-orphans.ts";

const gone = "aaaaaaaa-2c1b-4c55-9d0a-0c8f5d3a7e11";
const noKube: KubeWorld = { hostedClusters: [], controlPlanes: [], links: [], azureClusters: [] };
const noAzure: AzureWorld = {
  networks: [],
  loadBalancers: [],
  linkServices: [],
  endpoints: [],
  interfaces: [],
  zones: [],
};

function known(kube: Partial<KubeWorld> = {}): Known {
  return {
    uids: new Set(["u-link"]),
    places: new Set(),
    clusterIDs: new Set([clusterID]),
    named: new Set(),
    computed: computedNames({ ...noKube, ...kube }),
  };
}
const one = known({ hostedClusters: [cluster({ infraID: "one-x1" })], links: [link()] });

const find = (azure: Partial<AzureWorld>, about = one) =>
  orphansByName({ azure: { ...noAzure, ...azure }, unread: [] }, about).map(
    ({ what, id }) => `${what} ${id.slice(id.lastIndexOf("/") + 1)}`,
  );
const services = (name: string, tags: Record<string, string> = {}) => ({
  linkServices: [{ ...service(), id: `${managementGroup}/privateLinkServices/${name}`, tags }],
});
const endpoints = (name: string, to: string, tags: Record<string, string> = {}) => ({
  endpoints: endpointOf({
    id: `${guestGroup}/privateEndpoints/${name}`,
    subnet: ids.workers,
    address: "1",
    to,
  }).endpoints.map((each) => ({ ...each, tags })),
});

describe("a link service whose tags were replaced", () => {
  test.each([`pls-${gone}`, `pls-oauth-openshift-${gone}`, "mc-gateway-privatelink"])(
    "is found as %s where no object has that name",
    (name) => {
      const world = { azure: { ...noAzure, ...services(name, { team: "red" }) }, unread: [] };
      expect(orphansIn(world, one)).toEqual([]);
      expect(find(services(name, { team: "red" }))).toEqual([`link service ${name}`]);
    },
  );

  test.each([
    ["that has the name of a link of this cluster", `pls-${clusterID.toUpperCase()}`, {}],
    ["that has a name of somebody else", "pls-shop", {}],
    ["that an owner tag names", `pls-${gone}`, { postern_owner: `${gone}/u` }],
    ["that HyperShift's tag names", `pls-${gone}`, { "kubernetes.io_cluster_blue": "owned" }],
    [
      "that CAPZ's tag names",
      "mc-gateway-privatelink",
      { "sigs.k8s.io_cluster-api-provider-azure_cluster_mc": "owned" },
    ],
  ])("is no orphan by name where it is one %s", (_what, name, tags) => {
    expect(find(services(name, tags))).toEqual([]);
  });

  test("is no orphan where the status of a link names it", () => {
    const id = `${managementGroup}/privateLinkServices/pls-${gone}`;
    expect(find(services(`pls-${gone}`), { ...one, named: new Set([idKey(id)]) })).toEqual([]);
  });
});

describe("an endpoint whose tags were replaced", () => {
  const toGone = `${managementGroup}/privateLinkServices/pls-${gone}`;
  test.each([
    ["private-router-pe", toGone],
    ["private-router-pe", "somewhere.guid.westeurope.azure.privatelinkservice"],
    [`private-router-pe-${gone}`, toGone],
    ["any-pe", `pls-${gone}.guid.westeurope.azure.privatelinkservice`],
    ["blue-to-mc-gateway-privateendpoint", `${managementGroup}/privateLinkServices/mc`],
  ])("is found as %s", (name, to) => {
    expect(find(endpoints(name, to), known())).toEqual([`endpoint ${name}`]);
  });

  test.each([
    ["the endpoint of a link of this cluster", "private-router-pe", toGone],
    ["its longer name", `private-router-pe-${clusterID}`, toGone],
    ["an endpoint of somebody's shop", "shop-pe", `${managementGroup}/privateLinkServices/shop`],
    [
      "the endpoint of a storage account",
      "logs-privateendpoint",
      "/subscriptions/g/resourceGroups/one/providers/Microsoft.Storage/storageAccounts/logs",
    ],
  ])("is no orphan by name where it is %s", (_what, name, to) => {
    expect(find(endpoints(name, to))).toEqual([]);
  });

  test("is found where the link of this cluster has its own in another resource group", () => {
    const moved = known({
      hostedClusters: [cluster()],
      links: [link({ spec: { resourceGroupName: "another" } })],
    });
    expect(find(endpoints("private-router-pe", toGone), moved)).toEqual([
      "endpoint private-router-pe",
    ]);
  });
});

describe("the zone of a hosted cluster that is gone", () => {
  const zoneId = `${guestGroup}/privateDnsZones/old.hypershift.local`;
  const zone = (records: Record<string, string>, linkName = "private-router-vnet-link") => {
    const made = zoneOf(zoneId, [ids.guest], records);
    const links = made.links.map((each) => ({
      ...each,
      id: `${zoneId}/virtualNetworkLinks/${linkName}`,
    }));
    return { zones: [{ ...made, links }] };
  };

  test("is found with its links, which are deleted first", () => {
    expect(find(zone({ api: "10.0.0.1", "*.apps": "10.0.0.1" }))).toEqual([
      "zone link private-router-vnet-link",
      "zone old.hypershift.local",
    ]);
  });

  test("is no orphan where it holds a record of somebody else", () => {
    expect(find(zone({ api: "10.0.0.1", shop: "10.0.0.2" }))).toEqual([]);
  });

  test("is no orphan where somebody else linked it", () => {
    expect(find(zone({ api: "10.0.0.1" }, "by-hand"))).toEqual([]);
  });

  test("is no orphan where a record in it belongs to an object that exists", () => {
    const { zones } = zone({ api: "10.0.0.1" });
    const owned = zones.map((each) => ({
      ...each,
      records: each.records.map((record) => ({
        ...record,
        properties: {
          ...record.properties,
          metadata: { postern_owner: `${clusterID}/u-link` },
        },
      })),
    }));
    expect(find({ zones: owned })).toEqual([]);
  });

  test("is no orphan where what is in it cannot be listed", () => {
    const azure = { ...noAzure, ...zone({}) };
    const unread = [unreadIn("records", zoneId, "forbidden")];
    expect(orphansByName({ azure, unread }, one)).toEqual([]);
  });

  test("is no orphan while a cluster of its name is in its group", () => {
    expect(find({ zones: [zoneOf(ids.zone, [], { api: "10.0.0.1" })] })).toEqual([]);
  });

  test("is deleted only where it and its links are named", () => {
    const world = { azure: { ...noAzure, ...zone({ api: "10.0.0.1" }) }, unread: [] };
    const found = { orphans: orphansIn(world, one), byName: orphansByName(world, one) };
    const selected = deletableOrphans(found.orphans);
    const links = `${zoneId}/virtualNetworkLinks/private-router-vnet-link`;
    expect(deletableByName(found, selected)).toEqual([]);
    expect(deletableByName(found, selected, [zoneId])).toEqual([]);
    const both = deletableByName(found, selected, [zoneId.toUpperCase(), links]);
    expect(both.map(({ id }) => id)).toEqual([links, zoneId]);
    expect(() => deletableByName(found, selected, [ids.service])).toThrow(
      "not among the orphans found by name",
    );
  });
});

describe("a NAT subnet", () => {
  const subnet = (name: string, used = 0) => {
    const id = `${ids.home}/subnets/${name}`;
    return {
      id,
      networks: [network(ids.home, "10.0.0.0/16", [{ id, prefix: "10.0.9.0/24", used }])],
    };
  };
  const usedBy = (name: string, id: string, tags = {}) => ({
    linkServices: services(name, tags).linkServices.map((each) => ({
      ...each,
      properties: { ...each.properties, ipConfigurations: [{ properties: { subnet: { id } } }] },
    })) as AzureWorld["linkServices"],
  });

  test.each(["postern-nat-0a1b2c3d-0", "old-x1-pls-nat"])(
    "%s that nobody uses is found",
    (name) => {
      expect(find({ networks: subnet(name).networks }, known())).toEqual([`NAT subnet ${name}`]);
    },
  );

  test("that links share is no orphan while there is a link: it may be the next one to use", () => {
    expect(find({ networks: subnet("postern-nat-0a1b2c3d-0").networks })).toEqual([]);
  });

  test.each(["one-x1-pls-nat", "workers", "postern-nat-mine-0", "postern-nat-0a1b2c3d-x"])(
    "%s is no orphan",
    (name) => {
      expect(find({ networks: subnet(name).networks })).toEqual([]);
    },
  );

  test("that only an orphan uses is found after it", () => {
    const { id, networks } = subnet("postern-nat-0a1b2c3d-0", 1);
    expect(find({ networks, ...usedBy(`pls-${gone}`, id) }, known())).toEqual([
      `link service pls-${gone}`,
      "NAT subnet postern-nat-0a1b2c3d-0",
    ]);
  });

  test("that somebody else uses is no orphan", () => {
    const { id, networks } = subnet("postern-nat-0a1b2c3d-0", 1);
    expect(find({ networks })).toEqual([]);
    expect(find({ networks, ...usedBy("pls-shop", id) })).toEqual([]);
  });
});
