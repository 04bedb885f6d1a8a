import { tenantPolicy } from "@postern/core/tenant-policy.ts";
import { describe, expect, test } from "vitest";
import { clusterAnnotation, endpointFinalizer } from "../../names.ts";
import { belongingOf, choicesOf, clusterFacts, type Sources } from "./facts.ts";

const none = { byIndex: () => [] };

interface Plane {
  name: string;
  cluster?: string;
  deletion?: boolean;
}

/** What a link that lost its owner references belongs to, in a namespace with these control planes. */
function belonging(planes: Plane[], { hasFinalizer = true, cluster = "clusters/one" } = {}) {
  const all = planes.map(({ name, cluster: of = "clusters/one", deletion }) => ({
    metadata: {
      namespace: "n",
      name,
      uid: `uid-${name}`,
      annotations: { [clusterAnnotation]: of },
      ...(deletion && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { platform: { type: "Azure" } },
  }));
  const sources = {
    controlPlanes: {
      byIndex: () => all,
      get: (key: string) => all.find(({ metadata }) => `n/${metadata.name}` === key),
    },
    registered: { controlPlanes: { byIndex: () => all } },
    clusters: { get: () => undefined },
  } as unknown as Sources;
  const link = {
    metadata: {
      namespace: "n",
      name: "private-router",
      uid: "link",
      annotations: { [clusterAnnotation]: cluster },
      finalizers: hasFinalizer ? [endpointFinalizer] : [],
    },
    spec: {},
  };
  return belongingOf(link as never, sources);
}

test("a link with finalizer that lost its owner references belongs to the only control plane beside it", () => {
  expect(belonging([{ name: "one" }])).toMatchObject({
    owner: { name: "one", uid: "uid-one" },
    controlPlane: { metadata: { name: "one" } },
    deletion: undefined,
  });
  expect(belonging([{ name: "one", deletion: true }]).deletion).toBe("control plane");
});

test.each([
  ["without our finalizer", [{ name: "one" }], { hasFinalizer: false }],
  ["beside two control planes", [{ name: "one" }, { name: "two" }], {}],
  ["beside the control plane of another cluster", [{ name: "one", cluster: "clusters/two" }], {}],
  ["without any control plane", [], {}],
])("a link without owner references %s belongs to nobody", (_what, planes, over) => {
  expect(belonging(planes, over)).toMatchObject({ owner: undefined, controlPlane: undefined });
});

describe("a policy that lists a resource group", () => {
  const s = "/subscriptions/22222222-2222-4222-8222-222222222222/resourceGroups";
  const provider = "providers/Microsoft.Network";
  const policy = tenantPolicy([{ namespace: "red", resourceGroups: [`${s}/red`] }]);
  const network = (group: string) => `${s}/${group}/${provider}/virtualNetworks/v`;
  const zone = (group: string) => `${s}/${group}/${provider}/privateDnsZones/example.com`;

  function notAllowed(
    over: { annotations?: object; spec?: object; status?: object; place?: string } = {},
  ) {
    const annotations = { [clusterAnnotation]: "red/one", ...over.annotations };
    const subscriptionID = s.split("/")[2];
    const metadata = { namespace: "red-one", name: "one", uid: "plane", annotations };
    const platform = { azure: { subscriptionID, resourceGroup: "red" } };
    const hosted = { guestVNetID: network("red"), guestSubnetID: `${network("red")}/subnets/n` };
    const found = {
      controlPlane: { metadata, spec: { platform } },
      owner: { name: "one", uid: "plane" },
      clusterKey: "red/one",
      link: {
        metadata: { namespace: "red-one" },
        spec: { subscriptionID, resourceGroupName: "red", ...hosted, ...over.spec },
        status: over.status,
      },
    };
    const sources = { services: none, clusters: none };
    return clusterFacts(found as never, sources as never, policy, over.place as never)?.notAllowed;
  }

  test("allows what is in it", () => expect(notAllowed()).toBeUndefined());

  const existing = (key: string, id: string) => ({
    annotations: { "postern.io/private-dns": "existing", [key]: id },
  });
  test.each([
    ["an annotation", existing("postern.io/base-domain-dns-zone-id", zone("platform-dns"))],
    ["another annotation", existing("postern.io/private-dns-zone-id", zone("platform-dns"))],
    [
      "a list of networks",
      existing("postern.io/private-dns-virtual-network-ids", network("platform")),
    ],
    ["the network", { spec: { guestVNetID: network("platform") } }],
    ["the subnet", { spec: { guestSubnetID: `${network("platform")}/subnets/n` } }],
    ["a forged status", { status: { baseDomainDNSZoneID: zone("platform-dns") } }],
    ["another forged status", { status: { privateDNSZoneID: zone("platform-dns") } }],
    ["the status of another cluster", { place: zone("platform-dns") }],
  ])("attack: %s is outside the resource groups of its namespace", (_what, over) => {
    expect(notAllowed(over)).toMatch(/resource group .*platform.* is not allowed/);
  });
});

describe("the annotation with further networks", () => {
  const id = (n: number) =>
    `/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v${n}`;
  const choices = (count: number, more = "") => {
    const text = `${Array.from({ length: count }, (_, n) => id(n)).join(",")}${more}`;
    const annotations = { "postern.io/private-dns-virtual-network-ids": text };
    return choicesOf({ cluster: { metadata: { name: "one", annotations } } } as never);
  };

  test("names up to 50, each counted once", () => {
    expect(choices(50, `, ${id(7).toUpperCase()},`)).toMatchObject({ wrong: undefined });
    expect(choices(50, `, ${id(7).toUpperCase()},`).networks).toHaveLength(50);
  });

  test("attack: with 850 it is not used, and a condition says so", () => {
    expect(choices(850).networks).toEqual([]);
    expect(choices(850).wrong).toMatch(/virtual-network-ids .* more than 50 .* remove some/);
  });
});

describe("the annotation that leaves out the cluster's own network", () => {
  const hub = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/hub";
  const choices = (own: string, more: Record<string, string> = {}) => {
    const annotations = { "postern.io/private-dns-own-network": own, ...more };
    return choicesOf({ cluster: { metadata: { name: "one", annotations } } } as never);
  };
  const networks = { "postern.io/private-dns-virtual-network-ids": hub };

  test("is not used without a network that is listed, unless Postern creates no names", () => {
    expect(choices("unlinked").wrong).toMatch(/not resolve anywhere .* list the networks/);
    expect(choices("unlinked", { "postern.io/private-dns": "none" }).wrong).toBeUndefined();
    expect(choices("unlinked", networks)).toMatchObject({
      skipsOwnNetwork: true,
      wrong: undefined,
    });
  });

  test("has two values", () => {
    expect(choices("linked").skipsOwnNetwork).toBeUndefined();
    expect(choices("no", networks).wrong).toMatch(/must be linked or unlinked/);
  });
});

test.each(["a/b/c", "one", "/one", ""])("the annotation %j names no cluster", (cluster) => {
  const found = belonging([{ name: "one", cluster }], { cluster });
  expect(found).toMatchObject({ clusterKey: undefined, misnamed: true });
  expect(clusterFacts(found, { services: none, clusters: none } as never, undefined)).toMatchObject(
    { hostedCluster: "one", misnamed: true },
  );
});
