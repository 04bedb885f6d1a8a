import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { tenantPolicy } from "@postern/core/tenant-policy.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import type { Observation } from "postern/azure/gateway.ts";
import { privateDnsZones } from "postern/azure/gateways/private-dns.ts";
import { type ClusterArmClients, clusterArmClients } from "postern/cluster-api/identities.ts";
import { defineFeature, type Plan, type Step } from "postern/kube/feature.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { testOnReal } from "../../setup/differences.ts";
import { guestSubscription, location, tenant } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  azureClusterObject,
  identityObject,
  labelNamespace,
  management,
  namespaces,
} from "./objects.ts";
import { grantRole, refusals } from "./rights.ts";

const issuer = "https://kubernetes.default.svc";
const contributor =
  "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c";

/** By which of the views a cluster is looked at, for the tests; its own where it says nothing. */
const way = "test/way";

/** Looks at one zone in the group of each AzureCluster, and says in a condition how that went. */
function looking(
  world: () => HostedWorld,
  options: Partial<Parameters<typeof clusterArmClients>[0]>,
): MakeFeature {
  return (parts) => {
    const { azure, clock } = world();
    const { simulator, operator } = azure;
    const cloud = customCloud({
      resourceManager: simulator.url,
      authorityHost: simulator.httpsUrl ?? "",
    });
    const arm = new Arm({ cloud, credential: operator, clock });
    const clients = clusterArmClients({
      arm,
      armClientFor: () => arm,
      managementCluster: management,
      entra: { clock, ca: simulator.ca ?? "" },
      ...options,
    });
    const feature = defineFeature({
      name: "looking",
      kind: azureCluster,
      conditions: ["Looked"],
      observe: async (cluster, reconcile) => {
        const zones = privateDnsZones(armFor(clients, cluster, reconcile));
        return { observed: await zones.observe(zoneOf(cluster)), context: undefined };
      },
      plan: (observation: Observation<unknown>): Plan<Step> => ({
        steps: [],
        conditions: [
          {
            type: "Looked",
            status: observation.state === "failed" ? "False" : "True",
            reason: observation.state === "failed" ? observation.failure.reason : "Looked",
            message: observation.state === "failed" ? observation.failure.message : "it was",
          },
        ],
        requeue: "drift",
      }),
      apply: () => Promise.resolve({ state: "done" }),
    });
    return { feature, watches: clients.watch(parts) };
  };
}

function armFor(clients: ClusterArmClients, cluster: AzureCluster, reconcile: Reconcile) {
  switch (cluster.metadata.annotations?.[way]) {
    case "reference":
      return clients.forReference(
        { ...cluster, kind: "VSphereCluster" },
        reconcile,
        resourceGroupId(cluster.spec.subscriptionID ?? "", cluster.metadata.name),
      );
    case "management":
      return clients.management(reconcile);
    case "base":
      return clients.baseZone(reconcile);
    default:
      return clients.of(cluster, reconcile);
  }
}

function zoneOf({ metadata }: { metadata: { name: string } }): string {
  const group = resourceGroupId(guestSubscription, metadata.name);
  return `${group}/providers/Microsoft.Network/privateDnsZones/example.com`;
}

