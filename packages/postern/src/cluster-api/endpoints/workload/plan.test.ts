import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { describe, expect, test } from "vitest";
import {
  endpointIn,
  groupPath,
  idOf,
  management,
  managementKey,
  PaperClusters,
  type Shape,
  workload,
} from "../../../../../../test/cluster-api/paper-clusters.ts";
import { restrictPlan } from "../../../kube/step-policy.ts";
import { annotations } from "../../names.ts";
import { apiEndpoint, managementEndpoint } from "../claims/desired.ts";
import { plan } from "./plan.ts";

const key = "org-acme/wc1";
const apiName = "wc1-api-privatelink-privateendpoint";
const gatewayName = "wc1-to-mc-gateway-privateendpoint";
const ingressName = "wc1-to-mc-privatelink-privateendpoint";

function world(wc: Shape, mc: Shape = {}, ...others: Shape[]): PaperClusters {
  return new PaperClusters(management(mc), workload(wc), ...others.map(workload));
}

/** Everything done that the plans ask for. */
function settled(paper: PaperClusters): PaperClusters {
  paper.settle();
  return paper;
}

const isReady = (cluster: AzureCluster) =>
  cluster.status?.conditions
    ?.filter(({ type }) => type === "GSPrivateLinksReady")
    .map(({ status, reason }) => `${status} ${reason}`);
const published = ({ metadata }: AzureCluster) => [
  metadata.annotations?.[annotations.apiServerAddress],
  metadata.annotations?.[annotations.managementAddress],
];
const namesIn = (paper: PaperClusters, of: string) => paper.endpointsOf(of).map(({ name }) => name);

describe("a cluster that names the resource group of another namespace", () => {
  const intruder = { namespace: "evil", group: "wc1", created: "2026-01-02T00:00:00Z" };
  const paused = { "cluster.x-k8s.io/paused": "true" };
  const attacks: [string, Shape][] = [
    ["is paused", { annotations: paused }],
    ["has no load balancer that can be read", { type: null }],
    ["asks for approval by hand", { links: [{ name: "wc1-api-privatelink", approved: [] }] }],
    ["is being deleted", { deleting: true, hasFinalizer: true }],
    [
      "is paused while it is being deleted",
      { deleting: true, hasFinalizer: true, annotations: paused },
    ],
  ];
  const victims = (...more: Shape[]) => {
    const paper = world({ group: "wc1" }, {}, ...more);
    paper.keepsTenants = true;
    return paper;
  };

  test.each(attacks)("attack: %s, and the other stays connected", (_name, attack) => {
    const paper = settled(victims());
    const before = JSON.stringify(paper.get(key));
    paper.put(workload({ name: "wc1", ...intruder, ...attack }));
    paper.reconcile(600_000);
    settled(paper);
    expect(JSON.stringify(paper.get(key))).toBe(before);
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
    expect(namesIn(paper, managementKey)).toEqual([apiName]);
  });

  test.each(attacks)("attack: %s, and the other goes without a trace", (_name, attack) => {
    const paper = settled(victims({ name: "wc1", ...intruder, ...attack }));
    const object = paper.get(key);
    paper.put({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: "2026-02-01T00:00:00Z" },
    });
    for (let reconciles = 0; reconciles < 30; reconciles++) {
      paper.reconcile(60_000);
      settled(paper);
    }
    expect(paper.objects.has(key)).toBe(false);
    // What the intruder asks for is its own affair, once the group is nobody else's.
    if (attack.links === undefined) expect(namesIn(paper, managementKey)).toEqual([]);
  });

  test("is told why, and gets neither an endpoint nor a finalizer", () => {
    const paper = settled(victims({ name: "x", ...intruder }));
    expect(isReady(paper.get("evil/x"))).toEqual(["False ResourceGroupTaken"]);
    expect(paper.get("evil/x").metadata.finalizers).toEqual([]);
    expect(namesIn(paper, managementKey)).toEqual([apiName]);
  });
});

