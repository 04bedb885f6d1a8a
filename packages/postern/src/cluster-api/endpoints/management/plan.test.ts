import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { describe, expect, test } from "vitest";
import {
  management,
  managementKey,
  managementSubscription,
  PaperClusters,
  type Shape,
  workload,
  workloadSubscription,
} from "../../../../../../test/cluster-api/paper-clusters.ts";
import { restrictPlan } from "../../../kube/step-policy.ts";
import { annotations as addresses } from "../../names.ts";

/** The endpoint of wc1, as it should be. */
const ofFirst: PrivateEndpointSpec = {
  name: "wc1-api-privatelink-privateendpoint",
  location: "northeurope",
  privateLinkServiceConnections: [
    {
      name: "wc1-api-privatelink-connection",
      privateLinkServiceID: `/subscriptions/${workloadSubscription}/resourceGroups/wc1/providers/Microsoft.Network/privateLinkServices/wc1-api-privatelink`,
    },
  ],
  manualApproval: false,
};

function endpointTo(cluster: string, over: Partial<PrivateEndpointSpec> = {}): PrivateEndpointSpec {
  return { ...JSON.parse(JSON.stringify(ofFirst).replaceAll("wc1", cluster)), ...over };
}

/** A person's own endpoint in the same subnet. */
const foreign: PrivateEndpointSpec = {
  name: "storage",
  privateLinkServiceConnections: [
    {
      name: "storage",
      privateLinkServiceID: `/subscriptions/${managementSubscription}/resourceGroups/data/providers/Microsoft.Storage/storageAccounts/a`,
      groupIDs: ["blob"],
    },
  ],
};

function world(endpoints: Shape["endpoints"], ...clusters: Shape[]): PaperClusters {
  return new PaperClusters(management({ endpoints: endpoints ?? [] }), ...clusters.map(workload));
}

/** What the management cluster's subnet holds after one reconcile. */
function afterPass(paper: PaperClusters): (PrivateEndpointSpec | null)[] {
  for (const step of paper.planManagement().steps) paper.apply(step);
  return paper.endpointsOf(managementKey);
}

describe("an endpoint for each link that admits the management cluster", () => {
  test("is added with the names, the place and the service that operators before us gave it", () => {
    expect(afterPass(world([], {}))).toEqual([ofFirst]);
  });

  test("is not added a second time", () => {
    const paper = world([], {});
    afterPass(paper);
    paper.reconcile(60_000);
    expect(paper.planManagement().steps).toEqual([]);
  });

  test("is recognised although the operator before us left out what is false", () => {
    const { manualApproval: _, ...short } = ofFirst;
    expect(world([short], {}).planManagement().steps).toEqual([]);
  });

  test.each([
    ["no subscription at all", { links: [{ name: "a", allowed: [] }] }],
    ["a null list", { links: [{ name: "a", allowed: null }] }],
    ["another subscription, and a null", { links: [{ name: "a", allowed: [null, "other"] }] }],
    ["nobody, because it is null", { links: [null] }],
  ])("is not added for a link that admits %s", (_what, shape: Shape) => {
    expect(afterPass(world([], shape))).toEqual([]);
  });

  test("is added although the subscription is written in another case", () => {
    const links = [{ name: "a", allowed: [null, managementSubscription.toUpperCase()] }];
    expect(afterPass(world([], { links }))).toHaveLength(1);
  });

  test.each(["False", "Unknown", undefined] as const)(
    "is not added while PrivateLinksReady is %s",
    (linksReady) => {
      expect(afterPass(world([], { linksReady }))).toEqual([]);
    },
  );

  test("stays when PrivateLinksReady is no longer True", () => {
    expect(afterPass(world([ofFirst], { linksReady: "False" }))).toEqual([ofFirst]);
  });

  test.each(["Public", null, "Sideways"])("is not added for a load balancer of type %s", (type) => {
    const shape = { type, links: [{ name: "a" }] };
    expect(afterPass(world([], shape))).toEqual([]);
  });

  test("goes into the first subnet for nodes", () => {
    const subnets = [
      { name: "cp", role: "control-plane" },
      { name: "first", role: "node" },
      { name: "second", role: "node" },
    ];
    const paper = new PaperClusters(management({ subnets }), workload());
    expect(paper.planManagement().steps[0]?.write.subnet).toBe("first");
  });

  test("goes into the first subnet where none is for nodes", () => {
    const subnets = [null, { name: "cp", role: "control-plane" }, { name: "b", role: "bastion" }];
    const paper = new PaperClusters(management({ subnets }), workload());
    expect(paper.planManagement().steps[0]?.write.subnet).toBe("cp");
  });

  test("has nowhere to go where there are no subnets, which is said", () => {
    const paper = new PaperClusters(management({ subnets: [] }), workload());
    const { steps, events } = paper.planManagement();
    expect(steps).toEqual([]);
    expect(events).toMatchObject([{ reason: "SubnetsNotSet", type: "Warning" }]);
  });

  test("asks for approval in at most 140 characters, whatever the names are: the CRD rejects a longer message", () => {
    const name = "w".repeat(120);
    const links = [{ name: "link", approved: [] }];
    const [isOwned] = afterPass(world([], { name, links }));
    expect(isOwned?.manualApproval).toBe(true);
    const [connection] = isOwned?.privateLinkServiceConnections ?? [];
    expect(connection?.requestMessage).toMatch(/^Postern: management cluster mc /);
    expect(connection?.requestMessage?.length).toBeLessThanOrEqual(140);
  });

  test("says nothing to whoever approves by itself", () => {
    const [isOwned] = afterPass(world([], {}));
    expect(isOwned?.privateLinkServiceConnections[0]).not.toHaveProperty("requestMessage");
  });
});