describeHosted("the identities of Cluster API", (startWorld) => {
  // It takes a quarter of a second of real time, in which a clock that is moved goes far.
  beforeAll(async () => void (await import("@azure/identity")));

  async function start(
    options: Parameters<typeof looking>[1] = {},
    given: { user?: "alice"; before?: (world: HostedWorld) => Promise<void> } = {},
  ): Promise<HostedWorld> {
    let world: HostedWorld | undefined;
    world = await startWorld({
      features: () => [looking(() => world as HostedWorld, options)],
      simulator: { https: true },
      stopped: true,
      ...(given.user && { user: given.user }),
    });
    await namespaces(world, "org", "org-mc", "other");
    await given.before?.(world);
    await world.start();
    return world;
  }

  /** An application with a secret, that may do everything in the groups of these clusters. */
  function application(world: HostedWorld, ...clusters: string[]) {
    const { simulator } = world.azure;
    const made = simulator.directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
    for (const name of clusters) {
      const group = resourceGroupId(guestSubscription, name);
      simulator.change(group, { location });
      const id = `${group}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`;
      const properties = { roleDefinitionId: contributor, principalId: made.objectId };
      simulator.change(id, { properties });
    }
    return made;
  }

  type Made = Parameters<HostedWorld["make"]>[0];
  async function secret(world: HostedWorld, name: string, stringData: object): Promise<Thing> {
    const metadata = { namespace: "org", name };
    const object = { apiVersion: "v1", kind: "Secret", metadata, stringData } as Made;
    const made = { ...(await world.make(object)), kind: "Secret" };
    onTestFinished(() => world.remove(made).catch(() => undefined));
    return made;
  }

  /** An identity with a secret. */
  function identity(world: HostedWorld, name: string, clientID: string, over: object = {}) {
    const clientSecret = { name, namespace: "org" };
    const spec = { type: "ServicePrincipal", tenantID: tenant, clientID, clientSecret, ...over };
    return world.make(identityObject("org", name, spec));
  }

  function cluster(world: HostedWorld, name: string, ref: object | undefined, over: object = {}) {
    const { annotations, namespace = "org" } = over as Record<string, string>;
    const identityRef = ref && { kind: "AzureClusterIdentity", ...ref };
    const made = azureClusterObject(namespace ?? "org", name, { identityRef });
    return world.make({ ...made, metadata: { ...made.metadata, annotations } } as Made);
  }

  async function looked(world: HostedWorld, name: string, namespace = "org") {
    await world.settled();
    return world.condition(await world.get("AzureCluster", namespace, name), "Looked");
  }

  const messageOf = async (world: HostedWorld, name: string) =>
    (await world.get("AzureCluster", "org", name))?.status?.conditions?.[0]?.message;

  /** Who asked for anything in the group of a cluster, by application. */
  function askers({ azure }: HostedWorld, name: string): string[] {
    const { log, directory } = azure.simulator;
    const entries = log.entries({ path: `${resourceGroupId(guestSubscription, name)}/*` });
    return [...new Set(entries.map(({ identity: by }) => directory.find(by)?.appId ?? by))];
  }

  test("each cluster is reached by its own, and by no other", async () => {
    const world = await start();
    const [a, b] = [application(world, "a1"), application(world, "b1")];
    await secret(world, "a", { clientSecret: "hush" });
    await secret(world, "b", { clientSecret: "hush" });
    await identity(world, "a", a.appId);
    await identity(world, "b", b.appId);
    await cluster(world, "a1", { name: "a" });
    await cluster(world, "b1", { name: "b" });
    expect(await looked(world, "a1")).toBe("True Looked");
    expect(await looked(world, "b1")).toBe("True Looked");
    expect(askers(world, "a1")).toEqual([a.appId]);
    expect(askers(world, "b1")).toEqual([b.appId]);
  });

  test("a Secret that is missing or half there is reported, and what is put right counts soon", async () => {
    const world = await start();
    const { appId } = application(world, "a1");
    await identity(world, "a", appId);
    await cluster(world, "a1", { name: "a" });
    expect(await looked(world, "a1")).toBe("False SecretMissing");
    expect(await messageOf(world, "a1")).toMatch(
      /There is no Secret org\/a .*\. Create the Secret/,
    );
    const becomes = (what: string) =>
      world.until(what, async () => (await looked(world, "a1")) === what);
    const made = await secret(world, "a", { clientsecret: "hush" });
    await becomes("False SecretIncomplete");
    await world.patch(made, { stringData: { clientSecret: "wrong" } });
    await becomes("False AADSTS7000215");
    await world.patch(made, { stringData: { clientSecret: "hush" } });
    await becomes("True Looked");
    expect(await messageOf(world, "a1")).not.toContain("hush");
  });

  test("an identity that does not exist, or is not named, is reported, and the others go on", async () => {
    const world = await start();
    const { appId } = application(world, "a1", "gone");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    await cluster(world, "none", undefined);
    await cluster(world, "gone", { name: "gone" });
    await cluster(world, "a1", { name: "a" });
    expect(await looked(world, "none")).toBe("False ClusterIdentityMissing");
    expect(await looked(world, "gone")).toBe("False ClusterIdentityMissing");
    expect(await looked(world, "a1")).toBe("True Looked");
    await identity(world, "gone", appId, { clientSecret: { name: "a", namespace: "org" } });
    expect(await looked(world, "gone")).toBe("True Looked");
  });

  test("a cluster of a namespace that is not admitted gets nothing, and asks nobody", async () => {
    const world = await start();
    const { appId } = application(world, "a1", "thief");
    await secret(world, "a", { clientSecret: "hush" });
    const one = await identity(world, "a", appId, { allowedNamespaces: { list: ["org"] } });
    await cluster(world, "a1", { name: "a" });
    await cluster(world, "thief", { name: "a", namespace: "org" }, { namespace: "other" });
    expect(await looked(world, "a1")).toBe("True Looked");
    expect(await looked(world, "thief", "other")).toBe("False NamespaceNotAllowed");
    expect(askers(world, "thief")).toEqual([]);
    await world.patch(one, { spec: { allowedNamespaces: { list: ["org", "other"] } } });
    expect(await looked(world, "thief", "other")).toBe("True Looked");
    await world.patch(one, { spec: { allowedNamespaces: null } });
    expect(await looked(world, "a1")).toBe("False NamespaceNotAllowed");
  });

  test("a namespace that gets the label by which an identity admits it counts at once", async () => {
    const world = await start();
    await namespaces(world, "labelled");
    await labelNamespace(world, "labelled", { team: null });
    const { appId } = application(world, "a1");
    await secret(world, "a", { clientSecret: "hush" });
    const selector = { matchLabels: { team: "a" } };
    await identity(world, "a", appId, { allowedNamespaces: { selector } });
    await cluster(world, "a1", { name: "a", namespace: "org" }, { namespace: "labelled" });
    expect(await looked(world, "a1", "labelled")).toBe("False NamespaceNotAllowed");
    await labelNamespace(world, "labelled", { team: "a" });
    expect(await looked(world, "a1", "labelled")).toBe("True Looked");
  });

  test("a workload identity is proved by the token file of this process", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tokenFile = join(folder, "token");
    const world = await start({ tokenFile });
    const { body } = await world.cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    world.azure.simulator.directory.trustIssuer({ issuer, keys: body.keys });
    const account = "/api/v1/namespaces/org/serviceaccounts";
    await world.cluster.request("POST", account, { metadata: { name: "postern" } });
    const audiences = ["api://AzureADTokenExchange"];
    const token = await world.cluster.request<{ status: { token: string } }>(
      "POST",
      `${account}/postern/token`,
      { spec: { audiences } },
    );
    await writeFile(tokenFile, token.body.status.token);
    const app = application(world, "a1");
    const subject = "system:serviceaccount:org:postern";
    app.federated = [{ name: "postern", issuer, subject, audiences }];
    await identity(world, "a", app.appId, { type: "WorkloadIdentity", clientSecret: {} });
    await cluster(world, "a1", { name: "a" });
    expect(await looked(world, "a1")).toBe("True Looked");
    expect(askers(world, "a1")).toEqual([app.appId]);
  });

  const flag = { identityRef: { namespace: "org", name: "flag" } };
  test.each([
    ["the flag", "flag", flag],
    ["the management cluster", "mc", {}],
  ])(
    "a cluster of another kind goes by its annotations, and without them by that of %s",
    async (_name, bare, options) => {
      const world = await start(options);
      const apps = {
        one: application(world, "annotated"),
        flag: application(world, "bare"),
        mc: application(world, "bare", "managed"),
      };
      const clientSecret = { name: "one", namespace: "org" };
      await secret(world, "one", { clientSecret: "hush" });
      for (const [name, { appId }] of Object.entries(apps))
        await identity(world, name, appId, { clientSecret });
      const identityRef = { kind: "AzureClusterIdentity", name: "mc", namespace: "org" };
      await world.make(azureClusterObject("org-mc", "mc", { identityRef }));
      const named = "azure.giantswarm.io/azure-cluster-identity";
      const reference = { [way]: "reference" };
      const annotated = { ...reference, [named]: "one", [`${named}-namespace`]: "org" };
      await cluster(world, "annotated", undefined, { annotations: annotated });
      await cluster(world, "bare", undefined, { annotations: reference });
      await cluster(world, "managed", undefined, { annotations: { [way]: "management" } });
      for (const name of ["annotated", "bare", "managed"])
        expect(await looked(world, name), name).toBe("True Looked");
      expect(askers(world, "annotated")).toEqual([apps.one.appId]);
      expect(askers(world, "managed")).toEqual([apps.mc.appId]);
      expect(askers(world, "bare")).toEqual([apps[bare as "flag" | "mc"].appId]);
      // What is named and not there is no reason to act by another.
      const gone = { ...reference, [named]: "gone" };
      await cluster(world, "gone", undefined, { annotations: gone });
      expect(await looked(world, "gone")).toBe("False ClusterIdentityMissing");
    },
  );

  test.each([
    ["the flag", flag],
    ["the management cluster", {}],
  ])(
    "attack: a cluster of another kind in a namespace that the identity of %s does not admit asks nobody",
    async (_name, options) => {
      const world = await start(options);
      const { appId } = application(world, "thief");
      await secret(world, "one", { clientSecret: "hush" });
      const allowedNamespaces = { list: ["org", "org-mc"] };
      for (const name of ["flag", "mc"])
        await identity(world, name, appId, {
          clientSecret: { name: "one", namespace: "org" },
          allowedNamespaces,
        });
      const identityRef = { kind: "AzureClusterIdentity", name: "mc", namespace: "org" };
      await world.make(azureClusterObject("org-mc", "mc", { identityRef }));
      const annotations = { [way]: "reference" };
      await cluster(world, "thief", undefined, { annotations, namespace: "other" });
      expect(await looked(world, "thief", "other")).toBe("False NamespaceNotAllowed");
      expect(askers(world, "thief")).toEqual([]);
    },
  );

  test("attack: an identity that names the Secret of another namespace is not acted by", async () => {
    const world = await start();
    const { appId } = application(world, "thief");
    const made = await secret(world, "a", { clientSecret: "hush" });
    const spec = { type: "ServicePrincipal", tenantID: tenant, clientID: appId };
    const clientSecret = { name: "a", namespace: "org" };
    await world.make(identityObject("other", "a", { ...spec, clientSecret }));
    await cluster(world, "thief", { name: "a" }, { namespace: "other" });
    expect(await looked(world, "thief", "other")).toBe("False SecretNotAllowed");
    expect(askers(world, "thief")).toEqual([]);
    const annotations = { "postern.io/allowed-identity-namespaces": "other" };
    await world.patch(made, { metadata: { annotations } });
    await world.until(
      "the owner of the Secret has allowed it",
      async () => (await looked(world, "thief", "other")) === "True Looked",
    );
  });

  test("attack: what the policy does not allow the namespace of a cluster is asked of nobody", async () => {
    const policy = tenantPolicy([
      { namespace: "org" },
      { namespace: "other", subscriptions: ["33333333-3333-4333-8333-333333333333"] },
    ]);
    const world = await start({ policy });
    const { appId } = application(world, "a1", "thief");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    await cluster(world, "a1", { name: "a" });
    await cluster(world, "thief", { name: "a", namespace: "org" }, { namespace: "other" });
    expect(await looked(world, "a1")).toBe("True Looked");
    expect(await looked(world, "thief", "other")).toBe("False NotAllowedByPolicy");
    expect(askers(world, "thief")).toEqual([]);
  });

  test("attack: an identity that an annotation names is not used where the policy does not list it", async () => {
    const policy = tenantPolicy([{ namespace: "other", identities: ["other/own"] }]);
    const world = await start({ policy });
    const { appId } = application(world, "thief");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    const named = "azure.giantswarm.io/azure-cluster-identity";
    const annotations = { [way]: "reference", [named]: "a", [`${named}-namespace`]: "org" };
    await cluster(world, "thief", undefined, { annotations, namespace: "other" });
    expect(await looked(world, "thief", "other")).toBe("False NotAllowedByPolicy");
    expect(askers(world, "thief")).toEqual([]);
  });

  test("attack: a cluster on the management identity takes a resource group that its policy does not list", async () => {
    const policy = tenantPolicy([
      { namespace: "org-mc" },
      { namespace: "org" },
      { namespace: "other", resourceGroups: [] },
    ]);
    const world = await start({ policy });
    const { appId } = application(world, "blue", "management");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    const identityRef = { kind: "AzureClusterIdentity", name: "a", namespace: "org" };
    await world.make(azureClusterObject("org-mc", "mc", { identityRef }));
    await cluster(world, "blue", undefined, {
      annotations: { [way]: "reference" },
      namespace: "other",
    });
    expect(await looked(world, "blue", "other")).toBe("False NotAllowedByPolicy");
    expect(askers(world, "blue")).toEqual([]);
  });

  test("attack: a cluster on the management identity is called like the resource group of another namespace", async () => {
    const world = await start();
    const { appId } = application(world, "blue", "management");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    const identityRef = { kind: "AzureClusterIdentity", name: "a", namespace: "org" };
    await world.make(azureClusterObject("org-mc", "mc", { identityRef }));
    await cluster(world, "blue", { name: "a" });
    expect(await looked(world, "blue")).toBe("True Looked");
    // Ages are told in whole seconds.
    const second = Date.now() + 1_100;
    await expect.poll(() => Date.now() > second, { timeout: 5_000 }).toBe(true);
    await cluster(world, "blue", undefined, {
      annotations: { [way]: "reference" },
      namespace: "other",
    });
    expect(await looked(world, "blue", "other")).toBe("False ResourceGroupTaken");
  });

  test("attack: a newer cluster in the resource group of another namespace asks nobody", async () => {
    const world = await start();
    const { appId } = application(world, "a1");
    await secret(world, "a", { clientSecret: "hush" });
    await identity(world, "a", appId);
    await cluster(world, "a1", { name: "a" });
    expect(await looked(world, "a1")).toBe("True Looked");
    // Ages are told in whole seconds.
    const second = Date.now() + 1_100;
    await expect.poll(() => Date.now() > second, { timeout: 5_000 }).toBe(true);
    await cluster(world, "a1", { name: "a", namespace: "org" }, { namespace: "other" });
    expect(await looked(world, "a1", "other")).toBe("False ResourceGroupTaken");
    expect(await looked(world, "a1")).toBe("True Looked");
  });

  testOnReal(
    "no-rbac",
    "the right to get Secrets in the namespaces of identities is enough, and another namespace is told",
    async () => {
      const before = (world: HostedWorld) => grantRole(world, ["org"]);
      const world = await start({}, { user: "alice", before });
      const { appId } = application(world, "a1", "b1");
      await secret(world, "a", { clientSecret: "hush" });
      await identity(world, "a", appId);
      await cluster(world, "a1", { name: "a" });
      expect(await looked(world, "a1")).toBe("True Looked");
      expect(await refusals(world)).toEqual([]);
      const spec = { type: "ServicePrincipal", tenantID: tenant, clientID: appId };
      await world.make(identityObject("other", "b", { ...spec, clientSecret: { name: "b" } }));
      await cluster(world, "b1", { name: "b" }, { namespace: "other" });
      expect(await looked(world, "b1", "other")).toBe("False SecretForbidden");
      expect(await refusals(world)).toEqual(["get /api/v1/namespaces/other/secrets/b"]);
    },
  );

  test("the base zone is reached by the credential of the environment", async () => {
    const world = await start();
    application(world, "base");
    await cluster(world, "base", undefined, { annotations: { [way]: "base" } });
    expect(await looked(world, "base")).toBe("True Looked");
    expect(askers(world, "base")).toEqual(["operator-object"]);
  });

  test("without its AzureCluster the management cluster has none, and that is reported", async () => {
    const world = await start();
    await cluster(world, "managed", undefined, { annotations: { [way]: "management" } });
    expect(await looked(world, "managed")).toBe("False ClusterIdentityMissing");
    expect(await messageOf(world, "managed")).toContain("There is no AzureCluster org-mc/mc");
  });
});
