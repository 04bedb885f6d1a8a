import type { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import type { Application } from "@postern/azure-simulator/entra/application.ts";
import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { resourceGroupId, resourceIn } from "@postern/core/resource-id.ts";

/** The Entra tenant of everybody. */
export const tenant = "22222222-2222-4222-8222-222222222222";
/** The region of everything. */
export const location = "westeurope";

/** Whom the subscriptions belong to. */
export const subscriptions = {
  management: "11111111-1111-4111-8111-111111111111",
  blue: "33333333-3333-4333-8333-333333333333",
  friend: "55555555-5555-4555-8555-555555555555",
  evil: "66666666-6666-4666-8666-666666666666",
} as const;

const group = (owner: keyof typeof subscriptions, name: string) =>
  resourceGroupId(subscriptions[owner], name);

/** The resource groups: those of the management cluster, of the victim and of the attacker. */
export const groups = {
  management: group("management", "management"),
  mc: group("management", "mc"),
  dns: group("management", "dns"),
  blue: group("blue", "blue"),
  two: group("blue", "two"),
  evil: group("evil", "evil"),
  /** The attacker's too, in a subscription that it shares with the victim. */
  three: group("blue", "three"),
} as const;

/** The networks that several owners take addresses of begin differently, so that such an address is known. */
const prefixes: Record<string, string> = { management: "10.7", mc: "10.8" };

/** A subnet of the management network with a name as HyperShift gives it, which nobody uses now. */
export const spareSubnet = "spare-pls-nat";

/** The network of a group. */
export const networkIn = (id: string) => `${id}/providers/Microsoft.Network/virtualNetworks/vnet`;
/** The subnet of the machines of a group. */
export const subnetIn = (id: string) => `${networkIn(id)}/subnets/nodes`;
/** The load balancer of an API server of Cluster API. */
export const balancerIn = (id: string) =>
  `${id}/providers/Microsoft.Network/loadBalancers/${id.split("/").at(-1)}-internal-lb`;

/** The domain of the clusters of Cluster API. */
export const baseDomain = "example.net";
/** The victim's own domain. */
export const blueDomain = "blue.example.com";
/** The attacker's own domain. */
export const evilDomain = "evil.example.com";

/** Who can sign in. */
export const identities = ["operator", "cloud", "mc", "blue", "two", "evil", "shared"] as const;
/** The name of one of them. */
export type Identity = (typeof identities)[number];
/** The client id of each, which is no secret. */
export const clientIds = Object.fromEntries(
  identities.map((name) => [name, guidFrom(`client of ${name}`)]),
) as Record<Identity, string>;

const issuer = "https://kubernetes.default.svc";
/** The service accounts that prove who the applications are. */
export const subjects: Partial<Record<Identity, readonly string[]>> = {
  blue: ["blue-on-e"],
  evil: ["evil", "evil-x", "evil-on-e", "blue-on", "kube"],
  shared: ["evil-x", "evil-on-e"],
};

const contributor = "b24988ac-6180-42a0-ab88-20f7382dd24c";
const networkContributor = "4d97b98b-1d4f-4787-a291-c67834d212e7";
const authorization = "providers/Microsoft.Authorization";

/** A token that Entra issued. */
export interface Issued {
  /** The application, by its name here. */
  identity: string;
}

/** Azure before the first cluster. */
export interface Azure {
  simulator: Simulator;
  applications: Record<Identity, Application>;
  /** Every token that was issued to an application over HTTP, in order. */
  issued: Issued[];
}

/**
 * Start it: three owners, each with an identity that may do everything in its own groups and nothing elsewhere, and one that
 * the platform team has given rights in the groups of both tenants.
 */
export async function startAzure(clock: ManualClock, keys: readonly JsonObject[]): Promise<Azure> {
  const simulator = await startSimulator({
    seed: "isolation",
    clock,
    https: true,
    operationMs: {
      "Microsoft.Network/privateLinkServices": 4_000,
      "Microsoft.Network/privateEndpoints": 4_000,
    },
  });
  const { directory } = simulator;
  for (const each of Object.values(subscriptions)) directory.addSubscription(each, tenant);
  directory.trustIssuer({ issuer, keys: keys as never });
  const applications = Object.fromEntries(
    identities.map((name) => [
      name,
      directory.addApplication({
        tenant,
        appId: clientIds[name],
        objectId: guidFrom(`object of ${name}`),
        displayName: name,
        secrets: [{ value: `secret-of-${name}` }],
        federated: (subjects[name] ?? []).map((namespace) => ({
          name: namespace,
          issuer,
          subject: `system:serviceaccount:${namespace}:control-plane-operator`,
          audiences: ["api://AzureADTokenExchange"],
        })),
      }),
    ]),
  ) as Record<Identity, Application>;
  const issued: Issued[] = [];
  const tokenFor = directory.tokenFor.bind(directory);
  directory.tokenFor = (principal, asked) => {
    const name = directory.find(principal.objectId)?.displayName ?? principal.objectId;
    issued.push({ identity: name });
    return tokenFor(principal, asked);
  };

  const change = (id: string, body: object) => simulator.change(id, body as JsonObject);
  for (const [name, id] of Object.entries(groups)) {
    change(id, { location });
    const prefix = prefixes[name] ?? "10.0";
    if (name !== "dns") change(networkIn(id), network(prefix));
    if (["mc", "two", "evil", "three"].includes(name))
      change(balancerIn(id), balancer(subnetIn(id), `${prefix}.0.100`));
  }
  change(`${networkIn(groups.management)}/subnets/${spareSubnet}`, {
    properties: { addressPrefix: "10.7.200.0/24" },
  });
  appsZone(appsZoneId, groups.blue, change);
  appsZone(ownAppsZoneId, groups.evil, change);
  legacyLink(change);
  change(resourceIn(groups.dns, "Microsoft.Network/dnsZones", baseDomain), { location: "global" });
  const connect = connectRole(groups.mc, change);
  const connectToTwo = connectRole(groups.two, change);
  const connectToEvil = connectRole(groups.evil, change);
  const grant = (name: Identity, scope: string, role: string) => {
    const id = `${scope}/${authorization}/roleAssignments/${guidFrom(`${name} ${scope} ${role}`)}`;
    const roleDefinitionId = role.startsWith("/")
      ? role
      : `/${authorization}/roleDefinitions/${role}`;
    const { objectId: principalId } = applications[name];
    change(id, { properties: { roleDefinitionId, principalId } });
  };
  grant("operator", groups.management, networkContributor);
  grant("operator", groups.dns, contributor);
  grant("cloud", groups.management, networkContributor);
  grant("mc", groups.mc, contributor);
  grant("mc", groups.two, connectToTwo);
  grant("mc", groups.evil, connectToEvil);
  grant("blue", groups.blue, contributor);
  grant("two", groups.two, contributor);
  grant("two", groups.mc, connect);
  grant("evil", `/subscriptions/${subscriptions.evil}`, contributor);
  grant("evil", groups.mc, connect);
  grant("shared", groups.mc, connect);
  const evil = `/subscriptions/${subscriptions.evil}`;
  for (const scope of [groups.blue, groups.two, groups.three, evil])
    grant("shared", scope, contributor);
  return { simulator, applications, issued };
}

/** The zone of `*.apps`, which the installer of a hosted cluster makes. */
export const appsZoneId = resourceIn(
  groups.blue,
  "Microsoft.Network/privateDnsZones",
  `on-e.${blueDomain}`,
);

/** The same zone of the attacker's own cluster. */
export const ownAppsZoneId = resourceIn(
  groups.evil,
  "Microsoft.Network/privateDnsZones",
  `x.${evilDomain}`,
);

function appsZone(id: string, group: string, change: (id: string, body: object) => void): void {
  change(id, { location: "global" });
  change(`${id}/virtualNetworkLinks/vnet`, {
    location: "global",
    properties: { registrationEnabled: false, virtualNetwork: { id: networkIn(group) } },
  });
}

/** The clusterID of the cluster that it is for, which is not a cluster of this management cluster. */
export const legacyID = guidFrom("legacy");

/** A link service that HyperShift made for the victim: without our owner tag, and with an endpoint connected to it. */
export const legacyLinkId = resourceIn(
  groups.management,
  "Microsoft.Network/privateLinkServices",
  `pls-${legacyID}`,
);

function legacyLink(change: (id: string, body: object) => void): void {
  const balancerId = `${groups.management}/providers/Microsoft.Network/loadBalancers/legacy`;
  const subnet = subnetIn(groups.management);
  change(balancerId, balancer(subnet, "10.7.0.200"));
  change(legacyLinkId, {
    location,
    tags: {
      "kubernetes.io_cluster_legacy": "owned",
      "hypershift.openshift.io_resource-type": "private-link-service",
    },
    properties: {
      loadBalancerFrontendIpConfigurations: [
        { id: `${balancerId}/frontendIPConfigurations/front` },
      ],
      ipConfigurations: [{ name: "nat", properties: { primary: true, subnet: { id: subnet } } }],
      visibility: { subscriptions: [subscriptions.blue] },
      autoApproval: { subscriptions: [subscriptions.blue] },
    },
  });
  change(`${groups.blue}/providers/Microsoft.Network/privateEndpoints/legacy`, {
    location,
    properties: {
      subnet: { id: subnetIn(groups.blue) },
      privateLinkServiceConnections: [
        { name: "legacy", properties: { privateLinkServiceId: legacyLinkId } },
      ],
    },
  });
}

function network(prefix: string): object {
  const properties = {
    addressPrefix: `${prefix}.0.0/20`,
    privateLinkServiceNetworkPolicies: "Disabled",
  };
  return {
    location,
    properties: {
      addressSpace: { addressPrefixes: [`${prefix}.0.0/16`] },
      subnets: [{ name: "nodes", properties }],
    },
  };
}

function balancer(subnet: string, privateIPAddress: string): object {
  const properties = {
    privateIPAllocationMethod: "Static",
    privateIPAddress,
    subnet: { id: subnet },
  };
  return {
    location,
    sku: { name: "Standard" },
    properties: { frontendIPConfigurations: [{ name: "front", properties }] },
  };
}

/** A role that lets its holder connect to the link services of a group by their ids. */
function connectRole(scope: string, change: (id: string, body: object) => void): string {
  const id = `${scope}/${authorization}/roleDefinitions/${guidFrom(`connect to ${scope}`)}`;
  const action = "Microsoft.Network/privateLinkServices/PrivateEndpointConnectionsApproval/action";
  const permissions = [{ actions: [action], notActions: [] }];
  const roleName = `Connect to links of ${scope.split("/").at(-1)}`;
  change(id, { properties: { roleName, assignableScopes: [scope], permissions } });
  return id;
}