describe("the four kinds of pairs", () => {
  test.each([
    ["public", "public", "Public", "Public", [undefined, undefined], [], []],
    ["private", "public", "Internal", "Public", ["10.0.0.7", undefined], [apiName], []],
    ["public", "private", "Public", "Internal", [undefined, "10.0.0.7"], [], [gatewayName]],
    [
      "private",
      "private",
      "Internal",
      "Internal",
      ["10.0.0.7", "10.0.0.7"],
      [apiName],
      [gatewayName],
    ],
  ] as const)(
    "a %s workload cluster of a %s management cluster",
    (_wc, _mc, type, managementType, addresses, inManagement, inWorkload) => {
      const links = type === "Public" ? [] : undefined;
      const paper = settled(world({ type, ...(links && { links }) }, { type: managementType }));
      const cluster = paper.get(key);
      expect(published(cluster)).toEqual(addresses);
      expect(namesIn(paper, managementKey)).toEqual(inManagement);
      expect(namesIn(paper, key)).toEqual(inWorkload);
      expect(cluster.metadata.finalizers).toEqual([
        "azure-private-endpoint-operator.giantswarm.io/azurecluster",
      ]);
      const requested = type === "Internal" || managementType === "Internal";
      expect(isReady(cluster)).toEqual(requested ? ["True Connected"] : []);
    },
  );

  test("the management cluster itself is left as it is", () => {
    const paper = world({}, { type: "Internal" });
    paper.get(managementKey).status = {
      conditions: [{ type: "GSPrivateLinksReady", status: "True", lastTransitionTime: "" }],
    };
    expect(paper.planWorkload(managementKey)).toMatchObject({
      steps: [],
      conditions: [{ type: "GSPrivateLinksReady", status: "True" }],
    });
    expect(paper.planWorkload(managementKey).finalizer).toBeUndefined();
  });
});

