import { type Static, Type } from "typebox";
import { apiServerLoadBalancer, resourceName } from "./api-server-load-balancer.ts";
import { immutable, keepUnknown, oneOf, type Rule, rules, text } from "./schema.ts";

const connection = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "The name.", ...resourceName })),
    privateLinkServiceID: Type.String({
      description: "The id of the link service.",
      // A pattern and no rule: there may be a thousand endpoints, and rules are paid for before they are asked.
      pattern: "(?i:subscriptions/[^/]+/resourcegroups/[^/]+/providers/[^/]+/[^/]+/[^/]+)",
    }),
    groupIDs: Type.Optional(
      Type.Array(Type.String(), { description: "The sub-resources to connect to." }),
    ),
    requestMessage: Type.Optional(
      Type.String({ description: "The message to the owner of the link service.", maxLength: 140 }),
    ),
  },
  { description: "A connection to a link service.", ...keepUnknown },
);

const privateEndpoint = Type.Object(
  {
    name: Type.String({ description: "The name of the endpoint.", minLength: 1, ...resourceName }),
    location: Type.Optional(Type.String({ description: "The region of the endpoint." })),
    privateLinkServiceConnections: Type.Array(connection, {
      description: "The private link services that it connects to.",
      minItems: 1,
    }),
    customNetworkInterfaceName: Type.Optional(
      Type.String({ description: "The name of its network interface." }),
    ),
    privateIPAddresses: Type.Optional(
      Type.Array(Type.String(), { description: "Static addresses. Without them Azure chooses." }),
    ),
    applicationSecurityGroups: Type.Optional(
      Type.Array(Type.String(), { description: "The application security groups that it is in." }),
    ),
    manualApproval: Type.Optional(
      Type.Boolean({ description: "Whether the owner of the link service must approve it." }),
    ),
  },
  { description: "A private endpoint in the subnet.", ...keepUnknown },
);

/** A private endpoint as an AzureCluster asks for it. */
export type PrivateEndpointSpec = Static<typeof privateEndpoint>;

/** A thing of the subnet that keeps its name and stays. */
const named = (field: string, description: string) =>
  Type.Optional(
    Type.Object(
      { name: text("The name.", { maxLength: 80 }, immutable(`the name of ${field}`)) },
      { description, ...keepUnknown },
    ),
  );

const stays = (field: string): Rule => ({
  rule: `has(self.${field}) || !has(oldSelf.${field})`,
  message: `${field} of a subnet cannot be removed: restore it`,
  fieldPath: `.${field}`,
});

