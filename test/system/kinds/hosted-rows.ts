import type { Kind } from "@postern/core/kind.ts";
import { managed, onAzure, published, workload } from "./hosted-spec.ts";
import {
  cannotBeRemoved,
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
  ["a longer network", { vnetID: "x".repeat(256) }, "vnetID", tooLong(255)],
  ["a longer subscription", { subscriptionID: "x".repeat(256) }, "subscriptionID", tooLong(255)],
  ["a longer tenant", { tenantID: "x".repeat(256) }, "tenantID", tooLong(255)],
  ["a network for a subnet", { subnetID: network }, "subnetID", mustBeSubnet],
  ["an empty subnet", { subnetID: "" }, "subnetID", tooShort(1), mustBeSubnet],
  ["a longer subnet", { subnetID: otherSubnet.padEnd(356, "x") }, "subnetID", tooLong(355)],
  [
    "an unknown cloud",
    { cloud: "AzureMoonCloud" },
    "cloud",
    'Unsupported value: "AzureMoonCloud": supported values: "AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud", "AzureGermanCloud", "AzureBleuCloud", "AzureStackCloud"',
  ],
  [
    "a private link in Azure Stack",
    { cloud: "AzureStackCloud", topology: "Private", private: { type: "PrivateLink" } },
    "cloud",
    "AzureStackCloud has no private link services: use another cloud, or topology Public without private",
  ],
  ...(
    [
      ["no client id", undefined, "Required value"],
      ["a client id that is no UUID", "x".repeat(36), mustBeUuid],
      ["a client id that is cut off", uuid.slice(1), tooShort(36), mustBeUuid],
      ["a longer client id", `${uuid}0`, tooLong(36)],
    ] as const
  ).map(([says, clientID, ...messages]): [string, Over, string, ...string[]] => [
    says,
    {
      azureAuthenticationConfig: {
        ...workload,
        workloadIdentities: { controlPlaneOperator: { clientID } },
      },
    },
    "azureAuthenticationConfig.workloadIdentities.controlPlaneOperator.clientID",
    ...messages,
  ]),
  [
    "identities without a type",
    { azureAuthenticationConfig: { workloadIdentities: {} } },
    "azureAuthenticationConfig.azureAuthenticationConfigType",
    "Required value",
  ],
  [
    "identities of an unknown type",
    { azureAuthenticationConfig: { azureAuthenticationConfigType: "Passwords" } },
    "azureAuthenticationConfig.azureAuthenticationConfigType",
    'Unsupported value: "Passwords": supported values: "ManagedIdentities", "WorkloadIdentities"',
  ],
  [
    "workload identities without their block",
    { azureAuthenticationConfig: { azureAuthenticationConfigType: "WorkloadIdentities" } },
    "azureAuthenticationConfig.workloadIdentities",
    "workloadIdentities must be set together with azureAuthenticationConfigType WorkloadIdentities: set both or neither",
  ],
  [
    "managed identities with the other's block",
    { azureAuthenticationConfig: { ...managed, workloadIdentities: {} } },
    "azureAuthenticationConfig.workloadIdentities",
    "workloadIdentities must be set together with azureAuthenticationConfigType WorkloadIdentities: set both or neither",
  ],
  [
    "workload identities with the other's block",
    { azureAuthenticationConfig: { ...workload, managedIdentities: {} } },
    "azureAuthenticationConfig.managedIdentities",
    "managedIdentities must be set together with azureAuthenticationConfigType ManagedIdentities: set both or neither",
  ],
];

const specRefused: [says: string, spec: Over, field: string, ...messages: string[]][] = [
  ["a number that is no UUID", { clusterID: "x".repeat(36) }, "clusterID", mustBeUuid],
  ["a number that is cut off", { clusterID: uuid.slice(1) }, "clusterID", tooShort(36), mustBeUuid],
  ["a longer number", { clusterID: `${uuid}0` }, "clusterID", tooLong(36)],
  ["a longer name in Azure", { infraID: "x".repeat(254) }, "infraID", tooLong(253)],
  ["a longer pause", { pausedUntil: "x".repeat(36) }, "pausedUntil", tooLong(35)],
  ["a longer domain", { dns: { baseDomain: "x".repeat(254) } }, "dns.baseDomain", tooLong(253)],
  [
    "a part without its name",
    { services: [{ ...published("APIServer", "Route"), service: undefined }] },
    "services[0].service",
    "Required value",
  ],
  [
    "a part that is not published",
    { services: [{ service: "APIServer" }] },
    "services[0].servicePublishingStrategy",
    "Required value",
  ],
  [
    "a part that is published in no way",
    { services: [published("APIServer", "Route", { type: undefined })] },
    "services[0].servicePublishingStrategy.type",
    "Required value",
  ],
  [
    "a part that is published in an unknown way",
    { services: [published("APIServer", "Pigeon")] },
    "services[0].servicePublishingStrategy.type",
    'Unsupported value: "Pigeon": supported values: "LoadBalancer", "NodePort", "Route", "None", "S3"',
  ],
  ...["route", "loadBalancer"].map((way): [string, Over, string, string] => [
    `a longer hostname of a ${way}`,
    { services: [published("APIServer", "Route", { [way]: { hostname: "x".repeat(254) } })] },
    `services[0].servicePublishingStrategy.${way}.hostname`,
    tooLong(253),
  ]),
  [
    "a node port without an address",
    { services: [published("APIServer", "NodePort", { nodePort: {} })] },
    "services[0].servicePublishingStrategy.nodePort.address",
    "Required value",
  ],
  [
    "a node port with a longer address",
    { services: [published("APIServer", "NodePort", { nodePort: { address: "x".repeat(254) } })] },
    "services[0].servicePublishingStrategy.nodePort.address",
    tooLong(253),
  ],
];

