import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { providerConfig } from "@postern/core/kinds/provider-config.ts";
import { pausingFeature } from "postern/cluster-api/pausing/feature.ts";
import { providerConfigFeature } from "postern/cluster-api/provider-config/feature.ts";
import type { Runtime } from "postern/kube/runtime.ts";
import { expect } from "vitest";
import type { AuditEntry } from "../../setup/cluster.ts";
import { testOnReal } from "../../setup/differences.ts";
import { guestSubscription } from "../hosted/azure.ts";
import { clientOf, fillByPages, readOwnChange } from "../hosted/beside-controllers.ts";
import { describeHosted, type Thing } from "../hosted/world.ts";
import { bindRole, mayDo, untilMay } from "../manifests.ts";
import { UsedPermissions } from "../unused-permissions.ts";
import { baseZone, startDns, valuesAt } from "./dns-world.ts";
import {
  azureClusterObject,
  clusterObject,
  controlPlaneObject,
  identityObject,
  management,
  namespaces,
} from "./objects.ts";
import { actionsOf, grantRole, refusals, watchActions } from "./rights.ts";
import { install, onOther, onVsphere, pathOf, vsphere, vspherePath } from "./vsphere.ts";

/** What this cluster does not need: addresses of version 6, a wildcard, and records that are deleted while their zone stays. */
const elsewhere = ["a/delete", "aaaa/delete", "aaaa/write", "cname/delete", "cname/write"].map(
  (rest) => `microsoft.network/dnszones/${rest}`,
);

const infrastructure = "infrastructure.cluster.x-k8s.io";
const kubeadm = "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io";

/** What the private cluster of whole.test.ts uses beside these. */
const usedByWhole = [
  `get azureclusters.${infrastructure}`,
  `patch azureclusters.${infrastructure}`,
  `patch azureclusters/status.${infrastructure}`,
  `watch ${kubeadm}`,
  `patch ${kubeadm}`,
];

/** The Service of a gateway is read for private links that name it; events are listed for the dashboard of a cluster. Neither is here. */
const notShown = ["get services", "list events.events.k8s.io"];

const byAlice = {
  "cluster-api": ({ user }: AuditEntry) => user.username === "alice",
};

