import { azureClusterIdentity as kind } from "@postern/core/kinds/azure-cluster-identity.ts";
import { cannotChange, type Over, type Refusal, type Row, uuid } from "./row.ts";

const identity = (over: Over = {}) => ({
  type: "WorkloadIdentity",
  clientID: uuid,
  tenantID: uuid,
  allowedNamespaces: {},
  ...over,
});

const given = (says: string, over: Over, ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec: identity(over),
  ...(refusals.length > 0 && { refused: refusals }),
});

const types = [
  "ServicePrincipal",
  "UserAssignedMSI",
  "ManualServicePrincipal",
  "ServicePrincipalCertificate",
  "WorkloadIdentity",
  "UserAssignedIdentityCredential",
];

/** All rows about an AzureClusterIdentity. */
export const identityRows: Row[] = [
  ...types.map((type) => given(`an identity of type ${type}`, { type })),
  given("an identity of another type", { type: "Password" }, [
    "spec.type",
    `Unsupported value: "Password": supported values: ${types.map((type) => `"${type}"`).join(", ")}`,
  ]),
  ...["type", "clientID", "tenantID"].map((field) =>
    given(`an identity without ${field}`, { [field]: undefined }, [
      `spec.${field}`,
      "Required value",
    ]),
  ),
  given("an identity with a Secret", { clientSecret: { name: "secret", namespace: "org-acme" } }),
  given("an identity with a certificate in a file", { certPath: "/cert.pem" }),
  given("an identity that no namespace may use", { allowedNamespaces: undefined }),
  given("an identity that explicitly no namespace may use", { allowedNamespaces: null }),
  given("an identity for namespaces by name", { allowedNamespaces: { list: ["org-acme"] } }),
  given("an identity for namespaces by label", {
    allowedNamespaces: {
      list: null,
      selector: {
        matchLabels: { team: "blue" },
        matchExpressions: [{ key: "stage", operator: "In", values: ["test"] }],
      },
    },
  }),
  given(
    "a claim without an operator",
    { allowedNamespaces: { selector: { matchExpressions: [{ key: "stage" }] } } },
    ["spec.allowedNamespaces.selector.matchExpressions[0].operator", "Required value"],
  ),
  {
    says: "a change of type is refused",
    kind,
    spec: identity(),
    becomes: identity({ type: "UserAssignedMSI" }),
    refused: [["spec.type", cannotChange("type")]],
  },
  {
    says: "a change of clientID is accepted",
    kind,
    spec: identity(),
    becomes: identity({ clientID: "other" }),
  },
];
