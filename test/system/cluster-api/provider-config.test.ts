import { providerConfigFeature } from "postern/cluster-api/provider-config/feature.ts";
import { expect, onTestFinished, test } from "vitest";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  azureClusterObject,
  clusterObject,
  identityObject,
  labelNamespace,
  namespaces,
} from "./objects.ts";

const finalizer = "azure.giantswarm.io/providerconfig";
const spec = {
  credentials: { source: "UserAssignedManagedIdentity" },
  clientID: "client",
  subscriptionID: "11111111-1111-4111-8111-111111111111",
  tenantID: "tenant",
};

describeHosted("the ProviderConfig of a Cluster", (startWorld) => {
  async function start() {
    const world = await startWorld({ features: () => [providerConfigFeature()] });
    await namespaces(world, "org", "other");
    return world;
  }
  type Made = Parameters<HostedWorld["make"]>[0];
  const config = (world: HostedWorld, name = "wc") => world.get("ProviderConfig", "", name);
  const cluster = (world: HostedWorld, namespace = "org") => world.get("Cluster", namespace, "wc");
  const secret = (data: Record<string, string>) =>
    ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "org", name: "credential" },
      stringData: data,
    }) as Made;

  async function reported(world: HostedWorld, namespace = "org"): Promise<string[]> {
    await world.advance(5_000);
    const events = await world.list("Event", namespace);
    return events.map((event) => (event as unknown as { reason: string }).reason);
  }

  async function workload(world: HostedWorld, namespace = "org", over: object = {}) {
    const identityRef = { kind: "AzureClusterIdentity", name: "one" };
    await world.make(azureClusterObject(namespace, "wc", { identityRef, ...over }));
    const made = await world.make(clusterObject(namespace, "wc"));
    await world.settled();
    return made;
  }

  /** A cluster of AKS, through Azure Service Operator. */
  async function aks(world: HostedWorld, resources: object[]) {
    const infrastructureRef = {
      apiGroup: "infrastructure.cluster.x-k8s.io",
      kind: "AzureASOManagedCluster",
      name: "wc",
    };
    const controlPlaneRef = { ...infrastructureRef, kind: "AzureASOManagedControlPlane" };
    await world.make({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "AzureASOManagedControlPlane",
      metadata: { namespace: "org", name: "wc" },
      spec: { resources },
    } as Made);
    await world.make(clusterObject("org", "wc", { infrastructureRef, controlPlaneRef }));
    await world.settled();
  }

  test("is made, put right when it is changed or robbed, and goes with the Cluster", async () => {
    const world = await start();
    await world.make(identityObject("org", "one"));
    const made = await workload(world);
    expect((await config(world))?.spec).toEqual(spec);
    expect((await cluster(world))?.metadata.finalizers).toEqual([finalizer]);

    const first = await config(world);
    if (first) await world.patch(first, { spec: { clientID: "thief", environment: "china" } });
    await world.settled();
    expect((await config(world))?.spec).toEqual(spec);
    if (first) await world.remove(first);
    await world.settled();
    expect((await config(world))?.spec).toEqual(spec);

    await world.remove(made);
    await world.settled();
    expect(await config(world)).toBeUndefined();
    expect(await cluster(world)).toBeUndefined();
  });

  test("costs no write at rest", async () => {
    const world = await start();
    await world.make(identityObject("org", "one"));
    await workload(world);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("is made from the identity in the namespace that the reference names", async () => {
    const world = await start();
    await world.make(identityObject("other", "one", { clientID: "far" }));
    const identityRef = { kind: "AzureClusterIdentity", name: "one", namespace: "other" };
    await workload(world, "org", { identityRef });
    expect((await config(world))?.spec).toEqual({ ...spec, clientID: "far" });
  });

  test("is made from an identity beside the Cluster where that namespace has none", async () => {
    const world = await start();
    const identityRef = { kind: "AzureClusterIdentity", name: "one", namespace: "other" };
    await workload(world, "org", { identityRef });
    expect(await config(world)).toBeUndefined();
    await world.make(identityObject("org", "one"));
    await world.settled();
    expect((await config(world))?.spec).toEqual(spec);
  });

  test("is not made from an identity that does not admit the namespace", async () => {
    const world = await start();
    const identity = await world.make(
      identityObject("org", "one", { allowedNamespaces: { list: ["other"] } }),
    );
    await workload(world);
    expect(await config(world)).toBeUndefined();
    expect(await reported(world)).toContain("NamespaceNotAllowed");
    await world.patch(identity, { spec: { allowedNamespaces: { list: ["org"] } } });
    await world.settled();
    expect((await config(world))?.spec).toEqual(spec);
  });

  test("is made when the namespace gets a label by which an identity admits it", async () => {
    const world = await start();
    await namespaces(world, "labelled");
    await labelNamespace(world, "labelled", { team: null });
    const allowedNamespaces = { selector: { matchLabels: { team: "a" } } };
    await world.make(identityObject("labelled", "one", { allowedNamespaces }));
    await workload(world, "labelled");
    expect(await reported(world, "labelled")).toContain("NamespaceNotAllowed");
    await labelNamespace(world, "labelled", { team: "a" });
    await world.settled();
    expect((await config(world))?.spec).toEqual(spec);
  });

  test("of a managed cluster of CAPZ is made from the identity of its control plane", async () => {
    const world = await start();
    const ref = (kind: string, name: string) => ({
      apiGroup: "infrastructure.cluster.x-k8s.io",
      kind,
      name,
    });
    const made = await world.make(
      clusterObject("org", "wc", {
        infrastructureRef: ref("AzureManagedCluster", "wc"),
        controlPlaneRef: ref("AzureManagedControlPlane", "wc-control-plane"),
      }),
    );
    const subscriptionID = "33333333-3333-4333-8333-333333333333";
    const controlPlane = await world.make({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "AzureManagedControlPlane",
      metadata: { namespace: "org", name: "wc-control-plane" },
      spec: {
        location: "westeurope",
        subscriptionID,
        identityRef: { kind: "AzureClusterIdentity", name: "one" },
      },
    } as Made);
    await world.settled();
    expect(await config(world)).toBeUndefined();
    await world.make(identityObject("org", "one"));
    await world.settled();
    expect((await config(world))?.spec).toEqual({ ...spec, subscriptionID });
    await world.make(identityObject("org", "two", { clientID: "second" }));
    await world.patch(
      { ...controlPlane, kind: "AzureManagedControlPlane" },
      { spec: { identityRef: { name: "two" } } },
    );
    await world.settled();
    expect((await config(world))?.spec).toEqual({ ...spec, subscriptionID, clientID: "second" });
    await world.remove(made);
    await world.settled();
    expect(await config(world)).toBeUndefined();
    expect(await cluster(world)).toBeUndefined();
  });

  test("of two Clusters of one name is the first's, and the second's when that is gone", async () => {
    const world = await start();
    await world.make(identityObject("org", "one"));
    await world.make(identityObject("other", "one", { clientID: "second" }));
    const first = await workload(world);
    await workload(world, "other");
    expect((await config(world))?.spec).toEqual(spec);
    expect((await cluster(world, "other"))?.metadata.finalizers).toBeUndefined();
    expect(await reported(world, "other")).toContain("ProviderConfigTaken");

    await world.remove(first);
    await world.settled();
    expect((await config(world))?.spec).toEqual({ ...spec, clientID: "second" });
    expect(await cluster(world)).toBeUndefined();
  });

  test("of somebody else is neither changed nor deleted", async () => {
    const world = await start();
    const theirs = { ...spec, clientID: "theirs" };
    await world.make({
      apiVersion: "azure.upbound.io/v1beta1",
      kind: "ProviderConfig",
      metadata: { name: "wc" },
      spec: theirs,
    } as Made);
    await world.make(identityObject("org", "one"));
    const made = await workload(world);
    expect(await reported(world)).toContain("OwnedByAnother");
    await world.remove(made);
    await world.settled();
    expect((await config(world))?.spec).toEqual(theirs);
    expect(await cluster(world)).toBeUndefined();
  });

  test.each([
    ["a person", "kubectl", "theirs"],
    ["the operator before us", "manager", "client"],
  ])(
    "attack: a finalizer on a Cluster takes over what %s wrote only as far as the API server proves it",
    async (_name, manager, clientID) => {
      const world = await start();
      const path = `/apis/azure.upbound.io/v1beta1/providerconfigs?fieldManager=${manager}`;
      const theirs = { ...spec, clientID: "theirs" };
      await world.cluster.request("POST", path, {
        apiVersion: "azure.upbound.io/v1beta1",
        kind: "ProviderConfig",
        metadata: { name: "wc" },
        spec: theirs,
      });
      onTestFinished(async () => {
        await world.cluster.request("DELETE", "/apis/azure.upbound.io/v1beta1/providerconfigs/wc");
      });
      await world.make(identityObject("org", "one"));
      const identityRef = { kind: "AzureClusterIdentity", name: "one" };
      await world.make(azureClusterObject("org", "wc", { identityRef }));
      const object = clusterObject("org", "wc");
      const metadata = { ...object.metadata, finalizers: [finalizer] };
      const made = await world.make({ ...object, metadata } as Made);
      await world.settled();
      expect((await config(world))?.spec).toEqual({ ...spec, clientID });
      await world.remove(made);
      await world.settled();
      expect((await config(world)) === undefined).toBe(manager === "manager");
    },
  );

  test("of a cluster of AKS is made from the Secret that its resources name", async () => {
    const world = await start();
    const named = { "serviceoperator.azure.com/credential-from": "credential" };
    await aks(world, [{ kind: "ManagedCluster", metadata: { annotations: named } }]);
    expect(await config(world)).toBeUndefined();
    const made = await world.make(secret({ AZURE_CLIENT_ID: "client" }));
    await world.until("it is told", async () =>
      (await reported(world)).includes("IdentityIncomplete"),
    );
    expect(await config(world)).toBeUndefined();
    const whole = { AZURE_SUBSCRIPTION_ID: spec.subscriptionID, AZURE_TENANT_ID: "tenant" };
    await world.patch({ ...made, kind: "Secret" }, { stringData: whole });
    await world.until("it is made", async () => (await config(world)) !== undefined);
    expect((await config(world))?.spec).toEqual(spec);
    await world.remove({ ...made, kind: "Secret" });
  });

  test("of a control plane without resources is missing, and that is reported", async () => {
    const world = await start();
    await aks(world, []);
    expect(await config(world)).toBeUndefined();
    expect((await cluster(world))?.metadata.finalizers).toBeUndefined();
    expect(await reported(world)).toContain("IdentityMissing");
  });

  test("of a Cluster of another provider is nothing, and neither is its finalizer", async () => {
    const world = await start();
    const infrastructureRef = { apiGroup: "x.y", kind: "VSphereCluster", name: "wc" };
    const made = await world.make(clusterObject("org", "wc", { infrastructureRef }));
    await world.settled();
    expect((await cluster(world))?.metadata.finalizers).toBeUndefined();
    await world.remove(made);
    await world.settled();
    expect(await cluster(world)).toBeUndefined();
    expect(await reported(world)).toEqual([]);
  });
});