describe("an endpoint that is there", () => {
  test.each([
    ["its place", { location: "elsewhere" }],
    ["who approves it", { manualApproval: true }],
    [
      "its message",
      {
        privateLinkServiceConnections: [
          { ...ofFirst.privateLinkServiceConnections[0], requestMessage: "please" },
        ],
      },
    ],
    [
      "the link that it leads to",
      {
        privateLinkServiceConnections: [
          {
            name: "x",
            privateLinkServiceID: `${ofFirst.privateLinkServiceConnections[0]?.privateLinkServiceID}-old`,
          },
        ],
      },
    ],
  ])("is corrected when %s has changed, and not only compared by name", (_what, over) => {
    const drifted = { ...ofFirst, ...over } as PrivateEndpointSpec;
    expect(afterPass(world([drifted], {}))).toEqual([ofFirst]);
  });

  test("that was approved by hand stays as it is when its subscription is approved automatically later", () => {
    const links = (approved: string[]) => [{ name: "wc1-api-privatelink", approved }];
    const asked = afterPass(world([], { links: links([]) }))[0] ?? ofFirst;
    const annotations = { [addresses.apiServerAddress]: "10.0.0.7" };
    const approvedLater = { links: links([managementSubscription]), annotations };
    expect(asked.manualApproval).toBe(true);
    expect(world([asked], approvedLater).planManagement().steps).toEqual([]);
    const moved = { ...asked, location: "elsewhere" };
    expect(afterPass(world([moved], approvedLater))).toEqual([asked]);
  });

  test("that nobody has approved follows the approval of its subscription, although another link is connected", () => {
    const annotations = { [addresses.apiServerAddress]: "10.0.0.7" };
    const links = [{ name: "wc1-api-privatelink" }, { name: "wc1-other" }];
    const asked = { ...ofFirst, manualApproval: true };
    expect(afterPass(world([asked], { links, annotations }))).toContainEqual(ofFirst);
  });

  test("keeps what we do not decide about", () => {
    const found = { ...ofFirst, location: "old", customNetworkInterfaceName: "nic" };
    expect(afterPass(world([found], {}))).toEqual([
      { ...ofFirst, customNetworkInterfaceName: "nic" },
    ]);
  });

  test("goes when its link goes", () => {
    expect(afterPass(world([ofFirst], { links: [] }))).toEqual([]);
  });

  test("is removed when its link no longer admits the management cluster, and not orphaned", () => {
    const links = [{ name: "wc1-api-privatelink", allowed: [] }];
    expect(afterPass(world([ofFirst], { links }))).toEqual([]);
  });

  test("goes when its cluster is being deleted", () => {
    expect(afterPass(world([ofFirst], { deleting: true, hasFinalizer: true }))).toEqual([]);
  });

  test("of wc10 is not removed with wc1, whose name is its prefix", () => {
    const paper = world([ofFirst, endpointTo("wc10")], { links: [] }, { name: "wc10" });
    expect(afterPass(paper)).toEqual([endpointTo("wc10")]);
  });

  test("of another cluster in the same group is not touched", () => {
    const other = { name: "wc2", group: "wc1" };
    const second = endpointTo("wc2");
    const [connection] = second.privateLinkServiceConnections;
    if (connection)
      connection.privateLinkServiceID = connection.privateLinkServiceID.replace("/wc2/", "/wc1/");
    expect(afterPass(world([ofFirst, second], { links: [] }, other))).toEqual([second]);
  });

  test.each([
    ["that leads to something of a person", foreign],
    ["that leads to the cluster by a name of a person's choice", { ...ofFirst, name: "mine" }],
    ["to a cluster that nobody knows", endpointTo("unknown")],
  ])("%s is left as it is", (_what, found) => {
    expect(afterPass(world([found], { links: [] }))).toEqual([found]);
    expect(afterPass(world([found], {}))).toEqual([found, ofFirst]);
  });

  test("and is null is no harm", () => {
    expect(afterPass(world([null], {}))).toEqual([ofFirst]);
  });

  test("of our name that leads to somebody else's service is left as it is", () => {
    const found = { ...foreign, name: ofFirst.name };
    expect(afterPass(world([found], {}))).toEqual([found]);
  });
});

