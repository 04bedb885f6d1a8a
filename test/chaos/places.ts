import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { capzTagPrefix } from "postern/cluster-api/names.ts";

/** The Azure of a storm before anybody begins: two subscriptions, who may do what in them, and what Postern builds on. */

export const tenant = guidFrom("chaos tenant");
export const subscriptions = {
  management: guidFrom("chaos management"),
  guests: guidFrom("chaos guests"),
};
export const location = "westeurope";
export const secret = "for-the-storm-only";
export const network = "providers/Microsoft.Network";
/** The domain of the clusters of Cluster API, and the group of its public zone. */
export const baseDomain = "example.net";

/** The resource groups by name. */
export const groups = {
  management: groupOf("management", "management"),
  mc: groupOf("management", "mc"),
  dns: groupOf("management", "dns"),
  appliances: groupOf("management", "appliances"),
  "guests-a": groupOf("guests", "guests-a"),
  "guests-b": groupOf("guests", "guests-b"),
  amber: groupOf("guests", "amber"),
  coral: groupOf("guests", "coral"),
} as const;

/** A place for a hosted cluster: clusters come and go in it, always under the same name. */
export interface HostedSlot {
  name: string;
  group: "guests-a" | "guests-b";
  baseDomain: string;
}

/** The first two share group, network and zone; the third has the domain of the first two in another network. */
export const hostedSlots: readonly HostedSlot[] = [
  { name: "red", group: "guests-a", baseDomain: "one.example.com" },
  { name: "green", group: "guests-a", baseDomain: "one.example.com" },
  { name: "blue", group: "guests-b", baseDomain: "one.example.com" },
  { name: "grey", group: "guests-b", baseDomain: "two.example.com" },
];

/** The places for workload clusters of Cluster API. */
export const workloadSlots = ["amber", "coral"] as const;
/** The machines on which agents run. */
export const applianceNames = ["inspector-0", "inspector-1"] as const;
/** The pool that they join. */
export const pool = "inspect";

/** Whoever acts for Postern has an object id that begins so; faults strike these and the appliances. */
export const posternPrefix = "90575e00-0000-4000-8000-";

/** The client id of one who acts for Postern. */
export function clientIdOf(name: string): string {
  return guidFrom(`chaos client ${name}`);
}

function groupOf(subscription: keyof typeof subscriptions, name: string): string {
  return `/subscriptions/${subscriptions[subscription]}/resourceGroups/${name}`;
}

/** The network of a group; each has one. */
export function networkIn(group: keyof typeof groups): string {
  return `${groups[group]}/${network}/virtualNetworks/${group}`;
}

/** The one subnet of a network that is there from the beginning. */
export function subnetIn(group: keyof typeof groups): string {
  return `${networkIn(group)}/subnets/nodes`;
}

/** The machines of the management cluster, by their interfaces. */
export const nodeInterfaces = [0, 1].map(
  (n) => `${groups.management}/${network}/networkInterfaces/node-${n}`,
);

/** The load balancer of the API server of a cluster of Cluster API. */
export function apiBalancer(cluster: "mc" | (typeof workloadSlots)[number]): string {
  return `${groups[cluster]}/${network}/loadBalancers/${cluster}-internal-lb`;
}

/** The address of that load balancer. */
export const apiAddresses = { mc: "10.1.0.100", amber: "10.2.0.100", coral: "10.3.0.100" } as const;

/** A machine on which an agent runs. */
export function machineId(name: string): string {
  return `${groups.appliances}/providers/Microsoft.Compute/virtualMachines/${name}`;
}

/** The interface of such a machine. */
export function machineInterface(name: string): string {
  return `${groups.appliances}/${network}/networkInterfaces/${name}`;
}

const gateway = `${groups.appliances}/${network}/loadBalancers/gateway`;
/** The pool of the appliances. */
export const poolId = `${gateway}/backendAddressPools/${pool}`;
const applianceIdentity = `${groups.appliances}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/appliance`;

/** A role that can be taken away and given back. */
export interface Assignment {
  id: string;
  body: JsonObject;
}