describe("the endpoint to the management cluster", () => {
  test("has the names and the service that operators before us gave it", () => {
    const paper = settled(world({}, { type: "Internal", group: "mc-group" }));
    expect(paper.endpointsOf(key)).toEqual([
      {
        name: gatewayName,
        location: "westeurope",
        privateLinkServiceConnections: [
          {
            name: "wc1-to-mc-gateway-connection",
            privateLinkServiceID:
              "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/mc/providers/Microsoft.Network/privateLinkServices/mc-gateway-privatelink",
          },
        ],
        manualApproval: false,
      },
    ]);
  });

  test("has the older names where those are configured", () => {
    const paper = world({}, { type: "Internal" });
    paper.managementLinks = ["ingress"];
    paper.settle();
    const [isOwned] = paper.endpointsOf(key);
    expect(isOwned?.name).toBe(ingressName);
    expect(isOwned?.privateLinkServiceConnections).toEqual([
      {
        name: "wc1-to-mc-connection",
        privateLinkServiceID: expect.stringMatching(/[/]mc-ingress-privatelink$/),
      },
    ]);
  });

  test("is there twice where both are configured, and the first gives the address", () => {
    const paper = world({}, { type: "Internal" });
    paper.managementLinks = ["ingress", "gateway"];
    paper.settle();
    expect(namesIn(paper, key)).toEqual([ingressName, gatewayName]);
    const group = groupPath(paper.get(key));
    const [first] = paper.endpointsOf(key);
    const other = endpointIn(
      idOf(group, ingressName),
      paper.get(key),
      first as PrivateEndpointSpec,
    );
    const text = JSON.stringify(other).replaceAll("10.0.0.7", "10.0.0.8");
    paper.azure.set(idOf(group, ingressName), JSON.parse(text));
    paper.settle();
    expect(published(paper.get(key))[1]).toBe("10.0.0.8");
  });

  test("of the older names goes when the new one is connected, and not before", () => {
    const paper = world({}, { type: "Internal" });
    paper.managementLinks = ["ingress"];
    paper.settle();
    paper.managementLinks = ["gateway"];
    for (const step of paper.planWorkload(key).steps) paper.apply(step);
    expect(namesIn(paper, key)).toEqual([ingressName, gatewayName]);
    paper.settle();
    expect(namesIn(paper, key)).toEqual([gatewayName]);
  });

  test.each([
    ["alone", ["gateway"]],
    ["first of both", ["gateway", "ingress"]],
  ] as const)(
    "keeps the older address while the newer way, %s, is not connected",
    (_what, links) => {
      const paper = world({}, { type: "Internal" });
      paper.managementLinks = ["ingress"];
      paper.settle();
      const group = groupPath(paper.get(key));
      const change = (name: string, from: string, to: string) => {
        const text = JSON.stringify(paper.azure.get(idOf(group, name)));
        paper.azure.set(idOf(group, name), JSON.parse(text.replaceAll(from, to)));
      };
      change(ingressName, "10.0.0.7", "10.0.0.6");
      paper.settle();
      paper.managementLinks = links;
      const passed = () => {
        const { steps, conditions } = paper.planWorkload(key);
        for (const step of steps) paper.apply(step);
        return [conditions[0]?.reason, published(paper.get(key))[1]];
      };
      expect(passed()).toEqual(["PrivateEndpointPending", "10.0.0.6"]);
      expect(passed()).toEqual(["PrivateEndpointNotFound", "10.0.0.6"]);
      paper.runCapz();
      change(gatewayName, "Approved", "Pending");
      expect(passed()).toEqual(["PrivateEndpointNotApproved", "10.0.0.6"]);
      change(gatewayName, "Pending", "Approved");
      expect(passed()).toEqual(["Connected", "10.0.0.7"]);
    },
  );

  test("that is still being made is not taken for the older one, which is connected", () => {
    const paper = world({}, { type: "Internal" });
    paper.managementLinks = ["ingress"];
    paper.settle();
    paper.managementLinks = ["gateway"];
    for (const step of paper.planWorkload(key).steps) paper.apply(step);
    const observed = paper.see(key);
    const observation = { state: "changing", retryAfterMs: 10_000 } as const;
    const connections = observed.connections.map((way) =>
      way.link === "gateway" ? { ...way, observation } : way,
    );
    expect(plan({ ...observed, connections })).toMatchObject({
      steps: [],
      conditions: [{ status: "False", reason: "PrivateEndpointNotFound" }],
    });
  });

  test("is corrected when it differs, and not only compared by name", () => {
    const paper = settled(world({}, { type: "Internal" }));
    const [found] = paper.endpointsOf(key);
    if (found) found.location = "elsewhere";
    paper.settle();
    expect(paper.endpointsOf(key)[0]?.location).toBe("westeurope");
  });

  test.each([
    ["stays as it is when it is approved", "Approved", true],
    ["is corrected when it is pending", "Pending", false],
  ])("that somebody is to approve by hand %s", (_what, state, manualApproval) => {
    const paper = settled(world({}, { type: "Internal" }));
    const [found] = paper.endpointsOf(key);
    if (found === undefined) throw new Error("there is no endpoint");
    found.manualApproval = true;
    const id = idOf(groupPath(paper.get(key)), gatewayName);
    paper.azure.set(id, endpointIn(id, paper.get(key), found, state));
    for (const step of paper.planWorkload(key).steps) paper.apply(step);
    expect(paper.endpointsOf(key)[0]?.manualApproval).toBe(manualApproval);
  });

  test("does not wait for the links of the API server", () => {
    const paper = settled(world({ linksReady: "False" }, { type: "Internal" }));
    expect(published(paper.get(key))).toEqual([undefined, "10.0.0.7"]);
    expect(isReady(paper.get(key))).toEqual(["False PrivateLinksNotReady"]);
  });

  test("needs a subnet, and says so", () => {
    const paper = settled(world({ subnets: [] }, { type: "Internal" }));
    expect(isReady(paper.get(key))).toEqual(["False SubnetsNotSet"]);
    expect(published(paper.get(key))[0]).toBe("10.0.0.7");
  });
});

