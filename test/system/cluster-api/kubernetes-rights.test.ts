import { providerConfigFeature } from "postern/cluster-api/provider-config/feature.ts";
import { expect } from "vitest";
import type { AuditEntry } from "../../setup/cluster.ts";
import { testOnReal } from "../../setup/differences.ts";
import { guestSubscription } from "../hosted/azure.ts";
import { describeHosted } from "../hosted/world.ts";
import { bindRole, mayDo, untilMay } from "../manifests.ts";
import { UsedPermissions } from "../unused-permissions.ts";
import { baseZone, startDns, valuesAt } from "./dns-world.ts";
import { azureClusterObject, clusterObject, identityObject, namespaces } from "./objects.ts";
import { actionsOf, grantRole, refusals, watchActions } from "./rights.ts";
import { onVsphere, vsphere, vspherePath } from "./vsphere.ts";

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

/**
 * What no test with just this role uses: lists are for API servers that do not stream them, `get` is for late watches, and there
 * is no cluster of these providers, on AKS, or of Crossplane's that changes.
 */
const notShown: readonly (readonly [verbs: readonly string[], resource: string])[] = [
  [["get", "list"], `azureclusteridentities.${infrastructure}`],
  [["get", "list"], `azuremanagedcontrolplanes.${infrastructure}`],
  [["get", "list"], `azureasomanagedcontrolplanes.${infrastructure}`],
  [["list"], `azureclusters.${infrastructure}`],
  [["get", "list"], "clusters.cluster.x-k8s.io"],
  [["get", "list"], kubeadm],
  [["list", "patch"], "providerconfigs.azure.upbound.io"],
  [["get", "list"], "namespaces"],
  [["get", "patch"], `azureasomanagedclusters.${infrastructure}`],
  ...["openstackclusters", "vcdclusters"].flatMap((each) => [
    [["get", "patch"], `${each}.${infrastructure}`] as const,
    [["patch"], `${each}/status.${infrastructure}`] as const,
  ]),
  [["get"], "customresourcedefinitions.apiextensions.k8s.io"],
  [["get"], "services"],
  [["list"], "events.events.k8s.io"],
];

const byAlice = {
  "cluster-api": ({ user }: AuditEntry) => user.username === "alice",
};

// The rest of the role is proved by whole.test.ts, which runs the program with it.
describeHosted("the rights in Kubernetes for Cluster API", (start) => {
  const used = new UsedPermissions();
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

  testOnReal("no-rbac", "are enough for a ProviderConfig, made and deleted", async () => {
    const features = () => [providerConfigFeature()];
    used.record(() => world.cluster, byAlice);
    const world = await start({ features, user: "alice", stopped: true });
    await namespaces(world, "org");
    await grantRole(world, ["org"]);
    await world.start();
    await world.make(identityObject("org", "one"));
    await world.make(azureClusterObject("org", "wc"));
    const cluster = await world.make(clusterObject("org", "wc"));
    const config = () => world.get("ProviderConfig", "", "wc");
    await world.until("it is made", async () => (await config()) !== undefined);
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
      const world = await startDns(start, { settings }, { user: "alice", stopped: true });
      await grantRole(world, ["org-mc", "org"]);
      const asked = watchActions(world);
      await world.start();
      const cluster = await onVsphere(world, "vs1", "192.0.2.10");
      await world.until("it is ready", async () => {
        const said = world.condition(await vsphere(world, "vs1"), "GSDNSZoneReady");
        return said === "True GSDNSZonesCreated";
      });
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
    const all = [
      ...usedByWhole,
      ...notShown.flatMap(([verbs, name]) => verbs.map((verb) => `${verb} ${name}`)),
    ];
    expect(used.unused("cluster-api").filter((each) => !all.includes(each))).toEqual([]);
  });
});
