import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import {
  appsZoneId,
  blueDomain,
  clientIds,
  groups,
  type Identity,
  location,
  networkIn,
  subscriptions,
  tenant,
} from "./azure.ts";
import { managementCluster, pathOf, type Thing, type World } from "./world.ts";

/** The victim's hosted cluster. With this name a HostedCluster `e` in namespace `blue-on` computes the same namespace. */
export const hosted = { namespace: "blue", name: "on-e", controlPlane: "blue-on-e" } as const;
/** The victim's cluster of Cluster API. */
export const workload = { namespace: "blue-capi", name: "two" } as const;
/** The id of the hosted cluster, from which names in Azure are computed. */
export const clusterID = guidFrom("victim");

/** What a hosted cluster is made of, where it is not the victim's. */
export interface HostedShape {
  clusterID?: string;
  infraID?: string;
  group?: string;
  identity?: string;
  baseDomain?: string;
  /** The domain of its hostnames, where that is not the base domain. */
  hostDomain?: string;
  apiHostname?: string;
  network?: string;
  allowed?: readonly string[];
  privateZone?: string;
  natSubnet?: string;
  paused?: boolean;
  /** Whether its API server and OAuth server have hostnames of their own; they do if this is absent. */
  hostnames?: boolean;
  topology?: "Public" | "Private";
}

/** The spec that a HostedCluster and its HostedControlPlane share. */
export function hostedSpec(name: string, shape: HostedShape = {}): Record<string, unknown> {
  const { group = groups.blue, baseDomain = blueDomain } = shape;
  const { hostDomain = baseDomain } = shape;
  const [, , subscriptionID, , resourceGroup] = group.split("/");
  const network = shape.network ?? networkIn(group);
  const route = (service: string, hostname?: string) => ({
    service,
    servicePublishingStrategy: {
      type: "Route",
      ...(hostname && shape.hostnames !== false && { route: { hostname } }),
    },
  });
  const privateLink = (shape.allowed || shape.natSubnet) && {
    privateLink: {
      ...(shape.allowed && { additionalAllowedSubscriptions: shape.allowed }),
      ...(shape.natSubnet && { natSubnetID: shape.natSubnet }),
    },
  };
  return {
    clusterID: shape.clusterID ?? clusterID,
    infraID: shape.infraID ?? `${name}-infra`,
    ...(shape.paused && { pausedUntil: "true" }),
    dns: { baseDomain, ...(shape.privateZone && { privateZoneID: shape.privateZone }) },
    services: [
      route("APIServer", shape.apiHostname ?? `api-${name}.${hostDomain}`),
      route("OAuthServer", `oauth-${name}.${hostDomain}`),
      route("Konnectivity"),
      route("Ignition"),
    ],
    platform: {
      type: "Azure",
      azure: {
        location,
        resourceGroup,
        subscriptionID,
        tenantID: tenant,
        vnetID: network,
        subnetID: `${network}/subnets/nodes`,
        azureAuthenticationConfig: {
          azureAuthenticationConfigType: "WorkloadIdentities",
          workloadIdentities: {
            controlPlaneOperator: { clientID: shape.identity ?? clientIds.blue },
          },
        },
        ...(shape.topology === "Public"
          ? { topology: "Public" }
          : { topology: "Private", private: { type: "PrivateLink", ...privateLink } }),
      },
    },
  };
}

/** A HostedCluster. */
export function hostedClusterObject(
  namespace: string,
  name: string,
  shape: HostedShape = {},
): Thing {
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedCluster",
    metadata: { namespace, name },
    spec: hostedSpec(name, shape),
  };
}