// The rest of the role is proved by whole.test.ts, which runs the program with it.
describeHosted("the rights in Kubernetes for Cluster API", (start) => {
  const used = new UsedPermissions();
  let runtime: Runtime | undefined;
  const onRuntime = (each: Runtime) => {
    runtime = each;
  };
  testOnReal(
    "no-rbac",
    "reach the Secrets of the namespaces that were opened, and no others",
    async () => {
      const world = await start({ features: () => [] });
      const { cluster } = world;
      await namespaces(world, "opened", "closed");
      const bob = { kind: "User", name: "bob" };
      await bindRole(cluster, "cluster-api", bob);
      await bindRole(cluster, "cluster-api-secrets", bob, "opened");
      await untilMay(cluster, "bob", { namespace: "opened", verb: "get", resource: "secrets" });
      const may = (verb: string, namespace: string) =>
        mayDo(cluster, "bob", { namespace, verb, resource: "secrets" });
      for (const namespace of ["", "closed", "default", "kube-system"])
        expect([namespace, await may("get", namespace)]).toEqual([namespace, false]);
      for (const verb of ["list", "watch", "create", "patch", "delete"])
        expect([verb, await may(verb, "opened")]).toEqual([verb, false]);
      const secrets = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`;
      const as = { token: cluster.tokens.bob };
      for (const [namespace, status] of [
        ["opened", 200],
        ["closed", 403],
      ] as const) {
        await cluster.request("POST", secrets(namespace), { metadata: { name: "one" } });
        const read = await cluster.request("GET", `${secrets(namespace)}/one`, undefined, as);
        expect([namespace, read.status]).toEqual([namespace, status]);
      }
    },
  );

  testOnReal("no-rbac", "are enough for a ProviderConfig, made, repaired and deleted", async () => {
    const features = () => [
      providerConfigFeature(),
      pausingFeature({ managementCluster: management, gates: ["GSDNSZoneReady"] }),
    ];
    used.record(() => world.cluster, byAlice);
    const world = await start({ features, user: "alice", stopped: true, onRuntime });
    await namespaces(world, "org");
    await grantRole(world, ["org"]);
    await world.start();
    await world.make(identityObject("org", "one"));
    await world.make(azureClusterObject("org", "wc"));
    const cluster = await world.make(clusterObject("org", "wc"));
    const config = () => world.get("ProviderConfig", "", "wc");
    await world.until("it is made", async () => (await config()) !== undefined);
    const made = await config();
    if (made) await world.patch(made, { spec: { clientID: "thief" } });
    await world.until("it is repaired", async () => {
      const now = await config();
      return now !== undefined && !JSON.stringify(now.spec).includes("thief");
    });
    const client = await clientOf(world.cluster, world.cluster.tokens.alice);
    await fillByPages(client, runtime);
    const controlPlane = await world.make(controlPlaneObject(cluster));
    if (made) await readOwnChange(client, providerConfig, made);
    await readOwnChange(client, capiCluster, cluster);
    await readOwnChange(client, kubeadmControlPlane, controlPlane);
    await world.remove(cluster);
    await world.until("it is gone", async () => (await config()) === undefined);
    expect(await refusals(world)).toEqual([]);
  });

  testOnReal(
    "no-rbac",
    "are enough for the names of a cluster of another provider, and so are those in Azure",
    async () => {
      const settings = {
        subscription: guestSubscription,
        location: "northeurope",
        client: "client",
        tenant: "tenant",
      };
      used.record(() => world.cluster, byAlice);
      const world = await startDns(
        start,
        { settings },
        { user: "alice", stopped: true, onRuntime },
      );
      await grantRole(world, ["org-mc", "org"]);
      const asked = watchActions(world);
      await world.start();
      const cluster = await onVsphere(world, "vs1", "192.0.2.10");
      await world.until("it is ready", async () => {
        const said = world.condition(await vsphere(world, "vs1"), "GSDNSZoneReady");
        return said === "True GSDNSZonesCreated";
      });
      for (const [kind, name] of [
        ["OpenStackCluster", "os1"],
        ["VCDCluster", "vcd1"],
        ["AzureASOManagedCluster", "aks1"],
      ] as const) {
        // Of several versions the one of the newest contract is used, which the definition says.
        await install(world, kind, [{ name: "v1beta1" }, { name: "v1alpha1" }]);
        const other = await onOther(world, kind, name, "192.0.2.11");
        const object = async () =>
          (await world.cluster.request<Thing>("GET", `${pathOf(kind)}/${name}`)).body;
        await world.until(`${name} has a finalizer`, async () =>
          JSON.stringify((await object()).metadata).includes("dns-operator-azure"),
        );
        if (kind !== "AzureASOManagedCluster")
          await world.until(
            `${name} is ready`,
            async () =>
              world.condition(await object(), "GSDNSZoneReady")?.startsWith("True") === true,
          );
        await world.remove(other);
        await world.cluster.request("DELETE", `${pathOf(kind)}/${name}`);
        await world.until(`${name} is gone`, async () => (await object()).kind === "Status");
      }
      await fillByPages(await clientOf(world.cluster, world.cluster.tokens.alice), runtime);
      await world.remove(cluster);
      await world.cluster.request("DELETE", `${vspherePath}/vs1`);
      await world.until("it is gone", async () => (await vsphere(world, "vs1")).kind === "Status");
      expect(valuesAt(world, baseZone, "NS", "vs1")).toBeUndefined();
      expect(await refusals(world)).toEqual([]);
      const role = actionsOf("cluster-api-other").map((one) => one.toLowerCase());
      const inAzure = asked({ objectId: "guest-object" }).map((one) => one.toLowerCase());
      expect(inAzure).toContain("microsoft.resources/subscriptions/resourcegroups/write");
      expect(role).not.toContain("microsoft.resources/subscriptions/resourcegroups/delete");
      expect(inAzure.filter((one) => !role.includes(one))).toEqual([]);
      expect(role.filter((one) => !inAzure.includes(one))).toEqual(elsewhere);
    },
  );

  testOnReal("no-rbac", "have nothing new that none of these clusters needs", async () => {
    const unused = used.unused("cluster-api").filter((each) => !usedByWhole.includes(each));
    expect(unused).toEqual(notShown);
  });
});
