import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import {
  domain,
  immutable,
  ip,
  irremovable,
  resourceId,
  rules,
  subscriptionSet,
  text,
  uuid,
} from "./schema.ts";

/** The longest id of a subnet: every name in it at Azure's limit. */
const subnetIdLength = 355;
/** Longer than any id that Azure can answer: a status that is refused is lost whole. */
const answeredIdLength = 1024;

const spec = Type.Object(
  {
    loadBalancerIP: Type.Optional(
      ip(
        "The address of the internal load balancer of the Service that has the same name as this object.",
      ),
    ),
    subscriptionID: uuid(
      "The subscription of the hosted cluster, in which the private endpoint and the DNS zones are created.",
      immutable("subscriptionID"),
    ),
    resourceGroupName: text(
      "The resource group of the hosted cluster, in which the private endpoint and the DNS zones are created.",
      { minLength: 1, maxLength: 90 },
      {
        rule: "self.matches('^[-a-zA-Z0-9_.()]+$') && !self.endsWith('.')",
        message:
          "must be the name of a resource group: letters, digits, underscores, hyphens, dots and parentheses, without a dot at the end",
      },
      immutable("resourceGroupName"),
    ),
    location: text(
      "The Azure region of the private link service and of the private endpoint.",
      { minLength: 1, maxLength: 50 },
      {
        rule: "self.matches('^[a-z0-9]+$')",
        message: "must be the short name of an Azure region in lower case, such as westeurope",
      },
      immutable("location"),
    ),
    natSubnetID: Type.Optional(
      resourceId(
        "Microsoft.Network/virtualNetworks/subnets",
        "The NAT subnet of the private link service. Without it, Postern creates one.",
        { maxLength: subnetIdLength },
        immutable("natSubnetID"),
      ),
    ),
    additionalAllowedSubscriptions: subscriptionSet(
      "Subscriptions that may connect in addition to the hosted cluster's own.",
    ),
    guestSubnetID: resourceId(
      "Microsoft.Network/virtualNetworks/subnets",
      "The subnet of the hosted cluster in which the private endpoint is created.",
      { maxLength: subnetIdLength },
      immutable("guestSubnetID"),
    ),
    guestVNetID: resourceId(
      "Microsoft.Network/virtualNetworks",
      "The virtual network of the hosted cluster, to which the DNS zones are linked.",
      { maxLength: subnetIdLength },
      immutable("guestVNetID"),
    ),
    baseDomain: Type.Optional(
      domain(
        "The domain under which the API server and the OAuth server are resolved in the network of the hosted cluster.",
        immutable("baseDomain"),
      ),
    ),
  },
  {
    description:
      "The private connection to one Service of a hosted control plane: its private link service, private endpoint and DNS zones.",
    ...rules(irremovable("natSubnetID"), irremovable("baseDomain")),
  },
);

const status = Type.Object(
  {
    conditions: Type.Optional(conditionList({ minItems: 1, maxItems: 10 })),
    internalLoadBalancerID: Type.Optional(
      resourceId(
        "Microsoft.Network/loadBalancers",
        "The load balancer that has the address in the spec.",
        { maxLength: answeredIdLength, subscriptionIsUuid: true },
      ),
    ),
    privateLinkServiceID: Type.Optional(
      resourceId("Microsoft.Network/privateLinkServices", "The private link service.", {
        maxLength: answeredIdLength,
      }),
    ),
    privateLinkServiceAlias: Type.Optional(
      text(
        "The alias of the private link service, which is unique in Azure.",
        { minLength: 1, maxLength: 253 },
        {
          rule: "self.lowerAscii().matches('^[^.]+[.][0-9a-f-]+[.][a-z0-9]+[.]azure[.]privatelinkservice$')",
          message:
            "must be an alias in Azure's form: {name}.{guid}.{region}.azure.privatelinkservice",
        },
      ),
    ),
    privateEndpointID: Type.Optional(
      resourceId(
        "Microsoft.Network/privateEndpoints",
        "The private endpoint in the network of the hosted cluster.",
        {
          maxLength: answeredIdLength,
        },
      ),
    ),
    privateEndpointIP: Type.Optional(ip("The address of the private endpoint.")),
    privateDNSZoneID: Type.Optional(
      resourceId(
        "Microsoft.Network/privateDnsZones",
        "The private DNS zone of the cluster's internal hostnames.",
        {
          maxLength: answeredIdLength,
        },
      ),
    ),
    dnsZoneName: Type.Optional(
      domain("The name of the private DNS zone of the cluster's internal hostnames."),
    ),
    baseDomainDNSZoneID: Type.Optional(
      resourceId("Microsoft.Network/privateDnsZones", "The private DNS zone of the base domain.", {
        maxLength: answeredIdLength,
      }),
    ),
  },
  { description: "The observed state in Azure.", minProperties: 1 },
);

/** The private link of one Service of a hosted control plane: both sides and the names. */
export interface AzurePrivateLinkService extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `AzurePrivateLinkService` of HyperShift, field for field. */
export const azurePrivateLinkService: Definition<AzurePrivateLinkService> = {
  group: "hypershift.openshift.io",
  version: "v1beta1",
  kind: "AzurePrivateLinkService",
  plural: "azureprivatelinkservices",
  singular: "azureprivatelinkservice",
  shortNames: ["azpls"],
  namespaced: true,
  description:
    "The private connection to one Service of a hosted control plane: its private link service, private endpoint and DNS zones.",
  annotations: {
    "api.openshift.io/merged-by-featuregates": "true",
    "include.release.openshift.io/ibm-cloud-managed": "true",
    "include.release.openshift.io/self-managed-high-availability": "true",
  },
  columns: [
    { name: "PLS Alias", type: "string", jsonPath: ".status.privateLinkServiceAlias" },
    { name: "Endpoint IP", type: "string", jsonPath: ".status.privateEndpointIP" },
    {
      name: "Available",
      type: "string",
      jsonPath: statusOf("AzurePrivateLinkServiceAvailable"),
    },
    age,
  ],
  spec,
  status,
  standIn: false,
};
