import type { Kind, KubeObject } from "../model/kind.ts";
import type { AllowedNamespaces } from "./allowed-namespaces.ts";

/** The part of an AzureClusterIdentity that Postern reads. */
export interface AzureClusterIdentity extends KubeObject {
  spec: {
    type: string;
    clientID?: string;
    tenantID?: string;
    clientSecret?: { name?: string; namespace?: string };
    certPath?: string;
    allowedNamespaces?: AllowedNamespaces | null;
  };
}

export const azureClusterIdentity: Kind<AzureClusterIdentity> = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  kind: "AzureClusterIdentity",
  plural: "azureclusteridentities",
  namespaced: true,
};

/** The part of an AzureCluster that says by whom to act for it. */
export interface AzureCluster extends KubeObject {
  spec: { identityRef?: IdentityReference | null; azureEnvironment?: string };
}

/** Names an AzureClusterIdentity; in the namespace of whoever names it, where it says none. */
export interface IdentityReference {
  name: string;
  namespace?: string;
}

export const azureCluster: Kind<AzureCluster> = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  kind: "AzureCluster",
  plural: "azureclusters",
  namespaced: true,
};