/** Make the world; gives the roles of those who act for Postern. */
export function makePlaces(simulator: Simulator, issuer: string): Assignment[] {
  const { directory } = simulator;
  for (const id of Object.values(subscriptions)) directory.addSubscription(id, tenant);
  for (const id of Object.values(groups)) simulator.change(id, { location });
  makeNetworks(simulator);
  makeManagement(simulator);
  for (const cluster of ["mc", ...workloadSlots] as const) makeApiBalancer(simulator, cluster);
  simulator.change(`${groups.dns}/${network}/dnsZones/${baseDomain}`, { location: "global" });
  for (const { name, group, baseDomain: domain } of hostedSlots) {
    // The zone of `*.apps`, which `hypershift create infra` makes for every cluster.
    const zone = `${groups[group]}/${network}/privateDnsZones/${name}.${domain}`;
    simulator.change(zone, { location: "global" });
    simulator.change(`${zone}/virtualNetworkLinks/${name}`, {
      location: "global",
      properties: { registrationEnabled: false, virtualNetwork: { id: networkIn(group) } },
    });
  }
  makeAppliances(simulator);
  return makePeople(simulator, issuer);
}

function makeNetworks(simulator: Simulator): void {
  const blocks: Partial<Record<keyof typeof groups, [string, string]>> = {
    management: ["10.0.0.0/16", "10.0.0.0/18"],
    mc: ["10.1.0.0/16", "10.1.0.0/20"],
    appliances: ["10.9.0.0/16", "10.9.0.0/24"],
    "guests-a": ["192.168.0.0/16", "192.168.0.0/20"],
    "guests-b": ["192.168.0.0/16", "192.168.0.0/20"],
    amber: ["10.2.0.0/16", "10.2.0.0/20"],
    coral: ["10.3.0.0/16", "10.3.0.0/20"],
  };
  for (const [group, [space, addressPrefix]] of Object.entries(blocks)) {
    const subnet = { addressPrefix, privateLinkServiceNetworkPolicies: "Disabled" };
    simulator.change(networkIn(group as keyof typeof groups), {
      location,
      properties: {
        addressSpace: { addressPrefixes: [space] },
        subnets: [{ name: "nodes", properties: subnet }],
      },
    });
  }
}

function makeManagement(simulator: Simulator): void {
  for (const id of nodeInterfaces) simulator.change(id, interfaceIn("management"));
}

function interfaceIn(group: keyof typeof groups, pools: string[] = []): JsonObject {
  const properties = {
    primary: true,
    subnet: { id: subnetIn(group) },
    ...(pools.length > 0 && { loadBalancerBackendAddressPools: pools.map((id) => ({ id })) }),
  };
  return { location, properties: { ipConfigurations: [{ name: "primary", properties }] } };
}

/** What Cluster API's provider for Azure makes: the load balancer of an API server with a machine behind it. */
function makeApiBalancer(
  simulator: Simulator,
  cluster: "mc" | (typeof workloadSlots)[number],
): void {
  const id = apiBalancer(cluster);
  simulator.change(id, {
    location,
    // By this tag it is known to be the cluster's, also where other tags were replaced.
    tags: { [`${capzTagPrefix}${cluster}`]: "owned" },
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [
        {
          name: "front",
          properties: {
            subnet: { id: subnetIn(cluster) },
            privateIPAllocationMethod: "Static",
            privateIPAddress: apiAddresses[cluster],
          },
        },
      ],
      backendAddressPools: [{ name: "machines" }],
      probes: [
        {
          name: "ready",
          properties: { protocol: "Tcp", port: 6443, intervalInSeconds: 15, probeThreshold: 2 },
        },
      ],
      loadBalancingRules: [
        {
          name: "apiserver",
          properties: {
            protocol: "Tcp",
            frontendPort: 6443,
            backendPort: 6443,
            frontendIPConfiguration: { id: `${id}/frontendIPConfigurations/front` },
            backendAddressPools: [{ id: `${id}/backendAddressPools/machines` }],
            probe: { id: `${id}/probes/ready` },
          },
        },
      ],
    },
  });
  simulator.change(
    `${groups[cluster]}/${network}/networkInterfaces/${cluster}-control-plane-0`,
    interfaceIn(cluster, [`${id}/backendAddressPools/machines`]),
  );
}

