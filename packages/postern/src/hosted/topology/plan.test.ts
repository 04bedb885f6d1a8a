import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { describe, expect, test } from "vitest";
import {
  clusterOf,
  linkOf,
  observedOf,
  type Shape,
  TopologyWorld,
} from "../../../../../test/hosted/topology-world.ts";
import { clusterAnnotation, endpointFinalizer, hostedClusterFinalizer } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

/** What is done beside the status, and what TopologyApplied says. */
function outcome(observed: Observed) {
  const { steps, conditions, finalizer } = plan(observed);
  const problem = conditions.find(({ type }) => type === "TopologyApplied");
  return {
    does: steps
      .filter((step) => step.verb !== "change" || step.subresource === undefined)
      .map(({ do: what, name }) => `${what} ${name}`),
    says: problem && `${problem.status} ${problem.reason}`,
    finalizer,
  };
}

function settled(shape: Shape = {}): TopologyWorld {
  const world = new TopologyWorld(clusterOf(shape));
  world.settle();
  return world;
}

const azureOf = (world: TopologyWorld) => world.cluster.spec.platform.azure ?? ({} as never);

describe("where HyperShift is there", () => {
  test.each(["Public", "PublicAndPrivate", "Private"] as const)(
    "nothing of a %s cluster is written but conditions",
    (topology) => {
      expect(outcome(observedOf(clusterOf({ topology }), { hyperShift: true }))).toEqual({
        does: [],
        says: undefined,
        finalizer: undefined,
      });
    },
  );

  test("a cluster that is being deleted is left to it", () => {
    const metadata = {
      deletionTimestamp: "2026-01-01T00:00:00Z",
      finalizers: [hostedClusterFinalizer],
    };
    expect(outcome(observedOf(clusterOf({ metadata }), { hyperShift: true }))).toMatchObject({
      does: [],
      finalizer: undefined,
    });
  });

  test("a contradiction is said all the same", () => {
    const cluster = clusterOf({ azure: { endpointAccess: { type: "Private" } } });
    expect(outcome(observedOf(cluster, { hyperShift: true })).says).toBe("False TwoSpellings");
  });
});

