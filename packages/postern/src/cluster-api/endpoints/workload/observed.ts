import type { Failure } from "@postern/core/failure.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { CapiCondition } from "@postern/core/kinds/capi-condition.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Observation } from "../../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../../azure/gateways/private-endpoints.ts";
import type { ManagementLink } from "../../names.ts";
import type { Claim } from "../claims/claims.ts";
import type { ClaimState } from "../claims/decide.ts";
import type { Stray } from "../spec/applied.ts";
import type { ClusterFacts } from "../spec/facts.ts";

/** A claim on the management cluster, and the endpoint in Azure where the spec has it. */
export interface ObservedClaim {
  claim: Claim;
  state: ClaimState;
  observation: Observation<PrivateEndpoint> | undefined;
}

/** One way from the workload cluster to the management cluster. */
export interface ObservedConnection {
  link: ManagementLink;
  /** Ours in another subnet, where it is still there. */
  stray: Stray | undefined;
  /** Whether this generation of names is desired. */
  configured: boolean;
  desired: PrivateEndpointSpec;
  found: PrivateEndpointSpec | undefined;
  observation: Observation<PrivateEndpoint> | undefined;
}

/** What is left on the management side of a cluster that is being deleted. */
export interface Remaining {
  /** Endpoints that are still desired in the spec of the management cluster. */
  inSpec: readonly string[];
  /** Endpoints in Azure that lead to the cluster and to nobody else. `isOwned`: CAPZ or Postern created it. */
  inAzure: readonly {
    id: ResourceId;
    isOwned: boolean;
    observation: Observation<PrivateEndpoint>;
  }[];
  /** How long they have been observed there, and how long the spec has been clean. */
  inSpecMs: number;
  cleanMs: number;
  failed: Failure | undefined;
}

/** What was observed, once, before deciding. */
export interface Observed {
  cluster: ClusterFacts;
  /** Whether this AzureCluster is the management cluster itself. */
  isManagement: boolean;
  /** Whether it carries our finalizer. */
  hasFinalizer: boolean;
  abandoned: boolean;
  published: { api: string | undefined; management: string | undefined };
  condition: CapiCondition | undefined;
  managementKey: string;
  management: ClusterFacts | undefined;
  /** Why Postern does not act for the cluster. */
  refused?: Failure | undefined;
  /** Whether the identities of the two clusters are of different tenants. */
  tenantsDiffer: boolean;
  claims: readonly ObservedClaim[];
  /** Why the endpoints of the management side could not be observed. */
  claimsFailed: Failure | undefined;
  connections: readonly ObservedConnection[];
  connectionsFailed: Failure | undefined;
  remaining: Remaining | undefined;
}
