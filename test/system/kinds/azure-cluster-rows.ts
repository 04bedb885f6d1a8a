import { azureCluster as kind } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterSpec, internal } from "./azure-cluster-spec.ts";
import { cannotChange, type Over, otherUuid, type Refusal, type Row, tooLong } from "./row.ts";

const mustBeIdentity = "identityRef must name an AzureClusterIdentity: set its kind";
const mustBeName =
  "the name of an AzureCluster must have 2 to 44 lower-case letters, digits and inner hyphens: choose another";

const accepted = (says: string, over: Over = {}, network: Over = {}): Row => ({
  says: `${says} is accepted`,
  kind,
  spec: azureClusterSpec(network, over),
});

const refused = (says: string, over: Over, ...refusals: Refusal[]): Row => ({
  says: `${says} is refused`,
  kind,
  spec: azureClusterSpec({}, over),
  refused: refusals,
});

const changed = (says: string, from: Over, to: Over, ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec: azureClusterSpec({}, from),
  becomes: azureClusterSpec({}, to),
  ...(refusals.length > 0 && { refused: refusals }),
});

const named = (says: string, name: string, fits: boolean): Row => ({
  says: `${says} is ${fits ? "accepted" : "refused"}`,
  kind,
  name,
  spec: azureClusterSpec(),
  ...(fits ? {} : { refused: [["<nil>", mustBeName]] }),
});

const withStatus = (says: string, condition: Over, ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec: azureClusterSpec(),
  status: {
    ready: true,
    conditions: [
      { type: "Ready", status: "True", lastTransitionTime: "2026-08-22T12:00:00Z" },
      {
        type: "PrivateLinksReady",
        status: "False",
        severity: "Warning",
        reason: "Updating",
        message: "one is being made",
        lastTransitionTime: "2026-08-22T12:00:00Z",
        ...condition,
      },
    ],
  },
  ...(refusals.length > 0 && { refused: refusals }),
});

const at = (field: string) => `status.conditions[1].${field}`;

/** Rows about an AzureCluster, but not about its network. */
export const azureClusterRows: Row[] = [
  accepted("a private cluster"),
  accepted("a public cluster", {}, { apiServerLB: { type: "Public" } }),
  accepted("a cluster of which only the region is known", {
    resourceGroup: undefined,
    subscriptionID: undefined,
    azureEnvironment: undefined,
    identityRef: undefined,
    networkSpec: undefined,
    controlPlaneEndpoint: undefined,
  }),
  accepted(
    "a cluster without a control plane",
    { controlPlaneEnabled: false },
    {
      apiServerLB: undefined,
    },
  ),
  accepted("a cluster with tags", { additionalTags: { team: "blue" } }),
  refused("a cluster without a region", { location: undefined }, [
    "spec.location",
    "Required value",
  ]),
  refused("an identity of another kind", { identityRef: { kind: "Secret", name: "x" } }, [
    "spec.identityRef.kind",
    mustBeIdentity,
  ]),
  refused("an identity of no kind", { identityRef: { name: "x" } }, [
    "spec.identityRef.kind",
    mustBeIdentity,
  ]),
  refused("a longer name of the API server", { controlPlaneEndpoint: { host: "x".repeat(513) } }, [
    "spec.controlPlaneEndpoint.host",
    tooLong(512),
  ]),
  named("a name of 44 letters", "n".repeat(44), true),
  named("a name of 45 letters", "n".repeat(45), false),
  named("a name of one letter", "n", false),
  named("a name with a dot", "wc.1", false),
  ...(
    [
      ["location", "northeurope"],
      ["resourceGroup", "wc2"],
      ["subscriptionID", otherUuid],
      ["azureEnvironment", "AzureChinaCloud"],
    ] as const
  ).map(([field, to]) =>
    changed(`a change of ${field}`, {}, { [field]: to }, [`spec.${field}`, cannotChange(field)]),
  ),
  changed("a resource group that is filled in", { resourceGroup: undefined }, {}),
  changed(
    "another identity",
    {},
    { identityRef: { kind: "AzureClusterIdentity", name: "other", namespace: "x" } },
  ),
  changed(
    "the API server that becomes known",
    {},
    {
      controlPlaneEndpoint: { host: "apiserver.wc1.example.com", port: 6443 },
    },
  ),
  changed(
    "an API server that moves",
    { controlPlaneEndpoint: { host: "a.example.com", port: 6443 } },
    { controlPlaneEndpoint: { host: "b.example.com", port: 443 } },
    ["spec.controlPlaneEndpoint.host", "host cannot change once it is set: restore the old value"],
    ["spec.controlPlaneEndpoint.port", "port cannot change once it is set: restore the old value"],
  ),
  withStatus("a status as CAPZ writes it", {}),
  withStatus("a condition without a reason", {
    reason: undefined,
    message: undefined,
    severity: undefined,
  }),
  withStatus("a second condition of one type", { type: "Ready" }),
  withStatus("a condition with an empty reason", { reason: "" }, [
    at("reason"),
    "in body should be at least 1 chars long",
  ]),
  withStatus("a condition with a longer reason", { reason: "x".repeat(257) }, [
    at("reason"),
    tooLong(256),
  ]),
  withStatus("a condition with an empty message", { message: "" }, [
    at("message"),
    "in body should be at least 1 chars long",
  ]),
  withStatus("a condition with a longer message", { message: "x".repeat(10_241) }, [
    at("message"),
    tooLong(10_240),
  ]),
  withStatus("a condition without a time", { lastTransitionTime: undefined }, [
    at("lastTransitionTime"),
    "Required value",
  ]),
  withStatus("a condition that is neither so nor so", { status: "Maybe" }, [
    at("status"),
    'Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
  ]),
  {
    says: "a load balancer without a type is public and takes no link",
    kind,
    spec: azureClusterSpec({ apiServerLB: internal({ type: undefined, privateLinks: [] }) }),
  },
];