describe("without HyperShift", () => {
  test("a cluster gets its numbers and its namespace, then its control plane, then its network", () => {
    const cluster = clusterOf();
    delete cluster.spec.clusterID;
    delete cluster.spec.infraID;
    const world = new TopologyWorld(cluster);
    expect(outcome(world.see())).toEqual({
      does: ["update HostedCluster one", "create Namespace clusters-one"],
      says: "False Applying",
      finalizer: "add",
    });
    world.reconcile();
    expect(world.cluster.spec.clusterID).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(world.cluster.spec.infraID).toMatch(/^one-[0-9a-f]{5}$/);
    expect(outcome(world.see()).does).toEqual(["create HostedControlPlane one"]);
    world.reconcile();
    expect(outcome(world.see()).does).toContain("create Service private-router");
    world.settle();
    expect(outcome(world.see())).toEqual({
      does: [],
      says: "True AzureSuccess",
      finalizer: "add",
    });
  });

  test("the numbers are the same however often they are made, and others for another cluster", () => {
    const numbersFor = (uid: string) => {
      const cluster = clusterOf({ metadata: { uid } });
      delete cluster.spec.clusterID;
      delete cluster.spec.infraID;
      const [step] = plan(observedOf(cluster)).steps;
      return step?.verb === "change" ? step.change : undefined;
    };
    expect(numbersFor("a")).toEqual(numbersFor("a"));
    expect(numbersFor("a")).not.toEqual(numbersFor("b"));
  });

  test("the control plane is a copy that follows the cluster, annotations included", () => {
    const annotations = { "postern.io/private-dns": "none", "example.com/note": "hello" };
    const world = settled({ metadata: { annotations } });
    const plane = () => world.get<HostedControlPlane>("HostedControlPlane", "one");
    expect(plane()?.spec).toEqual(world.cluster.spec);
    expect(plane()?.metadata.annotations).toEqual({
      ...annotations,
      [clusterAnnotation]: "clusters/one",
    });
    azureOf(world).private = {
      type: "PrivateLink",
      privateLink: { additionalAllowedSubscriptions: ["a"] },
    };
    world.cluster.metadata.annotations = {};
    world.settle();
    expect(plane()?.spec).toEqual(world.cluster.spec);
    expect(plane()?.metadata.annotations).toEqual({
      [clusterAnnotation]: "clusters/one",
      "example.com/note": "hello",
    });
    azureOf(world).private = { type: "PrivateLink" };
    world.settle();
    expect(plane()?.spec).toEqual(world.cluster.spec);
  });

  test("what somebody changes or deletes is put right", () => {
    const world = settled();
    const service = world.get<Service>("Service", "private-router");
    if (!service?.spec) throw new Error("there is no router");
    service.spec.selector = { app: "other" };
    service.spec.ports = [{ port: 80 }];
    service.metadata.annotations = { "example.com/kept": "yes" };
    service.metadata.ownerReferences = [];
    world.drop("Route", "oauth-internal");
    expect(outcome(world.see()).does).toEqual([
      "update Service private-router",
      "create Route oauth-internal",
    ]);
    world.settle();
    expect(world.get<Service>("Service", "private-router")).toMatchObject({
      metadata: {
        annotations: {
          "example.com/kept": "yes",
          "service.beta.kubernetes.io/azure-load-balancer-internal": "true",
        },
        ownerReferences: [{ kind: "HostedControlPlane" }],
      },
      spec: { selector: { app: "private-router" }, ports: [{ port: 443, targetPort: "https" }] },
    });
  });

  test("what the API server fills in is not taken for a change", () => {
    const world = settled();
    const service = world.get<Service>("Service", "private-router");
    const ports = service?.spec?.ports?.map((port) => ({ ...port, nodePort: 31_000 }));
    Object.assign(service?.spec ?? {}, { ports, clusterIP: "10.9.9.9", sessionAffinity: "None" });
    expect(outcome(world.see()).does).toEqual([]);
  });

  test("a Service of somebody else is left alone, and that is said", () => {
    const world = settled();
    const service = world.get<Service>("Service", "private-router");
    if (!service) throw new Error("there is no router");
    service.metadata.labels = {};
    service.metadata.ownerReferences = [];
    service.spec = { type: "ClusterIP" };
    expect(outcome(world.see())).toMatchObject({ does: [], says: "False OwnedByAnother" });
  });

  test("what HyperShift left behind is taken over: it belongs to the control plane", () => {
    const world = settled();
    const service = world.get<Service>("Service", "private-router");
    if (service) service.metadata.labels = {};
    expect(outcome(world.see()).does).toEqual(["update Service private-router"]);
  });

  test("a namespace or a control plane of another cluster is left alone, and that is said", () => {
    const world = settled();
    if (world.namespace) world.namespace.metadata.annotations = { [clusterAnnotation]: "a/b" };
    expect(outcome(world.see())).toMatchObject({ does: [], says: "False OwnedByAnother" });
    const other = settled();
    const plane = other.get("HostedControlPlane", "one");
    if (plane) plane.metadata.annotations = { [clusterAnnotation]: "a/b" };
    expect(outcome(other.see())).toMatchObject({ does: [], says: "False OwnedByAnother" });
  });

  test("a control plane with rubbish for its cluster is put right", () => {
    const world = settled();
    const plane = world.get("HostedControlPlane", "one");
    if (plane) plane.metadata.annotations = { [clusterAnnotation]: "rubbish" };
    expect(outcome(world.see()).does).toEqual(["update HostedControlPlane one"]);
  });

  test("a cluster that lost its number gets that of its control plane back", () => {
    const world = settled();
    const { clusterID } = world.cluster.spec;
    delete world.cluster.spec.clusterID;
    world.settle();
    expect(world.cluster.spec.clusterID).toBe(clusterID);
  });

  test("a name that no namespace can have is refused with a way out", () => {
    const name = "n".repeat(60);
    const { conditions, steps } = plan(observedOf(clusterOf({ metadata: { name } })));
    expect(steps).toEqual([]);
    expect(conditions.find(({ type }) => type === "TopologyApplied")).toMatchObject({
      reason: "NameUnusable",
      message: expect.stringContaining("create the cluster under another name"),
    });
  });

  test("a dot in the name becomes a dash in the namespace, as HyperShift has it", () => {
    const { steps } = plan(observedOf(clusterOf({ metadata: { name: "one.two" } })));
    expect(steps).toContainEqual(
      expect.objectContaining({
        do: "create Namespace",
        kind: "Namespace",
        object: expect.objectContaining({
          metadata: expect.objectContaining({ name: "clusters-one-two" }),
        }),
      }),
    );
  });

  test("a Service that somebody deletes is waited for, and its finalizers are named", () => {
    const world = settled();
    const service = world.get<Service>("Service", "private-router");
    if (!service) throw new Error("there is no router");
    service.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    service.metadata.finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
    const problem = plan(world.see()).conditions.find(({ type }) => type === "TopologyApplied");
    expect(problem?.message).toContain(
      "has the finalizers service.kubernetes.io/load-balancer-cleanup",
    );
    expect(problem?.message).toContain("delete the AzurePrivateLinkService");
  });

  test("attack: a namespace of the computed name is not taken over", () => {
    const world = new TopologyWorld(clusterOf());
    world.namespace = { metadata: { name: "clusters-one" } };
    const outcomeNow = outcome(world.see());
    expect(outcomeNow).toMatchObject({ does: [], says: "False OwnedByAnother" });
    world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    world.settle();
    expect(world.namespace.metadata.deletionTimestamp).toBeUndefined();
    expect(world.cluster.metadata.finalizers ?? []).toEqual([]);
  });

  test.each([
    ["kube", "system"],
    ["openshift", "ingress"],
  ])("attack: HostedCluster %s/%s does not enter a reserved namespace", (namespace, name) => {
    const world = new TopologyWorld(clusterOf({ metadata: { namespace, name } }));
    expect(outcome(world.see())).toMatchObject({ does: [], says: "False NamespaceReserved" });
  });

  test("a namespace that was handed over is used, but not deleted with the cluster", () => {
    const world = new TopologyWorld(clusterOf());
    const annotations = { "hypershift.openshift.io/cluster": "clusters/one" };
    world.namespace = { metadata: { name: "clusters-one", annotations } };
    world.settle();
    expect(outcome(world.see()).says).toBe("True AzureSuccess");
    world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    world.settle();
    expect(world.namespace.metadata.deletionTimestamp).toBeUndefined();
    expect(world.cluster.metadata.finalizers).toEqual([]);
  });

  test("a namespace of an earlier cluster that is still being deleted is waited for", () => {
    const world = new TopologyWorld(clusterOf());
    world.namespace = {
      metadata: { name: "clusters-one", deletionTimestamp: "2026-01-01T00:00:00Z" },
    };
    expect(outcome(world.see())).toMatchObject({ does: [], says: "False NamespaceTerminating" });
  });

  test("where Routes are not served the Services are made, and what is missing is said", () => {
    const world = settled();
    const observed = { ...world.see(), routes: undefined };
    expect(outcome(observed)).toMatchObject({ does: [], says: "False RoutesNotServed" });
    expect(outcome({ ...observed, services: [] }).does).toContain("create Service private-router");
  });

  test("a paused cluster is not changed, and keeps its conditions", () => {
    const world = settled();
    world.drop("Service", "private-router");
    const found = {
      type: "TopologyApplied",
      status: "True" as const,
      reason: "AzureSuccess",
      message: "as it was",
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const observed = world.see();
    observed.cluster.status = { conditions: [found] };
    expect(outcome({ ...observed, pause: { paused: true } })).toEqual({
      does: [],
      says: "True AzureSuccess",
      finalizer: undefined,
    });
    expect(plan({ ...observed, pause: { paused: true, untilMs: 5 } }).requeue).toEqual({
      afterMs: 5,
    });
    expect(outcome(observed).does).toEqual(["create Service private-router"]);
  });

  test.each<[string, Shape]>([
    ["on another platform", { spec: { platform: { type: "AWS" } } }],
    ["by Swift", { azure: { private: { type: "Swift", swift: { podNetworkInstance: "a" } } } }],
  ])("a cluster %s is not Postern's", (_, shape) => {
    expect(outcome(observedOf(clusterOf(shape)))).toEqual({
      does: [],
      says: undefined,
      finalizer: undefined,
    });
  });

  test("a cluster that contradicts itself gets no finalizer and nothing is created", () => {
    const cluster = clusterOf({ azure: { endpointAccess: { type: "Private" } } });
    expect(outcome(observedOf(cluster))).toEqual({
      does: [],
      says: "False TwoSpellings",
      finalizer: undefined,
    });
  });

  test("an API server whose port workers cannot reach through the endpoint is reported, and the rest is created", () => {
    const world = settled({ api: "LoadBalancer" });
    expect(world.names("Service")).toContain("private-router");
    expect(outcome(world.see()).says).toBe("False APIServerNotBehindLink");
  });
});

describe("a change of topology", () => {
  test("to Private keeps the public way until the private link is available for this generation", () => {
    const world = settled({ topology: "PublicAndPrivate" });
    world.giveAddresses();
    azureOf(world).topology = "Private";
    world.settle();
    expect(world.names("Service")).toContain("router");
    expect(world.names("Route")).toEqual(
      expect.arrayContaining(["kube-apiserver", "kube-apiserver-private", "oauth"]),
    );
    expect(outcome(world.see()).says).toBe("False WaitingForPrivateLink");

    world.put(
      "AzurePrivateLinkService",
      linkOf("private-router", { available: ["True", "AzureSuccess"] }, { generation: 2 }),
    );
    expect(outcome(world.see()).says).toBe("False WaitingForPrivateLink");

    world.setLinks(true);
    world.settle();
    expect(world.names("Service")).not.toContain("router");
    expect(world.names("Route")).not.toContain("kube-apiserver");
    expect(outcome(world.see()).says).toBe("True AzureSuccess");
  });

  test("takes nothing away before what is new has been made", () => {
    const world = settled({ topology: "PublicAndPrivate" });
    world.giveAddresses();
    world.setLinks(true);
    azureOf(world).topology = "Private";
    world.drop("Route", "kube-apiserver-internal");
    expect(outcome(world.see()).does.filter((each) => each.startsWith("delete"))).toEqual([]);
    world.reconcile();
    expect(outcome(world.see()).does).toContain("delete Route kube-apiserver");
  });

  test("to Private keeps the public way while the router's load balancer has no address", () => {
    const world = settled({ topology: "PublicAndPrivate" });
    world.giveAddresses();
    world.setLinks(true);
    world.drop("Service", "private-router");
    azureOf(world).topology = "Private";
    world.settle();
    expect(world.names("Service")).toContain("router");
    world.giveAddresses();
    world.settle();
    expect(world.names("Service")).not.toContain("router");
  });

  test("to PublicAndPrivate keeps the private names until the public way has an address", () => {
    const world = settled();
    world.giveAddresses();
    world.setLinks(true);
    azureOf(world).topology = "PublicAndPrivate";
    world.settle();
    expect(world.names("Route")).toContain("kube-apiserver-private");
    expect(outcome(world.see()).says).toBe("False WaitingForPublicAddress");
    world.giveAddresses();
    world.settle();
    expect(world.names("Route")).not.toContain("kube-apiserver-private");
    expect(world.names("Service")).toContain("private-router");
    expect(outcome(world.see()).says).toBe("True AzureSuccess");
  });

  test("keeps the old way while a router refuses the new one", () => {
    const world = settled();
    world.setLinks(true);
    azureOf(world).topology = "PublicAndPrivate";
    world.settle();
    world.giveAddresses();
    const route = world.get("Route", "kube-apiserver") as { status?: object } | undefined;
    const says = (status: string) => ({
      ingress: [{ conditions: [{ type: "Admitted", status }] }],
    });
    Object.assign(route ?? {}, { status: says("False") });
    expect(outcome(world.see()).says).toBe("False WaitingForPublicAddress");
    Object.assign(route ?? {}, { status: says("True") });
    expect(outcome(world.see()).does).toEqual(["delete Route kube-apiserver-private"]);
  });

  test("to Private never closes the only way to an API server whose port the link does not serve", () => {
    const world = settled({ topology: "PublicAndPrivate", api: "LoadBalancer" });
    world.giveAddresses();
    world.setLinks(true);
    azureOf(world).topology = "Private";
    world.settle();
    expect(world.names("Service")).toContain("kube-apiserverlb");
    expect(outcome(world.see()).says).toBe("False WaitingForPrivateLink");
  });

  test("deletes nothing that we did not make", () => {
    const world = settled({ topology: "PublicAndPrivate" });
    const router = world.get("Service", "router");
    if (router) router.metadata.labels = {};
    world.giveAddresses();
    world.setLinks(true);
    azureOf(world).topology = "Private";
    world.settle();
    expect(world.names("Service")).toContain("router");
  });
});

describe("a cluster that is being deleted", () => {
  function deleting(shape: Shape = {}): TopologyWorld {
    const world = settled(shape);
    world.giveAddresses();
    world.setLinks(true);
    world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    return world;
  }

  test("takes its control plane, its links, its network and its namespace down, in this order", () => {
    const world = deleting({ oauth: "LoadBalancer" });
    expect(outcome(world.see()).does).toEqual(["delete HostedControlPlane one"]);
    world.reconcile();
    expect(outcome(world.see()).does).toEqual([
      "delete AzurePrivateLinkService private-router",
      "delete AzurePrivateLinkService oauth-openshift",
    ]);
    world.settle();
    expect(outcome(world.see())).toMatchObject({ does: [], says: "False Deleting" });
    expect(world.names("Service")).toContain("private-router");

    world.finishDeletions();
    expect(outcome(world.see()).does).toContain("delete Service private-router");
    world.reconcile();
    expect(world.names("Service")).toEqual([]);
    expect(world.names("Route")).toEqual([]);
    expect(outcome(world.see()).does).toEqual(["delete Namespace clusters-one"]);
    world.reconcile();
    expect(outcome(world.see())).toMatchObject({ does: [], finalizer: "remove" });
  });

  test("says what it waits for, and its finalizers", () => {
    const world = deleting();
    world.settle();
    const problem = plan(world.see()).conditions.find(({ type }) => type === "TopologyApplied");
    expect(problem?.message).toContain(`private-router (finalizers: ${endpointFinalizer})`);
  });

  test("continues while it is paused, and although it contradicts itself", () => {
    const world = deleting();
    azureOf(world).endpointAccess = { type: "Private" };
    const observed = { ...world.see(), pause: { paused: true } as const };
    expect(outcome(observed).does).toEqual(["delete HostedControlPlane one"]);
  });

  test("without a control plane still deletes its links", () => {
    const world = deleting();
    world.drop("HostedControlPlane", "one");
    expect(outcome(world.see()).does).toEqual(["delete AzurePrivateLinkService private-router"]);
  });

  test("that was never begun with is let go at once", () => {
    const metadata = {
      deletionTimestamp: "2026-01-01T00:00:00Z",
      finalizers: [hostedClusterFinalizer],
    };
    expect(outcome(observedOf(clusterOf({ metadata })))).toMatchObject({
      does: [],
      finalizer: "remove",
    });
  });

  test("continues although it is not on Azure any more, if the control plane is ours", () => {
    const world = deleting();
    world.cluster.metadata.finalizers = [hostedClusterFinalizer];
    world.cluster.spec.platform = { type: "None" } as never;
    expect(outcome(world.see()).does).toEqual([expect.stringContaining("HostedControlPlane")]);
    const { cluster } = world;
    const foreign = { ...cluster, status: {}, metadata: { ...cluster.metadata } };
    expect(outcome(observedOf(foreign))).toMatchObject({ does: [], finalizer: undefined });
    const conditions = [{ type: "TopologyApplied" }];
    const last = observedOf({ ...foreign, status: { conditions } } as never);
    expect(outcome(last)).toMatchObject({ does: [], finalizer: "remove" });
    expect(outcome({ ...last, hyperShift: true }).finalizer).toBeUndefined();
  });

  test("touches nothing in a namespace that another cluster has: that is why it was refused", () => {
    const other = settled();
    const observed = other.see();
    const metadata = {
      name: "b-one",
      namespace: "clusters",
      deletionTimestamp: "2026-01-01T00:00:00Z",
      finalizers: [hostedClusterFinalizer],
    };
    const cluster = clusterOf({ metadata });
    expect(outcome({ ...observed, cluster })).toMatchObject({ does: [], finalizer: "remove" });
  });

  test("leaves what belongs to another cluster in the same namespace alone", () => {
    const world = deleting();
    world.settle();
    world.finishDeletions();
    world.put(
      "AzurePrivateLinkService",
      linkOf("other", {}, { annotations: { [clusterAnnotation]: "a/b" } }),
    );
    world.settle();
    expect(world.names("AzurePrivateLinkService")).toEqual(["other"]);
    expect(world.cluster.metadata.finalizers).toEqual([]);
  });
});

describe("the account by which a control plane proves who it is", () => {
  test.each([
    ["Private", ["control-plane-operator"]],
    ["PublicAndPrivate", ["control-plane-operator"]],
    ["Public", []],
  ] as const)("of a %s cluster: %j; it goes with the cluster", (topology, names) => {
    const world = new TopologyWorld(clusterOf({ topology }));
    world.settle();
    expect(world.names("ServiceAccount")).toEqual(names);
    expect(world.get("ServiceAccount", "control-plane-operator")?.metadata.ownerReferences).toEqual(
      names.length > 0 ? [expect.objectContaining({ kind: "HostedControlPlane" })] : undefined,
    );
    world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    for (let i = 0; i < 10; i++) {
      world.settle();
      world.finishDeletions();
    }
    expect(world.names("ServiceAccount")).toEqual([]);
  });

  test("that somebody else made is left alone", () => {
    const world = new TopologyWorld(clusterOf());
    world.put("ServiceAccount", { metadata: { name: "control-plane-operator" } });
    world.settle();
    world.cluster.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    for (let i = 0; i < 10; i++) {
      world.settle();
      world.finishDeletions();
    }
    expect(world.names("ServiceAccount")).toEqual(["control-plane-operator"]);
  });
});
