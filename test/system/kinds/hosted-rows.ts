import type { Kind } from "../../../src/model/kind.ts";
import { hostedCluster } from "../../../src/model/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "../../../src/model/kinds/hosted-control-plane.ts";
import { managed, onAzure, published, workload } from "./hosted-spec.ts";
import {
  cannotChange,
  mustBeGroup,
  mustBeSubnet,
  mustBeUuid,
  network,
  type Over,
  otherSubnet,
  otherUuid,
  type Row,
  tooLong,
  tooShort,
  uuid,
} from "./row.ts";

const azurePath = "spec.platform.azure";

const azureRefused: [says: string, azure: Over, field: string, ...messages: string[]][] = [
  ...[
    "location",
    "resourceGroup",
    "vnetID",
    "subnetID",
    "subscriptionID",
    "tenantID",
    "azureAuthenticationConfig",
  ].map((field): [string, Over, string, string] => [
    `a cluster without ${field}`,
    { [field]: undefined },
    field,
    "Required value",
  ]),
  ["a longer region", { location: "x".repeat(256) }, "location", tooLong(255)],
  ["a resource group with a dot behind", { resourceGroup: "g." }, "resourceGroup", mustBeGroup],
  ["an empty resource group", { resourceGroup: "" }, "resourceGroup", tooShort(1), mustBeGroup],
  ["a longer resource group", { resourceGroup: "g".repeat(91) }, "resourceGroup", tooLong(90)],
  ["a network for a subnet", { subnetID: network }, "subnetID", mustBeSubnet],
  [
    "an unknown cloud",
    { cloud: "AzureMoonCloud" },
    "cloud",
    'Unsupported value: "AzureMoonCloud": supported values: "AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud", "AzureGermanCloud", "AzureBleuCloud", "AzureStackCloud"',
  ],
  [
    "a client id that is no UUID",
    {
      azureAuthenticationConfig: {
        ...workload,
        workloadIdentities: { controlPlaneOperator: { clientID: "x".repeat(36) } },
      },
    },
    "azureAuthenticationConfig.workloadIdentities.controlPlaneOperator.clientID",
    mustBeUuid,
  ],
  [
    "workload identities without their block",
    { azureAuthenticationConfig: { azureAuthenticationConfigType: "WorkloadIdentities" } },
    "azureAuthenticationConfig.workloadIdentities",
    "workloadIdentities goes together with azureAuthenticationConfigType WorkloadIdentities: give both or neither",
  ],
  [
    "managed identities with the other's block",
    { azureAuthenticationConfig: { ...managed, workloadIdentities: {} } },
    "azureAuthenticationConfig.workloadIdentities",
    "workloadIdentities goes together with azureAuthenticationConfigType WorkloadIdentities: give both or neither",
  ],
  [
    "workload identities with the other's block",
    { azureAuthenticationConfig: { ...workload, managedIdentities: {} } },
    "azureAuthenticationConfig.managedIdentities",
    "managedIdentities goes together with azureAuthenticationConfigType ManagedIdentities: give both or neither",
  ],
];

const azureChanges: [field: string, to: unknown, allowed: boolean][] = [
  ["location", "northeurope", false],
  ["resourceGroup", "other", false],
  ["vnetID", `${network}2`, false],
  ["subnetID", otherSubnet, false],
  ["subscriptionID", otherUuid, false],
  ["tenantID", otherUuid, true],
  ["cloud", "AzureChinaCloud", true],
];

/** Rows about the fields that HostedCluster and HostedControlPlane have in common, but not about access. */
export function hostedRows(kind: Kind): Row[] {
  const identity = { clusterID: uuid, infraID: "blue-x7f2k" };
  const changed = (says: string, from: Over, to: Over, field?: string): Row => ({
    says: `${says} is ${field === undefined ? "accepted" : "refused"}`,
    kind,
    spec: onAzure({}, from),
    becomes: onAzure({}, to),
    ...(field === undefined ? {} : { refused: [[`spec.${field}`, cannotChange(field)]] }),
  });
  return [
    ...azureRefused.map(
      ([says, azure, field, ...messages]): Row => ({
        says: `${says} is refused`,
        kind,
        spec: onAzure(azure),
        refused: messages.map((message) => [`${azurePath}.${field}`, message]),
      }),
    ),
    ...azureChanges.map(
      ([field, to, allowed]): Row => ({
        says: `a change of ${field} is ${allowed ? "accepted" : "refused"}`,
        kind,
        spec: onAzure(),
        becomes: onAzure({ [field]: to }),
        ...(allowed ? {} : { refused: [[`${azurePath}.${field}`, cannotChange(field)]] }),
      }),
    ),
    {
      says: "platform Azure without azure is refused",
      kind,
      spec: { platform: { type: "Azure" } },
      refused: [[azurePath, "azure is required with type Azure: add it"]],
    },
    { says: "another platform is accepted", kind, spec: { platform: { type: "AWS" } } },
    {
      says: "no platform is refused",
      kind,
      spec: {},
      refused: [["spec.platform", "Required value"]],
    },
    {
      says: "a cluster whose number is no UUID is refused",
      kind,
      spec: onAzure({}, { clusterID: "x".repeat(36) }),
      refused: [["spec.clusterID", mustBeUuid]],
    },
    {
      says: "a pause longer than any time is refused",
      kind,
      spec: onAzure({}, { pausedUntil: "x".repeat(36) }),
      refused: [["spec.pausedUntil", tooLong(35)]],
    },
    changed("a number and a name that come", {}, identity),
    changed(
      "a change of the cluster's number",
      identity,
      { ...identity, clusterID: otherUuid },
      "clusterID",
    ),
    changed(
      "a change of the cluster's name in Azure",
      identity,
      { ...identity, infraID: "red" },
      "infraID",
    ),
    changed("a pause that comes", {}, { pausedUntil: "true" }),
    changed(
      "a pause that changes",
      { pausedUntil: "true" },
      { pausedUntil: "2030-01-01T00:00:00Z" },
    ),
  ];
}