describe("the endpoints of a cluster under the policy upsert-only", () => {
  /** Everybody's passes, without what the policy withholds. */
  function settleRestricted(paper: PaperClusters) {
    for (let reconciles = 0; reconciles < 5; reconciles++) {
      const plan = restrictPlan(paper.planWorkload(key), "upsert-only", "GSPrivateLinksReady");
      for (const step of plan.steps) paper.apply(step);
      paper.runCapz();
    }
    return restrictPlan(paper.planWorkload(key), "upsert-only", "GSPrivateLinksReady");
  }

  test("are added and corrected", () => {
    const paper = world({}, { type: "Internal" });
    expect(settleRestricted(paper).withheld ?? []).toEqual([]);
    expect(namesIn(paper, key)).toEqual([gatewayName]);
  });

  test("are not removed where the management cluster is public, and the address is withdrawn", () => {
    const paper = settled(world({}, { type: "Internal" }));
    paper.put(management({ type: "Public", endpoints: paper.endpointsOf(managementKey) }));
    const { withheld, steps } = settleRestricted(paper);
    expect(namesIn(paper, key)).toEqual([gatewayName]);
    expect(published(paper.get(key))).toEqual(["10.0.0.7", undefined]);
    expect({ withheld, steps }).toMatchObject({
      withheld: [{ do: "update AzureCluster" }],
      steps: [],
    });
  });

  test("of the older names stay beside the new one, whose address is published", () => {
    const paper = world({}, { type: "Internal" });
    paper.managementLinks = ["ingress"];
    paper.settle();
    paper.managementLinks = ["gateway"];
    paper.addressFor = () => "10.0.0.9";
    const { withheld } = settleRestricted(paper);
    expect(namesIn(paper, key)).toEqual([ingressName, gatewayName]);
    expect(published(paper.get(key))[1]).toBe("10.0.0.9");
    expect(withheld).toMatchObject([{ do: "update AzureCluster" }]);
  });

  test("in the subnet that the nodes had before are not removed", () => {
    const paper = settled(world({}, { type: "Internal" }));
    const subnets = [
      { name: "new", role: "node" },
      { name: "nodes", role: "node", privateEndpoints: paper.endpointsOf(key) },
    ];
    paper.put(workload({ subnets, annotations: paper.get(key).metadata.annotations ?? {} }));
    paper.put(management({ type: "Public", endpoints: paper.endpointsOf(managementKey) }));
    settleRestricted(paper);
    expect(namesIn(paper, key)).toEqual([gatewayName]);
  });
});

describe("an address", () => {
  const connected = () => settled(world({}, { type: "Internal" }));
  const apiId = (paper: PaperClusters) => idOf(groupPath(paper.get(managementKey)), apiName);
  const change = (paper: PaperClusters, id: string, from: string, to: string) =>
    paper.azure.set(id, JSON.parse(JSON.stringify(paper.azure.get(id)).replaceAll(from, to)));

  test.each([
    ["rejected", '"Approved"', '"Rejected"', "False PrivateEndpointNotApproved"],
    ["pending again", '"Approved"', '"Pending"', "False PrivateEndpointNotApproved"],
    ["failed", '"Succeeded"', '"Failed"', "False PrivateEndpointFailed"],
    [
      "without an address",
      '"10.0.0.7"',
      '""',
      "False PrivateEndpointNetworkInterfacePrivateAddressNotFound",
    ],
    [
      "without an interface",
      '"networkInterfaces"',
      '"gone"',
      "False PrivateEndpointNetworkInterfaceNotFound",
    ],
  ])(
    "is withdrawn when its endpoint is %s, and not published on; it is looked for every minute",
    (_what, from, to, reported) => {
      const paper = connected();
      change(paper, apiId(paper), from, to);
      paper.settle();
      expect(published(paper.get(key))).toEqual([undefined, "10.0.0.7"]);
      expect(isReady(paper.get(key))).toEqual([reported]);
      expect(paper.planWorkload(key).requeue).toEqual({ afterMs: 60_000 });
    },
  );

  test("is withdrawn when its endpoint vanishes, and not published on; it is looked for every minute", () => {
    const paper = connected();
    paper.azure.delete(apiId(paper));
    const first = paper.planWorkload(key);
    expect(first.requeue).toEqual({ afterMs: 60_000 });
    for (const step of first.steps) paper.apply(step);
    expect(published(paper.get(key))[0]).toBeUndefined();
    expect(first.conditions).toMatchObject([
      { status: "False", reason: "PrivateEndpointNotFound" },
    ]);
  });

  test("comes back, and so does the condition, which is there once", () => {
    const paper = connected();
    change(paper, apiId(paper), '"Approved"', '"Rejected"');
    paper.settle();
    change(paper, apiId(paper), '"Rejected"', '"Approved"');
    paper.settle();
    expect(published(paper.get(key))).toEqual(["10.0.0.7", "10.0.0.7"]);
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
  });

  test("is not published while somebody must approve, and it is said how", () => {
    const paper = settled(world({ links: [{ name: "a", approved: [] }] }));
    expect(published(paper.get(key))[0]).toBeUndefined();
    const { conditions } = paper.planWorkload(key);
    expect(conditions[0]?.message).toContain("az network private-endpoint-connection approve");
    const id = idOf(groupPath(paper.get(managementKey)), "a-privateendpoint");
    change(paper, id, '"Pending"', '"Approved"');
    paper.settle();
    expect(published(paper.get(key))[0]).toBe("10.0.0.7");
  });

  test("is that of the last link where there are several", () => {
    const paper = settled(world({ links: [{ name: "a" }, { name: "b" }] }));
    const id = idOf(groupPath(paper.get(managementKey)), "b-privateendpoint");
    change(paper, id, "10.0.0.7", "10.0.0.9");
    paper.settle();
    expect(published(paper.get(key))[0]).toBe("10.0.0.9");
  });

  test("stays while its endpoint is being changed", () => {
    const observed = connected().see(key);
    const observation = { state: "changing", retryAfterMs: 10_000 } as const;
    const changing = {
      ...observed,
      claims: observed.claims.map((each) => ({ ...each, observation })),
    };
    expect(plan(changing)).toMatchObject({
      steps: [],
      conditions: [{ status: "True" }],
      requeue: { afterMs: 10_000 },
    });
  });

  test("stays while nobody can look, and the other side goes on", () => {
    const observed = connected().see(key);
    const claimsFailed = { reason: "ClusterIdentityMissing", message: "what · why · what to do" };
    expect(plan({ ...observed, claimsFailed })).toMatchObject({
      steps: [],
      conditions: [{ status: "False", reason: "ClusterIdentityMissing" }],
      requeue: { afterMs: 60_000 },
    });
  });
});