/** The objects of a cluster of Cluster API: an identity with its Secret, the Cluster, and what it refers to. */
export function workloadObjects(
  namespace: string,
  name: string,
  group: string,
  identity: Identity,
  over: { link?: string; allowed?: readonly string[] } = {},
): Thing[] {
  const [, , subscriptionID, , resourceGroup] = group.split("/");
  const { link = `${name}-api-privatelink`, allowed = [subscriptions.management] } = over;
  const metadata = { namespace, name };
  const ref = (apiGroup: string, kind: string) => ({
    apiGroup: `${apiGroup}.cluster.x-k8s.io`,
    kind,
    name,
  });
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name: identity },
      stringData: { clientSecret: `secret-of-${identity}` },
    },
    {
      apiVersion: apiVersionOf(azureClusterIdentity),
      kind: "AzureClusterIdentity",
      metadata: { namespace, name: identity },
      spec: {
        type: "ServicePrincipal",
        tenantID: tenant,
        clientID: clientIds[identity],
        clientSecret: { namespace, name: identity },
        allowedNamespaces: { list: [namespace] },
      },
    },
    {
      apiVersion: apiVersionOf(azureCluster),
      kind: "AzureCluster",
      metadata,
      spec: {
        location,
        subscriptionID,
        resourceGroup,
        identityRef: { kind: "AzureClusterIdentity", name: identity },
        networkSpec: {
          vnet: { name: "vnet", id: networkIn(group) },
          subnets: [{ name: "nodes", role: "node" }],
          apiServerLB: {
            type: "Internal",
            frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
            privateLinks: [
              {
                name: link,
                natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
                lbFrontendIPConfigNames: ["front"],
                allowedSubscriptions: allowed,
                autoApprovedSubscriptions: allowed,
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: apiVersionOf(capiCluster),
      kind: "Cluster",
      metadata: { ...metadata, finalizers: ["cluster.cluster.x-k8s.io"] },
      spec: {
        infrastructureRef: ref("infrastructure", "AzureCluster"),
        controlPlaneRef: ref("controlplane", "KubeadmControlPlane"),
      },
    },
    {
      apiVersion: apiVersionOf(kubeadmControlPlane),
      kind: "KubeadmControlPlane",
      metadata,
      spec: {},
    },
  ];
}

/** An internal load balancer of the victim that has nothing to do with any link. */
export const database: Thing = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    namespace: hosted.namespace,
    name: "database",
    annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
  },
  spec: { type: "LoadBalancer", ports: [{ port: 5432 }], selector: { app: "database" } },
};

const ready = {
  conditions: [
    { type: "LoadBalancersReady", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ],
};

async function must(code: Promise<number>): Promise<void> {
  const status = await code;
  if (status >= 300) throw new Error(`the API server refuses what the victim writes: ${status}`);
}

/** The management cluster of Cluster API and the namespaces of everybody. */
export async function prepare(world: World, namespaces: readonly string[]): Promise<void> {
  for (const name of [hosted.namespace, workload.namespace, "org-mc", ...namespaces])
    await must(world.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  const { namespace, name } = managementCluster;
  const allowed = [subscriptions.blue, subscriptions.evil];
  const link = "mc-gateway-privatelink";
  const [secret, identity, cluster] = workloadObjects(namespace, name, groups.mc, "mc", {
    link,
    allowed,
  });
  const [sharedSecret, shared] = workloadObjects(namespace, name, groups.mc, "shared");
  const forEverybody = { ...shared, spec: { ...(shared?.spec as object), allowedNamespaces: {} } };
  for (const each of [secret, identity, cluster, sharedSecret, forEverybody])
    await must(world.create(each as Thing));
}

/** How long the attacker is there before the victim comes. */
export const beforeSeconds = 75;

/** What the victim does, stage by stage. Each stage ends when its time is over. */
export const stages: readonly {
  name: string;
  ms: number;
  act(world: World): Promise<void>;
}[] = [
  { name: "before", ms: beforeSeconds * 1000, act: async () => undefined },
  { name: "provisioning", ms: 12_000, act: createAll },
  { name: "available", ms: 100_000, act: async () => undefined },
  { name: "changed", ms: 50_000, act: change },
  { name: "deleting", ms: 10_000, act: deleteAll },
  { name: "deleted", ms: 300_000, act: async () => undefined },
];

async function createAll(world: World): Promise<void> {
  await must(world.create(database));
  const { namespace: home, name: cluster } = hosted;
  const { hostnames } = world.variant;
  const shape = { privateZone: appsZoneId, hostnames };
  await must(world.create(hostedClusterObject(home, cluster, shape)));
  const { namespace, name } = workload;
  for (const each of workloadObjects(namespace, name, groups.two, "two"))
    await must(world.create(each));
  const status = (kind: string, body: object) =>
    must(world.send("PATCH", `${pathOf(kind, namespace, name)}/status`, { status: body }));
  await status("AzureCluster", ready);
  await status("Cluster", { phase: "Provisioned" });
}

async function change(world: World): Promise<void> {
  const privateLink = { additionalAllowedSubscriptions: [subscriptions.friend] };
  const spec = { platform: { azure: { private: { type: "PrivateLink", privateLink } } } };
  await must(world.send("PATCH", pathOf("HostedCluster", hosted.namespace, hosted.name), { spec }));
}

async function deleteAll(world: World): Promise<void> {
  await must(world.send("DELETE", pathOf("Service", hosted.namespace, "database")));
  await must(world.send("DELETE", pathOf("HostedCluster", hosted.namespace, hosted.name)));
  const { namespace, name } = workload;
  await must(world.send("DELETE", pathOf("Cluster", namespace, name)));
  await must(world.send("DELETE", pathOf("AzureCluster", namespace, name)));
}