const subnet = Type.Object(
  {
    name: Type.String({
      description: "The name of the subnet.",
      minLength: 1,
      maxLength: 80,
      ...resourceName,
    }),
    role: oneOf(["node", "control-plane", "bastion", "cluster"], "The role of the subnet."),
    id: Type.Optional(Type.String({ description: "The id in Azure, once the resource exists." })),
    cidrBlocks: Type.Optional(
      Type.Array(
        text(
          "A block.",
          { minLength: 1, maxLength: 43 },
          {
            rule: "isCIDR(self)",
            message: "must be a block of addresses, such as 10.1.0.0/16",
          },
        ),
        { description: "The address ranges.", maxItems: 8 },
      ),
    ),
    privateEndpoints: Type.Optional(
      Type.Array(privateEndpoint, {
        description: "The private endpoints in it.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      }),
    ),
    routeTable: named("routeTable", "The route table."),
    natGateway: named("natGateway", "The NAT gateway."),
    securityGroup: named("securityGroup", "The network security group."),
  },
  {
    description: "A subnet of the cluster.",
    ...keepUnknown,
    ...rules(stays("routeTable"), stays("natGateway"), stays("securityGroup")),
  },
);

/** A subnet of an AzureCluster. */
export type SubnetSpec = Static<typeof subnet>;

const vnet = Type.Object(
  {
    name: Type.String({ description: "The name." }),
    resourceGroup: Type.Optional(
      Type.String({ description: "The resource group, if it is not the cluster's." }),
    ),
    id: Type.Optional(Type.String({ description: "The id in Azure, once the resource exists." })),
    cidrBlocks: Type.Optional(Type.Array(Type.String(), { description: "The address ranges." })),
    peerings: Type.Optional(
      Type.Array(
        Type.Object(
          {
            remoteVnetName: Type.String({ description: "The name of the other network." }),
            resourceGroup: Type.Optional(Type.String({ description: "The resource group." })),
          },
          { description: "A peering.", ...keepUnknown },
        ),
        { description: "The peerings of the network." },
      ),
    ),
  },
  { description: "The virtual network.", ...keepUnknown },
);

/** Each NAT address of each link in one spelling. */
const everyNat = (spelling: string, claim: string) =>
  `self.apiServerLB.privateLinks.all(l, !has(l.${spelling}) || l.${spelling}.all(n, ${claim}))`;
const inBothSpellings = (claim: string) =>
  `!has(self.subnets) || size(self.subnets) == 0 || !has(self.apiServerLB) || !has(self.apiServerLB.privateLinks) || (${everyNat("natIpConfigurations", claim)} && ${everyNat("natIPConfigurations", claim)})`;
const holds = (address: string) =>
  `has(s.cidrBlocks) && s.cidrBlocks.exists(c, isCIDR(c) && cidr(c).containsIP(${address}))`;

const ofControlPlane = "s.role in ['control-plane', 'cluster']";

/** Without subnets CAPZ fills in its own before it looks at the rest: what is about subnets waits for them. */
const networkRules: Rule[] = [
  {
    rule: inBothSpellings("self.subnets.exists(s, s.name == n.subnet)"),
    message:
      "the NAT addresses of a private link are in a subnet that does not exist: use one of subnets",
    fieldPath: ".apiServerLB.privateLinks",
  },
  {
    rule: inBothSpellings(
      `n.allocationMethod != 'Static' || !has(n.privateIPAddress) || !isIP(n.privateIPAddress) || self.subnets.exists(s, s.name == n.subnet && ${holds("n.privateIPAddress")})`,
    ),
    message:
      "a Static NAT address of a private link is outside its subnet: choose one in the subnet",
    fieldPath: ".apiServerLB.privateLinks",
  },
  {
    rule: `!has(self.apiServerLB) || self.apiServerLB.type != 'Internal' || !has(self.apiServerLB.frontendIPs) || !has(self.subnets) || !self.subnets.exists(s, ${ofControlPlane} && has(s.cidrBlocks)) || self.apiServerLB.frontendIPs.all(f, !has(f.privateIP) || f.privateIP == '' || (isIP(f.privateIP) && self.subnets.exists(s, ${ofControlPlane} && (${holds("f.privateIP")}))))`,
    message:
      "the address of an Internal load balancer must be in the subnet of the control plane: choose one in it",
    fieldPath: ".apiServerLB.frontendIPs",
  },
  {
    rule: "!has(self.privateDNSZoneName) || self.privateDNSZoneName == '' || (has(self.apiServerLB) && self.apiServerLB.type == 'Internal')",
    message: "privateDNSZoneName requires a load balancer of type Internal: remove it",
    fieldPath: ".privateDNSZoneName",
  },
  {
    rule: "!has(self.privateDNSZoneResourceGroup) || self.privateDNSZoneResourceGroup == '' || has(self.privateDNSZoneName)",
    message: "privateDNSZoneResourceGroup requires privateDNSZoneName: add it",
    fieldPath: ".privateDNSZoneResourceGroup",
  },
];

/** The network of an AzureCluster. */
export const networkSpec = Type.Object(
  {
    vnet: Type.Optional(vnet),
    subnets: Type.Optional(
      Type.Array(subnet, {
        description: "The subnets of the cluster.",
        maxItems: 100,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      }),
    ),
    apiServerLB: Type.Optional(apiServerLoadBalancer),
    privateDNSZone: Type.Optional(
      oneOf(["System", "None"], "Whether CAPZ creates a private DNS zone for a private cluster."),
    ),
    privateDNSZoneName: Type.Optional(
      text("The name of that zone.", { maxLength: 253 }, immutable("privateDNSZoneName")),
    ),
    privateDNSZoneResourceGroup: Type.Optional(
      text("The resource group of that zone.", { maxLength: 90 }),
    ),
  },
  { description: "The virtual network of the cluster.", ...keepUnknown, ...rules(...networkRules) },
);