function makeAppliances(simulator: Simulator): void {
  simulator.change(gateway, {
    location,
    sku: { name: "Gateway" },
    properties: {
      frontendIPConfigurations: [
        { name: "inside", properties: { subnet: { id: subnetIn("appliances") } } },
      ],
      backendAddressPools: [{ name: pool }],
      probes: [
        {
          name: "health",
          properties: {
            protocol: "Http",
            port: 8080,
            requestPath: "/healthz",
            intervalInSeconds: 5,
            probeThreshold: 2,
          },
        },
      ],
      loadBalancingRules: [
        {
          name: "all",
          properties: {
            protocol: "All",
            frontendPort: 0,
            backendPort: 0,
            frontendIPConfiguration: { id: `${gateway}/frontendIPConfigurations/inside` },
            backendAddressPools: [{ id: poolId }],
            probe: { id: `${gateway}/probes/health` },
          },
        },
      ],
    },
  });
  simulator.change(applianceIdentity, { location });
  for (const name of applianceNames) {
    simulator.change(machineInterface(name), interfaceIn("appliances"));
    simulator.change(machineId(name), {
      location,
      identity: { type: "UserAssigned", userAssignedIdentities: { [applianceIdentity]: {} } },
      properties: {
        hardwareProfile: { vmSize: "Standard_D2s_v3" },
        storageProfile: {
          imageReference: {
            publisher: "Canonical",
            offer: "ubuntu-24_04-lts",
            sku: "server",
            version: "latest",
          },
          osDisk: { createOption: "FromImage", name },
        },
        osProfile: {
          computerName: name,
          adminUsername: "postern",
          linuxConfiguration: { disablePasswordAuthentication: true },
        },
        networkProfile: { networkInterfaces: [{ id: machineInterface(name) }] },
      },
    });
  }
}

function makePeople(simulator: Simulator, issuer: string): Assignment[] {
  const { directory, roles } = simulator;
  const application = (name: string, federatedTo?: string) =>
    directory.addApplication({
      tenant,
      appId: clientIdOf(name),
      objectId: `${posternPrefix}${guidFrom(name).slice(-12)}`,
      displayName: name,
      secrets: [{ value: secret }],
      federated: federatedTo
        ? [
            {
              name,
              issuer,
              subject: `system:serviceaccount:${federatedTo}:control-plane-operator`,
              audiences: ["api://AzureADTokenExchange"],
            },
          ]
        : [],
    }).objectId;
  roles.makeOwner(worldIdentity);
  const connect = (owner: string, scope: string) => {
    const name = guidFrom(`chaos connect ${owner}`);
    const id = `${scope}/providers/Microsoft.Authorization/roleDefinitions/${name}`;
    const actions = [
      "Microsoft.Network/privateLinkServices/PrivateEndpointConnectionsApproval/action",
    ];
    simulator.change(id, {
      properties: {
        roleName: `Connect to links of ${owner}`,
        assignableScopes: [scope],
        permissions: [{ actions, notActions: [] }],
      },
    });
    return id;
  };
  const roleNamed = (name: string) => {
    const found = [...roles.definitions()].find((each) => each.roleName === name);
    if (!found) throw new Error(`no role ${name}`);
    return `/providers/Microsoft.Authorization/roleDefinitions/${found.name}`;
  };
  const assignments: Assignment[] = [];
  const assign = (principalId: string, roleDefinitionId: string, scope: string) => {
    const name = guidFrom(`${scope} ${roleDefinitionId} ${principalId}`);
    const id = `${scope}/providers/Microsoft.Authorization/roleAssignments/${name}`;
    const body = { properties: { roleDefinitionId, principalId } };
    simulator.change(id, body);
    assignments.push({ id, body });
  };
  const contributor = roleNamed("Contributor");
  const operator = application("operator");
  assign(operator, roleNamed("Network Contributor"), groups.management);
  assign(operator, contributor, groups.dns);
  for (const { name, group } of hostedSlots)
    assign(application(name, `clusters-${name}`), contributor, groups[group]);
  const management = application("mc");
  assign(management, contributor, groups.mc);
  const toManagement = connect("mc", groups.mc);
  for (const name of workloadSlots) {
    const workload = application(name);
    assign(workload, contributor, groups[name]);
    assign(workload, toManagement, groups.mc);
    assign(management, connect(name, groups[name]), groups[name]);
  }
  const identity = directory
    .save()
    .applications.concat()
    .find(({ resourceId }) => resourceId === applianceIdentity);
  const properties = simulator.store.get(applianceIdentity)?.properties;
  const principal = identity?.objectId ?? String(properties?.principalId ?? "");
  assign(principal, contributor, groups.appliances);
  return assignments;
}

/** One who may do everything, whom no fault strikes: the world itself, and whoever looks at it. */
export const worldIdentity = {
  tenant,
  objectId: guidFrom("chaos world object"),
  appId: guidFrom("chaos world"),
};