describe("what a person must put right is reported in the condition and in an event", () => {
  test.each([
    ["no load balancer in the spec", { type: null }, {}, "LoadBalancerMissing"],
    ["an unknown type of load balancer", { type: "Sideways" }, {}, "UnknownLoadBalancerType"],
    ["the same of the management cluster", {}, { type: null }, "LoadBalancerMissing"],
    [
      "an unknown type of the management cluster's",
      {},
      { type: "Sideways" },
      "UnknownLoadBalancerType",
    ],
    ["no subnets of the management cluster", {}, { subnets: [] }, "SubnetsNotSet"],
    [
      "links that do not admit the management cluster",
      { links: [{ name: "a", allowed: ["other"] }] },
      {},
      "SubscriptionCannotConnectToPrivateLink",
    ],
    ["no subscription", { subscription: "" }, {}, "SubscriptionMissing"],
    [
      "links that cannot be read",
      { links: [], annotations: { "postern.io/private-links": "{" } },
      {},
      "InvalidPrivateLinks",
    ],
  ] as const)("%s", (_what, wc, mc, reason) => {
    const { conditions, events } = world(wc as Shape, mc).planWorkload(key);
    expect(conditions).toMatchObject([{ status: "False", reason }]);
    expect(events).toMatchObject([{ reason, type: "Warning" }]);
    expect(conditions[0]?.message.split(" · ").length).toBeGreaterThanOrEqual(2);
  });

  const other = { name: "other", created: "2020-01-01T00:00:00Z" };

  test("a link of the same name of another cluster, where it is named after neither", () => {
    const links = [{ name: "shared-privatelink" }];
    const paper = settled(world({ links }, {}, { ...other, links }));
    expect(isReady(paper.get("org-acme/other"))).toEqual(["True Connected"]);
    expect(paper.planWorkload(key).conditions).toMatchObject([
      { reason: "PrivateEndpointNameTaken", message: expect.stringContaining("org-acme/other") },
    ]);
  });

  test("attack: an older cluster has a link that is named after another cluster", () => {
    const paper = settled(world({}, {}, { ...other, links: [{ name: "wc1-api-privatelink" }] }));
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
    expect(isReady(paper.get("org-acme/other"))).toEqual(["False PrivateEndpointNameTaken"]);
  });

  test("attack: an older cluster is called like the beginning of the usual name of another's link", () => {
    const links = [{ name: "wc1-api-privatelink" }];
    const thief = { namespace: "org-other", name: "wc1-api", created: other.created, links };
    const paper = settled(world({}, {}, thief));
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
    expect(isReady(paper.get("org-other/wc1-api"))).toEqual(["False PrivateEndpointNameTaken"]);
  });

  test("attack: an older cluster, whose name begins that of another, has a link that is named after that", () => {
    const links = [{ name: "wc1-a-extra" }];
    const newer = { namespace: "org-other", name: "wc1-a", created: "2030-01-01T00:00:00Z", links };
    const paper = settled(world({ links }, {}, newer));
    expect(isReady(paper.get("org-other/wc1-a"))).toEqual(["True Connected"]);
    expect(isReady(paper.get(key))).toEqual(["False PrivateEndpointNameTaken"]);
  });

  test("a link whose name differs from another cluster's in its case only", () => {
    const links = [{ name: "WC1-api-privatelink" }];
    const other = { name: "other", links, created: "2026-06-01T00:00:00Z" };
    const paper = settled(world({}, {}, other));
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
    expect(isReady(paper.get("org-acme/other"))).toEqual(["False PrivateEndpointNameTaken"]);
  });

  test("two clusters of one name in two namespaces", () => {
    const paper = settled(
      world({}, {}, { namespace: "org-other", created: "2026-06-01T00:00:00Z" }),
    );
    expect(isReady(paper.get(key))).toEqual(["True Connected"]);
    expect(isReady(paper.get("org-other/wc1"))).toEqual(["False PrivateEndpointNameTaken"]);
    const [{ message = "" } = {}] = paper.planWorkload("org-other/wc1").conditions;
    expect(message).toContain("an AzureCluster in another namespace");
  });

  test("a link of another tenant", () => {
    const paper = world({});
    const refer = (of: string, name: string) => {
      paper.get(of).spec.identityRef = { kind: "AzureClusterIdentity", name };
    };
    refer(key, "a");
    refer(managementKey, "b");
    paper.tenants.set("org-acme/a", "tenant-a").set("org-mc/b", "tenant-b");
    for (const step of paper.planManagement().steps) paper.apply(step);
    expect(paper.planWorkload(key).conditions).toMatchObject([{ reason: "LinkInAnotherTenant" }]);
  });

  test("a management cluster that is not there", () => {
    const paper = new PaperClusters(workload());
    expect(paper.planWorkload(key)).toMatchObject({
      steps: [],
      conditions: [{ status: "False", reason: "ManagementClusterNotFound" }],
    });
  });
});

