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
import { plan } from "./plan.ts";

const key = "org-acme/wc1";
const apiName = "wc1-api-privatelink-privateendpoint";

/** A cluster that was connected and is now to go. */
function remaining(mc: Shape = {}, wc: Shape = {}): PaperClusters {
  const paper = new PaperClusters(management(mc), workload(wc));
  paper.settle();
  paper.get(key).metadata.deletionTimestamp = "2026-02-01T00:00:00Z";
  return paper;
}

const apiId = (paper: PaperClusters) => idOf(groupPath(paper.get(managementKey)), apiName);
const reported = (paper: PaperClusters) => paper.planWorkload(key).conditions[0]?.reason;

/** What the management cluster's pass does. */
function takenOut(paper: PaperClusters): PaperClusters {
  paper.reconcile(10_000);
  for (const step of paper.planManagement().steps) paper.apply(step);
  return paper;
}

describe("a cluster that is being deleted", () => {
  test("keeps its finalizer while the management cluster still has an endpoint to it: the endpoint is not orphaned", () => {
    const paper = remaining();
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], requeue: { afterMs: 60_000 } });
    expect(paper.planWorkload(key).finalizer).toBeUndefined();
    expect(reported(paper)).toBe("PrivateEndpointsLeaving");
  });

  test("keeps its finalizer while Azure has the endpoint, which CAPZ may delete within two minutes", () => {
    const paper = takenOut(remaining());
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], requeue: { afterMs: 60_000 } });
    paper.reconcile(119_000);
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], requeue: { afterMs: 1_000 } });
    paper.azure.delete(apiId(paper));
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], finalizer: "remove" });
  });

  test("has its endpoint deleted after two minutes, as a stock CAPZ never does", () => {
    const paper = takenOut(remaining());
    paper.planWorkload(key);
    paper.reconcile(120_000);
    const { steps, finalizer } = paper.planWorkload(key);
    expect(steps).toMatchObject([
      { do: "delete private endpoint", id: expect.stringMatching(/wc1-api/i) },
    ]);
    expect(finalizer).toBeUndefined();
  });

  test("keeps its finalizer for 20 seconds although nothing is there: a write from before may be under way", () => {
    const paper = new PaperClusters(management(), workload({ deleting: true, hasFinalizer: true }));
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], requeue: { afterMs: 20_000 } });
    paper.reconcile(20_000);
    expect(paper.planWorkload(key).finalizer).toBe("remove");
  });

  test("goes when nothing is left, and nothing is", () => {
    const paper = remaining();
    paper.settle();
    expect(paper.objects.has(key)).toBe(false);
    expect([...paper.azure.keys()]).toEqual([]);
    expect(paper.endpointsOf(managementKey)).toEqual([]);
  });

  test("leaves no endpoint although its link stopped admitting the management subscription first", () => {
    const paper = remaining();
    const [link] = paper.get(key).spec.networkSpec?.apiServerLB?.privateLinks ?? [];
    if (link) link.allowedSubscriptions = [];
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([]);
  });

  test("goes clean although its links were taken out first", () => {
    const paper = remaining();
    const balancer = paper.get(key).spec.networkSpec?.apiServerLB;
    if (balancer) balancer.privateLinks = [];
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([]);
  });

  test("leaves what neither CAPZ nor we have marked, says so, and goes", () => {
    const paper = remaining();
    const found = paper.azure.get(apiId(paper));
    if (found) found.tags = { by: "hand" };
    takenOut(paper);
    expect(reported(paper)).toBe("PrivateEndpointsLeft");
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([apiId(paper)]);
    expect(paper.objects.has(key)).toBe(false);
  });

  test("has what Postern made deleted, by its owner tag", () => {
    const paper = remaining();
    const found = paper.azure.get(apiId(paper));
    if (found) found.tags = { postern_owner: "org-mc/mc" };
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([]);
  });

  test("leaves what Postern made for another management cluster", () => {
    const paper = remaining();
    const found = paper.azure.get(apiId(paper));
    if (found) found.tags = { postern_owner: "org-other/mc" };
    takenOut(paper);
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([apiId(paper)]);
  });

  test("has its endpoint taken out of the subnet that the nodes had before", () => {
    const paper = remaining();
    const subnets = paper.get(managementKey).spec.networkSpec?.subnets ?? [];
    subnets.unshift({ name: "new-nodes", role: "node" } as never);
    expect(reported(paper)).toBe("PrivateEndpointsLeaving");
    paper.settle();
    expect(paper.endpointsOf(managementKey)).toEqual([]);
    expect([...paper.azure.keys()]).toEqual([]);
    expect(paper.objects.has(key)).toBe(false);
  });

  test("leaves what is marked as another management cluster's", () => {
    const paper = remaining();
    const found = paper.azure.get(apiId(paper));
    if (found) found.tags = { "sigs.k8s.io_cluster-api-provider-azure_cluster_mc2": "owned" };
    takenOut(paper);
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([apiId(paper)]);
  });

  test("leaves an endpoint to a cluster whose name begins the same", () => {
    const paper = remaining();
    paper.put(workload({ name: "wc10" }));
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([expect.stringMatching(/wc10-api-privatelink-/)]);
  });

  test("leaves an endpoint that a person asks for in another subnet", () => {
    const paper = remaining();
    const [requested] = paper.endpointsOf(managementKey);
    const subnets = paper.get(managementKey).spec.networkSpec?.subnets ?? [];
    if (requested && subnets[0]) subnets[0].privateEndpoints = [{ ...requested, name: "mine" }];
    const id = idOf(groupPath(paper.get(managementKey)), "mine");
    if (requested) paper.azure.set(id, endpointIn(id, paper.get(managementKey), requested));
    paper.settle();
    expect([...paper.azure.keys()]).toEqual([id]);
  });

  test("is not blocked by a management cluster that has no subnets any more", () => {
    const paper = remaining();
    const network = paper.get(managementKey).spec.networkSpec;
    if (network) network.subnets = [];
    paper.settle();
    expect(paper.objects.has(key)).toBe(false);
    expect([...paper.azure.keys()]).toEqual([]);
  });

  test("without our finalizer is none of our business", () => {
    const paper = remaining();
    paper.get(key).metadata.finalizers = [];
    expect(paper.planWorkload(key)).toMatchObject({ steps: [], conditions: [], requeue: "never" });
  });

  test("goes with a management cluster that is being deleted, too", () => {
    const paper = remaining();
    paper.get(managementKey).metadata.deletionTimestamp = "2026-02-01T00:00:00Z";
    expect(paper.planWorkload(key).finalizer).toBe("remove");
  });
});

