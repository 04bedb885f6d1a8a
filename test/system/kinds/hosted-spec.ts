import { network, type Over, subnet, uuid } from "./row.ts";

/** The identities of a cluster that its owner runs, with the one that makes the endpoint. */
export const workload = {
  azureAuthenticationConfigType: "WorkloadIdentities",
  workloadIdentities: { controlPlaneOperator: { clientID: uuid } },
};

/** The same without the identity that makes the endpoint. */
export const workloadWithoutOperator = {
  azureAuthenticationConfigType: "WorkloadIdentities",
  workloadIdentities: {},
};

/** The identities of a managed service. */
export const managed = {
  azureAuthenticationConfigType: "ManagedIdentities",
  managedIdentities: {},
};

/** A cluster on Azure of the fewest fields, with some put over those of `spec.platform.azure`. */
export function onAzure(over: Over = {}, spec: Over = {}): Record<string, unknown> {
  const azure = {
    location: "westeurope",
    resourceGroup: "guest",
    vnetID: network,
    subnetID: subnet,
    subscriptionID: uuid,
    tenantID: uuid,
    azureAuthenticationConfig: workload,
    ...over,
  };
  return { platform: { type: "Azure", azure }, ...spec };
}

/** How one part of a control plane is published. */
export function published(service: string, type: string, settings: Over = {}) {
  return { service, servicePublishingStrategy: { type, ...settings } };
}