const condition = (type: string) => ({
  type,
  status: "True",
  reason: "Tested",
  message: "",
  lastTransitionTime: "2026-08-22T12:00:00Z",
});

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
      says: "a platform without a type is refused",
      kind,
      spec: { platform: {} },
      refused: [["spec.platform.type", "Required value"]],
    },
    {
      says: "a platform of a longer type is refused",
      kind,
      spec: { platform: { type: "x".repeat(64) } },
      refused: [["spec.platform.type", tooLong(63)]],
    },
    {
      says: "no spec is refused",
      kind,
      spec: undefined,
      refused: [["spec", "Required value"]],
    },
    ...specRefused.map(
      ([says, spec, field, ...messages]): Row => ({
        says: `${says} is refused`,
        kind,
        spec: onAzure({}, spec),
        refused: messages.map((message) => [`spec.${field}`, message]),
      }),
    ),
    {
      says: "two conditions of one type are refused",
      kind,
      spec: onAzure(),
      status: { conditions: [condition("Ready"), condition("Ready")] },
      refused: [["status.conditions[1]", 'Duplicate value: {"type":"Ready"}']],
    },
    {
      says: "more conditions than a cluster has are refused",
      kind,
      spec: onAzure(),
      status: { conditions: Array.from({ length: 101 }, (_, at) => condition(`Type${at}`)) },
      refused: [["status.conditions", "must have at most 100 items"]],
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
    changed("a base domain that comes", {}, { dns: { baseDomain: "example.com" } }),
    changed(
      "a change of the base domain",
      { dns: { baseDomain: "example.com" } },
      { dns: { baseDomain: "example.org" } },
      "dns.baseDomain",
    ),
    {
      says: "the removal of the subnet is refused",
      kind,
      spec: onAzure(),
      becomes: onAzure({ subnetID: undefined }),
      refused: [["spec.platform.azure.subnetID", cannotBeRemoved("subnetID")]],
    },
    {
      says: "a base domain with a dot at its end is refused",
      kind,
      spec: { ...onAzure(), dns: { baseDomain: "example.com." } },
      refused: [["spec.dns.baseDomain", "must not end with a dot: remove it"]],
    },
    {
      says: "a base domain with a label of 64 characters is refused",
      kind,
      spec: { ...onAzure(), dns: { baseDomain: `${"x".repeat(64)}.com` } },
      refused: [
        ["spec.dns.baseDomain", "must have labels of 1 to 63 characters, joined by single dots"],
      ],
    },
    {
      says: "a hostname with a dot at its end is refused",
      kind,
      spec: {
        ...onAzure(),
        services: [published("APIServer", "Route", { route: { hostname: "api.example.com." } })],
      },
      refused: [
        [
          "spec.services[0].servicePublishingStrategy.route.hostname",
          "must not end with a dot: remove it",
        ],
      ],
    },
    {
      says: "the removal of the base domain is refused",
      kind,
      spec: { ...onAzure(), dns: { baseDomain: "example.com" } },
      becomes: { ...onAzure(), dns: {} },
      refused: [["spec.dns.baseDomain", cannotBeRemoved("dns.baseDomain")]],
    },
    {
      says: "the removal of the names with the base domain is refused",
      kind,
      spec: { ...onAzure(), dns: { baseDomain: "example.com" } },
      becomes: onAzure(),
      refused: [["spec.dns.baseDomain", cannotBeRemoved("dns.baseDomain")]],
    },
    changed("a pause that comes", {}, { pausedUntil: "true" }),
    changed(
      "a pause that changes",
      { pausedUntil: "true" },
      { pausedUntil: "2030-01-01T00:00:00Z" },
    ),
  ];
}
