import type { Kind } from "@postern/core/kind.ts";
import {
  azureAsoManagedCluster,
  azureAsoManagedControlPlane,
} from "@postern/core/kinds/azure-aso-managed.ts";
import { azureManagedControlPlane } from "@postern/core/kinds/azure-managed-control-plane.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { providerConfig } from "@postern/core/kinds/provider-config.ts";
import {
  cannotChange,
  type Over,
  otherUuid,
  type Refusal,
  type Row,
  tooLong,
  tooShort,
  uuid,
} from "./row.ts";

const given = (kind: Kind, says: string, spec: unknown, ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec,
  ...(refusals.length > 0 && { refused: refusals }),
});

const stated = (
  kind: Kind,
  says: string,
  spec: unknown,
  status: unknown,
  ...refusals: Refusal[]
): Row => ({ ...given(kind, says, spec, ...refusals), status });

const reference = (over: Over = {}) => ({
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind: "AzureCluster",
  name: "wc1",
  ...over,
});
const cluster = { infrastructureRef: reference() };
const notLike = (pattern: string) => `in body should match '${pattern}'`;
const subdomain = notLike("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");

const clusters: Row[] = [
  given(capiCluster, "a cluster with everything", {
    paused: true,
    controlPlaneEndpoint: { host: "10.0.0.100", port: 6443 },
    infrastructureRef: reference(),
    controlPlaneRef: reference({
      apiGroup: "controlplane.cluster.x-k8s.io",
      kind: "KubeadmControlPlane",
    }),
  }),
  given(capiCluster, "a cluster with nothing", {}, [
    "spec",
    "in body should have at least 1 properties",
  ]),
  ...["apiGroup", "kind", "name"].map((field) =>
    given(
      capiCluster,
      `a reference without ${field}`,
      { infrastructureRef: reference({ [field]: undefined }) },
      [`spec.infrastructureRef.${field}`, "Required value"],
    ),
  ),
  given(
    capiCluster,
    "a reference to a group with its version",
    { infrastructureRef: reference({ apiGroup: "infrastructure.cluster.x-k8s.io/v1beta1" }) },
    ["spec.infrastructureRef.apiGroup", subdomain],
  ),
  given(
    capiCluster,
    "a reference to a name in upper case",
    { controlPlaneRef: reference({ name: "WC1" }) },
    ["spec.controlPlaneRef.name", subdomain],
  ),
  given(
    capiCluster,
    "a reference to a kind with a dot",
    { infrastructureRef: reference({ kind: "Azure.Cluster" }) },
    ["spec.infrastructureRef.kind", notLike("^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")],
  ),
  given(
    capiCluster,
    "an API server without a name",
    { ...cluster, controlPlaneEndpoint: { host: "", port: 6443 } },
    ["spec.controlPlaneEndpoint.host", tooShort(1)],
  ),
  given(
    capiCluster,
    "an API server on port 0",
    { ...cluster, controlPlaneEndpoint: { host: "x", port: 0 } },
    ["spec.controlPlaneEndpoint.port", "in body should be greater than or equal to 1"],
  ),
  given(capiCluster, "an API server at nothing", { ...cluster, controlPlaneEndpoint: {} }, [
    "spec.controlPlaneEndpoint",
    "in body should have at least 1 properties",
  ]),
  ...["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"].map((phase) =>
    stated(capiCluster, `a cluster in the phase ${phase}`, cluster, { phase }),
  ),
  stated(capiCluster, "a cluster in another phase", cluster, { phase: "Ready" }, [
    "status.phase",
    'Unsupported value: "Ready": supported values: "Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"',
  ]),
  {
    says: "a pause is accepted",
    kind: capiCluster,
    spec: cluster,
    becomes: { ...cluster, paused: true },
  },
];

const kubeadm: Row[] = [
  given(kubeadmControlPlane, "a control plane", { version: "v1.34.1", replicas: 3 }),
  given(kubeadmControlPlane, "a control plane of a longer version", { version: "v".repeat(257) }, [
    "spec.version",
    tooLong(256),
  ]),
  stated(
    kubeadmControlPlane,
    "a control plane that answers",
    {},
    { initialization: { controlPlaneInitialized: true } },
  ),
  stated(
    kubeadmControlPlane,
    "a control plane that perhaps answers",
    {},
    { initialization: { controlPlaneInitialized: "true" } },
    ["status.initialization.controlPlaneInitialized", 'must be of type boolean: "string"'],
  ),
];

const resource = {
  apiVersion: "containerservice.azure.com/v1api20240901",
  kind: "ManagedCluster",
  metadata: {
    name: "wc1",
    annotations: { "serviceoperator.azure.com/credential-from": "wc1-credentials" },
  },
  spec: { location: "westeurope" },
};

const managed = { location: "westeurope", subscriptionID: uuid };

const aks: Row[] = [azureAsoManagedCluster, azureAsoManagedControlPlane].flatMap((kind) => [
  given(kind, `an ${kind.kind} with a resource`, { resources: [resource] }),
  given(kind, `an ${kind.kind} with no resource`, { resources: [] }),
  given(kind, `an ${kind.kind} that says nothing of resources`, {}),
  given(kind, `an ${kind.kind} with a word for a resource`, { resources: ["word"] }, [
    "spec.resources[0]",
    'must be of type object: "string"',
  ]),
  stated(kind, `an ${kind.kind} that is ready`, {}, { ready: true }),
]);

const older: Row[] = [
  given(azureManagedControlPlane, "an AzureManagedControlPlane", {
    ...managed,
    identityRef: { kind: "AzureClusterIdentity", name: "wc1", namespace: "org-acme" },
  }),
  given(azureManagedControlPlane, "an AzureManagedControlPlane without an identity", managed),
  given(azureManagedControlPlane, "an AzureManagedControlPlane without a region", {}, [
    "spec.location",
    "Required value",
  ]),
  {
    says: "an AzureManagedControlPlane in another subscription is refused",
    kind: azureManagedControlPlane,
    spec: managed,
    becomes: { ...managed, subscriptionID: otherUuid },
    refused: [["spec.subscriptionID", cannotChange("subscriptionID")]],
  },
];

const config = (over: Over = {}) => ({
  credentials: { source: "UserAssignedManagedIdentity" },
  clientID: uuid,
  subscriptionID: uuid,
  tenantID: uuid,
  ...over,
});

const configs: Row[] = [
  given(providerConfig, "a ProviderConfig", config()),
  given(
    providerConfig,
    "a ProviderConfig without credentials",
    config({ credentials: undefined }),
    ["spec.credentials", "Required value"],
  ),
  given(
    providerConfig,
    "a ProviderConfig whose credentials come from nowhere",
    config({ credentials: {} }),
    ["spec.credentials.source", "Required value"],
  ),
  given(
    providerConfig,
    "a ProviderConfig whose credentials come from another source",
    config({ credentials: { source: "Moon" } }),
    [
      "spec.credentials.source",
      'Unsupported value: "Moon": supported values: "None", "Secret", "UserAssignedManagedIdentity", "SystemAssignedManagedIdentity", "OIDCTokenFile", "Upbound", "Filesystem"',
    ],
  ),
  {
    says: "a ProviderConfig for another identity is accepted",
    kind: providerConfig,
    spec: config(),
    becomes: config({ clientID: otherUuid }),
  },
];

/** Rows about the kinds of Cluster API beside AzureCluster and its identity. */
export const capiRows: Row[] = [...clusters, ...kubeadm, ...aks, ...older, ...configs];
