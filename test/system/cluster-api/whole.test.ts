import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Application } from "@postern/azure-simulator/entra/application.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { expect, onTestFinished, test } from "vitest";
import { guestSubscription, location, managementSubscription, tenant } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  azureClusterObject,
  clusterObject,
  conditionsOf,
  controlPlaneObject,
  identityObject,
  namespaces,
} from "./objects.ts";
import { actionsOf, asAlice, refusals, watchActions } from "./rights.ts";

const bin = fileURLToPath(new URL("../../../packages/postern/bin/postern.js", import.meta.url));
const provider = "providers/Microsoft.Network";
const groups = {
  mc: resourceGroupId(managementSubscription, "mc"),
  wc: resourceGroupId(guestSubscription, "wc"),
  base: resourceGroupId(managementSubscription, "base"),
};

/** Simulated time goes by this much faster: Azure is slow, and the test need not be. */
const hurry = 20;

describeHosted("a private cluster of Cluster API", (start) => {
  /** An application with a secret. */
  function application({ azure }: HostedWorld): Application {
    const { directory } = azure.simulator;
    return directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
  }

  /** Give an application one of the roles of `manifests/roles` in a group. */
  function grant({ azure }: HostedWorld, role: string, group: string, { objectId }: Application) {
    const at = `${group}/providers/Microsoft.Authorization`;
    const definition = `${at}/roleDefinitions/${crypto.randomUUID()}`;
    const permissions = [{ actions: actionsOf(role), notActions: [] }];
    azure.simulator.change(definition, {
      properties: { roleName: `${role} ${group}`, assignableScopes: [group], permissions },
    });
    azure.simulator.change(`${at}/roleAssignments/${crypto.randomUUID()}`, {
      properties: { roleDefinitionId: definition, principalId: objectId },
    });
  }

  /** What CAPZ has made of a cluster: a group, a network and the load balancer of its API server. */
  function inAzure({ azure }: HostedWorld, group: string, name: string): void {
    const { simulator } = azure;
    const vnet = `${group}/${provider}/virtualNetworks/${name}-vnet`;
    const subnet = { addressPrefix: "10.0.0.0/20", privateLinkServiceNetworkPolicies: "Enabled" };
    simulator.change(group, { location });
    simulator.change(vnet, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [{ name: "nodes", properties: subnet }],
      },
    });
    simulator.change(`${group}/${provider}/loadBalancers/${name}-internal-lb`, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "front", properties: { subnet: { id: `${vnet}/subnets/nodes` } } },
        ],
      },
    });
  }

  const network = (group: string, name: string, links: object[]) => ({
    vnet: { name: `${name}-vnet`, id: `${group}/${provider}/virtualNetworks/${name}-vnet` },
    apiServerLB: {
      type: "Internal",
      frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
      privateLinks: links,
    },
    subnets: [{ name: "nodes", role: "node" }],
  });

  /** A link as an AzureCluster asks for it: Postern makes it, because this CAPZ makes none. */
  const link = (name: string, ...subscriptions: string[]) => ({
    name,
    natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
    lbFrontendIPConfigNames: ["front"],
    allowedSubscriptions: subscriptions,
    autoApprovedSubscriptions: subscriptions,
  });

  type Made = Parameters<HostedWorld["make"]>[0];
  async function identity(world: HostedWorld, namespace: string, { appId }: Application) {
    const metadata = { namespace, name: "one" };
    const stringData = { clientSecret: "hush" };
    const kept = await world.make({
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      stringData,
    } as Made);
    onTestFinished(() => world.remove({ ...kept, kind: "Secret" }));
    const spec = {
      type: "ServicePrincipal",
      clientID: appId,
      tenantID: tenant,
      clientSecret: { name: "one", namespace },
      allowedNamespaces: { list: [namespace] },
    };
    await world.make(identityObject(namespace, "one", spec));
  }

  async function operator(world: HostedWorld, { appId }: Application) {
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { simulator } = world.azure;
    const ca = join(folder, "ca.pem");
    await writeFile(ca, simulator.ca ?? "");
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
    const flags = [
      ...[
        "--kubeconfig",
        await asAlice(world, folder, ["org-mc", "org"]),
        "--listen",
        "127.0.0.1:0",
      ],
      ...["--role", "cluster-api", "--management-cluster-name", "mc"],
      ...["--management-cluster-namespace", "org-mc"],
      ...["--azure-cluster-gates", "GSPrivateLinksReady,GSDNSZoneReady"],
      ...["--base-domain", "example.com", "--base-domain-resource-group", "base"],
    ];
    const child = spawn(process.execPath, [bin, "operator", ...flags], {
      env: {
        ...Object.fromEntries(clean),
        NODE_EXTRA_CA_CERTS: ca,
        AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
        AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
        AZURE_TENANT_ID: tenant,
        AZURE_CLIENT_ID: appId,
        AZURE_CLIENT_SECRET: "hush",
        AZURE_SUBSCRIPTION_ID: managementSubscription,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const stop = async () => {
      child.kill("SIGTERM");
      return child.exitCode ?? (await once(child, "exit"))[0];
    };
    return { stop, log: () => log };
  }

  /** Who asked for anything under an id. */
  function askers({ azure }: HostedWorld, path: string): string[] {
    const entries = azure.simulator.log.entries({ path });
    return [...new Set(entries.map(({ identity: by }) => by))];
  }

  test("is reached both ways by name, each side by its own identity, built then, and taken down", async () => {
    const world = await start({
      features: () => [],
      simulator: { https: true, retryAfterSeconds: 1 },
    });
    const { simulator } = world.azure;
    await namespaces(world, "org-mc", "org");
    inAzure(world, groups.mc, "mc");
    inAzure(world, groups.wc, "wc");
    simulator.change(groups.base, { location });
    simulator.change(`${groups.base}/${provider}/dnsZones/example.com`, { location: "global" });
    const apps = { mc: application(world), wc: application(world), base: application(world) };
    grant(world, "cluster-api", groups.mc, apps.mc);
    grant(world, "cluster-api", groups.wc, apps.wc);
    grant(world, "cluster-api-connect", groups.wc, apps.mc);
    grant(world, "cluster-api-connect", groups.mc, apps.wc);
    grant(world, "cluster-api-base-zone", groups.base, apps.base);
    const asked = watchActions(world);
    const before = world.azure.ids();
    await identity(world, "org-mc", apps.mc);
    await identity(world, "org", apps.wc);
    const timer = setInterval(() => simulator.moveClock(50 * hurry), 50);
    onTestFinished(() => clearInterval(timer));

    const management = azureClusterObject("org-mc", "mc", {
      subscriptionID: managementSubscription,
      networkSpec: network(groups.mc, "mc", [link("mc-gateway-privatelink", guestSubscription)]),
    });
    await world.make(management);
    const { stop, log } = await operator(world, apps.base);

    const azure = await world.make(
      azureClusterObject("org", "wc", {
        subscriptionID: guestSubscription,
        networkSpec: network(groups.wc, "wc", [link("wc-api-privatelink", managementSubscription)]),
      }),
    );
    const made = clusterObject("org", "wc");
    // Cluster API keeps a Cluster until its infrastructure is gone.
    const finalizers = ["cluster.cluster.x-k8s.io"];
    const cluster = await world.make({ ...made, metadata: { ...made.metadata, finalizers } });
    await world.make(controlPlaneObject(cluster));
    const paused = async () =>
      (await world.get("KubeadmControlPlane", "org", "wc"))?.metadata.annotations?.[
        "cluster.x-k8s.io/paused"
      ];
    await expect.poll(paused, { timeout: 60_000 }).toBe("true");
    await world.patch(cluster, { status: { phase: "Provisioned" } }, "status");
    const current = (await world.get("AzureCluster", "org", "wc"))?.status?.conditions ?? [];
    const ready = conditionsOf({ LoadBalancersReady: "True" }).status.conditions;
    await world.patch(azure, { status: { conditions: [...current, ...ready] } }, "status");

    const now = () => world.get("AzureCluster", "org", "wc");
    const says = (type: string) => async () => world.condition(await now(), type);
    await expect.poll(says("GSPrivateLinksReady"), { timeout: 120_000 }).toBe("True Connected");
    await expect.poll(says("GSDNSZoneReady"), { timeout: 120_000 }).toBe("True GSDNSZonesCreated");
    await expect.poll(paused, { timeout: 60_000 }).toBeUndefined();

    const reported = (await now())?.metadata.annotations ?? {};
    const at = "azure-private-endpoint-operator.giantswarm.io/private-link";
    const zone = (group: string, name: string) =>
      `${group}/${provider}/privateDnsZones/${name}.example.com`;
    const names = () => [
      ...addressesOf(world, `${zone(groups.mc, "wc")}/A/apiserver`),
      ...addressesOf(world, `${zone(groups.wc, "mc")}/A/ingress`),
    ];
    const addresses = [reported[`${at}-apiserver-ip`], reported[`${at}-mc-ingress-ip`]];
    // Whoever builds the control plane can reach everything by its name.
    expect(names()).toEqual(addresses);
    expect(addresses).not.toContain(undefined);
    expect(world.azure.at(`${groups.base}/${provider}/dnsZones/example.com/NS/wc`)).toBeDefined();
    expect(askers(world, `${groups.mc}/*`)).toEqual([apps.mc.objectId]);
    expect(askers(world, `${groups.wc}/*`)).toEqual([apps.wc.objectId]);
    expect(askers(world, `${groups.base}/*`)).toEqual([apps.base.objectId]);
    expect(log()).not.toMatch(/eyJ|hush/);
    // Each zone answers in the network of those who ask for its names.
    const networksOf = (id: string) =>
      world.azure
        .ids(`${id}/virtualNetworkLinks/`)
        .map((each) => JSON.stringify(world.azure.at(each)))
        .map((text) => /virtualNetworks\/([-\w]+)/.exec(text)?.[1]);
    expect(networksOf(zone(groups.mc, "wc"))).toEqual(["mc-vnet"]);
    expect(networksOf(zone(groups.wc, "mc"))).toEqual(["wc-vnet"]);

    const other = "44444444-4444-4444-8444-444444444444";
    const changed = link("wc-api-privatelink", managementSubscription, other);
    const change = { networkSpec: { apiServerLB: { privateLinks: [changed] } } };
    await world.patch(azure, { spec: change });
    const admitted = () =>
      JSON.stringify(
        world.azure.at(`${groups.wc}/${provider}/privateLinkServices/wc-api-privatelink`),
      ).split(other).length - 1;
    // It may see the link, and is approved by itself.
    await expect.poll(admitted, { timeout: 60_000 }).toBe(2);
    expect(names()).toEqual(addresses);

    for (const thing of [cluster, azure]) await world.remove(thing);
    await expect.poll(now, { timeout: 180_000 }).toBeUndefined();
    await world.patch(cluster, { metadata: { finalizers: null } });
    await expect.poll(() => world.get("Cluster", "org", "wc"), { timeout: 30_000 }).toBeUndefined();
    // The link of the management cluster stays with it, and so does the interface behind it.
    const isLeft = (id: string) => !before.includes(id) && !id.includes("/mc-gateway-privatelink");
    await expect.poll(() => world.azure.ids().filter(isLeft), { timeout: 60_000 }).toEqual([]);
    expect(await stop()).toBe(0);
    expect(await refusals(world)).toEqual([]);
    const used = [...asked(apps.mc), ...asked(apps.wc)];
    const given = [...actionsOf("cluster-api"), ...actionsOf("cluster-api-connect")];
    expect(sorted([...used, ...elsewhere])).toEqual(sorted(given));
    expect(sorted(asked(apps.base))).toEqual(sorted(actionsOf("cluster-api-base-zone")));
  }, 480_000);
});

/**
 * What this cluster does not need: public addresses and those of version 6, a wildcard of its own, names that go while their
 * zone stays, and endpoints of strangers, which a deletion disconnects.
 */
const elsewhere = [
  ...["dnsZones", "privateDnsZones"].flatMap((zone) =>
    ["A/delete", "AAAA/write", "AAAA/delete", "CNAME/delete"].map((rest) => `${zone}/${rest}`),
  ),
  "dnsZones/CNAME/write",
  "privateLinkServices/privateEndpointConnections/write",
  "privateLinkServices/privateEndpointConnections/delete",
  "publicIPAddresses/read",
].map((rest) => `Microsoft.Network/${rest}`);

const sorted = (actions: readonly string[]) =>
  [...new Set(actions.map((one) => one.toLowerCase()))].sort();

function addressesOf(world: HostedWorld, id: string): string[] {
  const record = world.azure.at(id) as { properties?: object } | undefined;
  const { aRecords = [] } = (record?.properties ?? {}) as { aRecords?: { ipv4Address: string }[] };
  return aRecords.map(({ ipv4Address }) => ipv4Address);
}