describe("an endpoint in the subnet that the nodes had before", () => {
  function moved(endpoints: Shape["endpoints"], ...clusters: Shape[]): PaperClusters {
    const subnets = [
      { name: "new", role: "node" },
      { name: "nodes", role: "node", privateEndpoints: endpoints },
    ];
    const paper = new PaperClusters(management({ subnets }), ...clusters.map(workload));
    paper.applied.set(managementKey, new Set([`nodes/${ofFirst.name}`]));
    return paper;
  }
  const places = (paper: PaperClusters) =>
    (paper.get(managementKey).spec.networkSpec?.subnets ?? []).flatMap((each) =>
      (each.privateEndpoints ?? []).map((one) => `${each.name}/${one?.name}`),
    );

  test("moves to the new one", () => {
    const paper = moved([ofFirst], {});
    afterPass(paper);
    expect(places(paper)).toEqual([`new/${ofFirst.name}`]);
    paper.reconcile(60_000);
    expect(paper.planManagement().steps).toEqual([]);
  });

  test("goes when its link goes", () => {
    const paper = moved([ofFirst, endpointTo("wc10")], { links: [] });
    afterPass(paper);
    expect(places(paper)).toEqual([`nodes/${endpointTo("wc10").name}`]);
  });

  test("stays if a person has put it there", () => {
    const paper = moved([ofFirst], { links: [] });
    paper.applied.clear();
    expect(paper.planManagement().steps).toEqual([]);
  });

  test("stays while its cluster is paused, whatever else is written", () => {
    const paused = { "cluster.x-k8s.io/paused": "true" };
    const paper = moved([ofFirst], { annotations: paused }, { name: "wc2" });
    afterPass(paper);
    expect(places(paper)).toEqual([`new/${endpointTo("wc2").name}`, `nodes/${ofFirst.name}`]);
    paper.reconcile(60_000);
    expect(paper.planManagement().steps).toEqual([]);
  });
});

describe("a management cluster of which nobody knows the subscription", () => {
  const idProblem = (...clusters: Shape[]) =>
    new PaperClusters(
      management({ subscription: "", endpoints: [ofFirst, endpointTo("wc2")] }),
      ...clusters.map(workload),
    );

  test("keeps what it has, and says so", () => {
    const paper = idProblem({}, { name: "wc2" });
    expect(paper.planManagement()).toMatchObject({
      steps: [],
      events: [{ reason: "SubscriptionMissing", type: "Warning" }],
    });
  });

  test("lets go of what leads to a cluster that is being deleted", () => {
    const paper = idProblem({ deleting: true, hasFinalizer: true }, { name: "wc2" });
    expect(afterPass(paper)).toEqual([endpointTo("wc2")]);
  });
});

describe("a paused cluster", () => {
  const paused = { "cluster.x-k8s.io/paused": "true" };

  test("keeps the endpoint that it has, however it is, while others get theirs", () => {
    const drifted = { ...ofFirst, location: "old" };
    const paper = world([drifted], { annotations: paused, links: [] }, { name: "wc2" });
    expect(afterPass(paper)).toEqual([drifted, endpointTo("wc2")]);
  });

  test("gets no endpoint that it does not have", () => {
    expect(afterPass(world([], { annotations: paused }))).toEqual([]);
  });

  test("is also one whose Cluster is paused", () => {
    const paper = world([], {});
    paper.owners.set("org-acme/wc1", {
      metadata: { name: "wc1", namespace: "org-acme" },
      spec: { paused: true },
    });
    expect(afterPass(paper)).toEqual([]);
  });

  test("that manages the others is not written", () => {
    const paper = new PaperClusters(management({ annotations: paused }), workload());
    expect(paper.planManagement().steps).toEqual([]);
  });
});

describe("a cluster whose links cannot be read", () => {
  const unreadable: Shape = { links: [], annotations: { "postern.io/private-links": "[{" } };

  test("keeps the endpoint that it has, while others get theirs", () => {
    const paper = world([ofFirst], unreadable, { name: "wc2" });
    expect(afterPass(paper)).toEqual([ofFirst, endpointTo("wc2")]);
  });

  test("keeps the one in the subnet that the nodes had before", () => {
    const subnets = [
      { name: "new", role: "node" },
      { name: "nodes", role: "node", privateEndpoints: [ofFirst] },
    ];
    const paper = new PaperClusters(management({ subnets }), workload(unreadable));
    paper.applied.set(managementKey, new Set([`nodes/${ofFirst.name}`]));
    expect(paper.planManagement().steps).toEqual([]);
  });

  test.each([
    ["it is being deleted", { deleting: true, hasFinalizer: true }],
    ["its API server is public", { type: "Public" }],
  ])("does not keep it when %s", (_what, over: Shape) => {
    expect(afterPass(world([ofFirst], { ...unreadable, ...over }))).toEqual([]);
  });
});