test("a private cluster without links on purpose gets one event and is ready: it does not wait for links for ever", () => {
  const paper = world({ links: [] }, { type: "Internal" });
  expect(paper.planWorkload(key).events).toMatchObject([{ reason: "NoPrivateLinks" }]);
  paper.settle();
  expect(isReady(paper.get(key))).toEqual(["True Connected"]);
  expect(published(paper.get(key))).toEqual([undefined, "10.0.0.7"]);
});

test("what comes by itself is looked for every minute", () => {
  const { requeue, conditions } = world({ linksReady: undefined }).planWorkload(key);
  expect(requeue).toEqual({ afterMs: 60_000 });
  expect(conditions).toMatchObject([{ reason: "PrivateLinksNotReady" }]);
});

test("a paused cluster is left as it is, also while it is being deleted", () => {
  const paused = { "cluster.x-k8s.io/paused": "" };
  for (const deleting of [false, true]) {
    const paper = world(
      { annotations: paused, deleting, hasFinalizer: true },
      { type: "Internal" },
    );
    const { steps, finalizer } = paper.planWorkload(key);
    expect([steps, finalizer]).toEqual([[], undefined]);
  }
});

test("a name that is somebody else's in the management cluster is reported, and left", () => {
  const foreign = (name: string) =>
    ({
      name,
      privateLinkServiceConnections: [{ name: "x", privateLinkServiceID: "/subscriptions/x" }],
    }) as PrivateEndpointSpec;
  const paper = settled(world({}, { endpoints: [foreign(apiName)] }));
  expect(isReady(paper.get(key))).toEqual(["False PrivateEndpointNameTaken"]);
  expect(paper.endpointsOf(managementKey)).toEqual([foreign(apiName)]);
});

test("what is wanted does not depend on who asks: both features make the same endpoints", () => {
  const observed = world({}, { type: "Internal" }).see(key);
  const { cluster, management: mc } = observed;
  if (mc === undefined) throw new Error("there is no management cluster");
  const [link] = cluster.links;
  expect(link && apiEndpoint(link, cluster, mc)).toEqual(observed.claims[0]?.claim.endpoint);
  expect(managementEndpoint(cluster, mc, "gateway")).toEqual(observed.connections[0]?.desired);
});

test("what comes by itself is reported as Info, so that a sum of conditions does not cry for it", () => {
  const severityOf = (shape: Shape) =>
    new PaperClusters(management(), workload(shape)).planWorkload("org-acme/wc1").conditions[0]
      ?.severity;
  expect(severityOf({ linksReady: undefined })).toBe("Info");
  expect(severityOf({})).toBe("Info");
  expect(severityOf({ links: [{ name: "a", allowed: [] }] })).toBeUndefined();
});