describe("a deletion that cannot go on says the way out", () => {
  const abandon = (paper: PaperClusters) => {
    paper.get(key).metadata.annotations = {
      ...paper.get(key).metadata.annotations,
      "postern.io/abandon-endpoints": "true",
    };
  };

  test("when the management cluster is missing, instead of waiting silently", () => {
    const paper = remaining();
    paper.objects.delete(managementKey);
    expect(reported(paper)).toBe("ManagementClusterNotFound");
    expect(paper.planWorkload(key).conditions[0]?.message).toContain(
      "postern.io/abandon-endpoints",
    );
    abandon(paper);
    const first = paper.planWorkload(key);
    expect(first.finalizer).toBeUndefined();
    expect(first.events).toMatchObject([{ reason: "PrivateEndpointsAbandoned", type: "Warning" }]);
    paper.get(key).status = { conditions: first.conditions as never };
    expect(paper.planWorkload(key).finalizer).toBe("remove");
  });

  test("when the management cluster is missing, but goes at once where there was never a link", () => {
    const paper = remaining({}, { type: "Public", links: [] });
    paper.objects.delete(managementKey);
    expect(paper.planWorkload(key).finalizer).toBe("remove");
  });

  test("when the management cluster is paused", () => {
    const paper = remaining();
    paper.get(managementKey).metadata.annotations = { "cluster.x-k8s.io/paused": "" };
    expect(reported(paper)).toBe("ManagementClusterPaused");
    abandon(paper);
    expect(reported(paper)).toBe("PrivateEndpointsAbandoned");
  });

  test("when the management cluster cannot be written, and only then", () => {
    const paper = remaining();
    abandon(paper);
    expect(reported(paper)).toBe("PrivateEndpointsLeaving");
    paper.reconcile(119_000);
    expect(paper.planWorkload(key)).toMatchObject({ requeue: { afterMs: 1_000 } });
    paper.reconcile(1_000);
    expect(reported(paper)).toBe("PrivateEndpointsAbandoned");
    paper.get(key).metadata.annotations = {};
    expect(reported(paper)).toBe("ManagementClusterNotWritten");
    expect(paper.planWorkload(key).conditions[0]?.message).toContain("abandon-endpoints");
    takenOut(paper);
    expect(reported(paper)).toBe("PrivateEndpointsLeaving");
  });

  test("when there is no identity to read Azure with, instead of waiting silently", () => {
    const paper = takenOut(remaining());
    const failed = { reason: "ClusterIdentityMissing", message: "what · why · what to do" };
    const observe = () => {
      const observed = paper.see(key);
      return {
        ...observed,
        remaining: { inSpec: [], inAzure: [], inSpecMs: 0, cleanMs: 0, failed },
      };
    };
    expect(plan(observe()).conditions).toMatchObject([
      {
        reason: "ClusterIdentityMissing",
        message: expect.stringContaining("postern.io/abandon-endpoints"),
      },
    ]);
    abandon(paper);
    expect(plan(observe()).events).toMatchObject([{ reason: "PrivateEndpointsAbandoned" }]);
  });

  test("when Azure refuses to delete, and only then is it abandoned", () => {
    const paper = takenOut(remaining());
    abandon(paper);
    paper.planWorkload(key);
    paper.reconcile(120_000);
    const observed = paper.see(key);
    expect(plan(observed).steps).toHaveLength(1);
    const condition = {
      type: "GSPrivateLinksReady",
      status: "False",
      reason: "PrivateEndpointDeletionFailed",
      message: "no right",
      lastTransitionTime: "",
    } as const;
    expect(plan({ ...observed, condition }).events).toMatchObject([
      { reason: "PrivateEndpointsAbandoned" },
    ]);
  });
});