describe("two clusters whose links have one name", () => {
  const links = [{ name: "wc1-api-privatelink" }];
  const older = { links, created: "2025-01-01T00:00:00Z", namespace: "org-a", group: "a" };
  const younger = { links, created: "2026-01-01T00:00:00Z", namespace: "org-b", group: "b" };
  const serviceIn = (paper: PaperClusters) =>
    afterPass(paper).map((each) => each?.privateLinkServiceConnections[0]?.privateLinkServiceID);

  test("do not fight: the older one has it", () => {
    const paper = world([], younger, older);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/a/")]);
  });

  test("do not fight: whoever has it keeps it", () => {
    const paper = world([], younger);
    afterPass(paper);
    paper.put(workload(older));
    paper.reconcile(60_000);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/b/")]);
  });

  test("do not fight over a name that only the API server tells apart", () => {
    const shouted = { ...younger, links: [{ name: "WC1-api-privatelink" }] };
    const paper = world([], shouted, older);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/a/")]);
    paper.put(workload({ ...older, deleting: true }));
    paper.reconcile(60_000);
    expect(serviceIn(paper)).toEqual([]);
    paper.reconcile(60_000);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/b/")]);
  });

  test("attack: a younger one that is ready first does not take the name of the older", () => {
    const paper = world([], younger, { ...older, linksReady: "False" });
    expect(serviceIn(paper)).toEqual([]);
    paper.put(workload(older));
    paper.reconcile(60_000);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/a/")]);
  });

  test("have an endpoint of theirs left as it is spelt", () => {
    const name = ofFirst.name.toUpperCase();
    expect(world([{ ...ofFirst, name }], {}).planManagement().steps).toEqual([]);
  });

  test("pass it on when the one that has it goes", () => {
    const paper = world([], younger, older);
    afterPass(paper);
    paper.put(workload({ ...older, deleting: true }));
    paper.reconcile(60_000);
    expect(serviceIn(paper)).toEqual([expect.stringContaining("/resourceGroups/b/")]);
  });
});

describe("the management cluster under the policy upsert-only", () => {
  const restricted = (paper: PaperClusters) =>
    restrictPlan(paper.planManagement(), "upsert-only", undefined);

  test("gets endpoints, and has those corrected that differ", () => {
    const paper = world([{ ...ofFirst, location: "old" }], {}, { name: "wc2" });
    expect(restricted(paper).steps).toHaveLength(1);
  });

  test("gets the endpoint of one cluster while that of another is not removed", () => {
    const paper = world([ofFirst], { links: [] }, { name: "wc2" });
    for (let passes = 0; passes < 3; passes++) {
      for (const step of restricted(paper).steps) paper.apply(step);
      paper.reconcile(60_000);
    }
    expect(paper.endpointsOf(managementKey)).toEqual([ofFirst, endpointTo("wc2")]);
    expect(restricted(paper).withheld).toMatchObject([{ do: "update AzureCluster" }]);
  });

  test.each([
    ["of a link that is gone", { links: [] }],
    ["of a cluster that is being deleted", { deleting: true, hasFinalizer: true }],
  ])("keeps the endpoint %s", (_what, over: Shape) => {
    const { steps, withheld } = restricted(world([ofFirst], over));
    expect({ steps, withheld }).toMatchObject({
      steps: [],
      withheld: [{ do: "update AzureCluster" }],
    });
  });
});

describe("writes", () => {
  test("are one for all clusters", () => {
    const many = Array.from({ length: 50 }, (_, n) => ({ name: `wc${n}` }));
    const paper = world([foreign], ...many);
    expect(afterPass(paper)).toHaveLength(51);
    expect(paper.writes).toBe(1);
  });

  test("are 5 seconds apart", () => {
    const paper = world([], {});
    afterPass(paper);
    paper.put(workload({ name: "wc2" }));
    paper.reconcile(2_000);
    expect(paper.planManagement()).toMatchObject({ steps: [], requeue: { afterMs: 3_000 } });
    paper.reconcile(3_000);
    expect(afterPass(paper)).toHaveLength(2);
  });

  test("hold nothing that the API server would refuse for everybody", () => {
    const paper = world(
      [],
      { name: "bad", links: [{ name: "no spaces" }] },
      { name: "worse", subscription: "" },
      { name: "worst", group: "a/b" },
      {},
    );
    expect(afterPass(paper)).toEqual([ofFirst]);
  });
});