const routes = ["APIServer", "OAuthServer", "Konnectivity", "Ignition"].map((service) =>
  published(service, "Route"),
);
const servicesStay =
  "services cannot change once the cluster is created: put back the old ones, or create a new cluster";

const serviceRefused: [
  says: string,
  service: string,
  type: string,
  azure: Over,
  message: string,
][] = [
  [
    "Konnectivity as LoadBalancer",
    "Konnectivity",
    "LoadBalancer",
    {},
    "Konnectivity must be published as Route on Azure: set its type to Route",
  ],
  [
    "Ignition as NodePort",
    "Ignition",
    "NodePort",
    {},
    "Ignition must be published as Route on Azure: set its type to Route",
  ],
  ...(
    [
      ["OAuthServer as NodePort", "NodePort", {}],
      [
        "OAuthServer as LoadBalancer with managed identities",
        "LoadBalancer",
        { azureAuthenticationConfig: managed },
      ],
    ] as const
  ).map(([says, type, azure]): [string, string, string, Over, string] => [
    says,
    "OAuthServer",
    type,
    azure,
    "OAuthServer must be published as Route on Azure, or as LoadBalancer with WorkloadIdentities: set its type",
  ]),
];

function servicesChange(says: string, from: unknown, to: unknown, platform?: string): Row {
  const spec = (services: unknown) =>
    platform === undefined ? onAzure({}, { services }) : { platform: { type: platform }, services };
  return {
    says,
    kind: hostedCluster,
    spec: spec(from),
    becomes: spec(to),
    ...(says.endsWith("refused") ? { refused: [["spec.services", servicesStay]] } : {}),
  };
}

/** Rows about how a HostedCluster publishes the parts of its control plane. */
export const serviceRows: Row[] = [
  { says: "all parts as Route are accepted", services: routes },
  {
    says: "the API server as LoadBalancer is accepted",
    services: [published("APIServer", "LoadBalancer")],
  },
  {
    says: "OAuthServer as LoadBalancer with workload identities is accepted",
    services: [published("OAuthServer", "LoadBalancer", { loadBalancer: { hostname: "oauth.x" } })],
  },
].map(
  ({ says, services }): Row => ({ says, kind: hostedCluster, spec: onAzure({}, { services }) }),
);

serviceRows.push(
  {
    says: "Konnectivity as LoadBalancer on another platform is accepted",
    kind: hostedCluster,
    spec: { platform: { type: "AWS" }, services: [published("Konnectivity", "LoadBalancer")] },
  },
  ...serviceRefused.map(
    ([says, service, type, azure, message]): Row => ({
      says: `${says} is refused`,
      kind: hostedCluster,
      spec: onAzure(azure, { services: [published(service, type)] }),
      refused: [["spec.services", message]],
    }),
  ),
  {
    says: "an unknown part is refused",
    kind: hostedCluster,
    spec: onAzure({}, { services: [published("Mail", "Route")] }),
    refused: [
      [
        "spec.services[0].service",
        'Unsupported value: "Mail": supported values: "APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition", "OVNSbDb"',
      ],
    ],
  },
  {
    says: "seven parts are refused",
    kind: hostedCluster,
    spec: onAzure({}, { services: Array(7).fill(published("APIServer", "Route")) }),
    refused: [["spec.services", "must have at most 6 items"]],
  },
  servicesChange("services that stay the same are accepted", routes, routes),
  servicesChange("services that come are refused", undefined, routes),
  servicesChange("services that go are refused", routes, undefined),
  servicesChange("one part fewer is refused", routes, routes.slice(1)),
  servicesChange(
    "another type of publishing is refused",
    [published("APIServer", "Route")],
    [published("APIServer", "LoadBalancer")],
  ),
  servicesChange(
    "another hostname is refused",
    [published("APIServer", "Route", { route: { hostname: "api.a" } })],
    [published("APIServer", "Route", { route: { hostname: "api.b" } })],
  ),
  servicesChange(
    "a change of services on IBMCloud is accepted",
    routes,
    routes.slice(1),
    "IBMCloud",
  ),
  servicesChange("a change of services on another platform is refused", routes, [], "AWS"),
  {
    says: "a HostedControlPlane's services, which are copied, are not checked again: it is accepted",
    kind: hostedControlPlane,
    spec: onAzure({}, { services: [published("Konnectivity", "LoadBalancer")] }),
    becomes: onAzure({}, { services: routes }),
  },
);
