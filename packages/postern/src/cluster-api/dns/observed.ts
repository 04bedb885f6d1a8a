import type { Failure } from "@postern/core/failure.ts";
import type { Owner } from "@postern/core/ownership.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Observation } from "../../azure/gateway.ts";
import type { ResourceGroup } from "../../azure/gateways/resource-groups.ts";
import type { Problem } from "../../kube/part.ts";
import type { FoundLink } from "../../private-dns/links/observed.ts";
import type { ObservedZone } from "../../private-dns/zone/observed.ts";
import type { ManagementLink } from "../names.ts";

/**
 * What a zone is to a cluster: `public` is its own, `base` the one that delegates to it, `toWorkload` answers in the
 * network of the management cluster for the names of this one, `toManagement` in this network for those of the other.
 */
export type ZoneRole = "public" | "base" | "toWorkload" | "toManagement";

/** A zone with what it is to the cluster. Of one that could not be read whole, nothing is known. */
export interface ZoneInRole extends ObservedZone {
  role: ZoneRole;
}

/** Where something is reached. What is `unknown` now may be written already: that stays. `none` is taken away. */
export type Addresses =
  | { state: "known"; values: readonly string[] }
  | { state: "unknown" }
  | { state: "none" };

/** The names that Services of the workload cluster ask for; undefined where it could not be read. */
export type ServiceNames = readonly { name: string; addresses: readonly string[] }[] | undefined;

/** The object that `infrastructureRef` names. */
export interface ObservedInfrastructure {
  is: "azure" | "aks" | "other";
  /** `AzureCluster org/name`, for messages. */
  called: string;
  deleting: boolean;
  /** Whether our finalizer is on it. */
  hasFinalizer: boolean;
  /** The condition that reports its DNS, as it is now. */
  condition: { status: string; reason?: string; message?: string } | undefined;
  /** What somebody asks for on everything that is created for the cluster; undefined where that is not known. */
  tags?: Tags | undefined;
  /** The addresses of private endpoints that are published on it. */
  published: readonly string[];
}

/** What was observed, once, before deciding. Plain data. */
export interface Observed {
  cluster: { name: string; deleting: boolean; paused: boolean; ready: boolean };
  infrastructure: ObservedInfrastructure | undefined;
  us: Owner;
  /** Who else has the name by right: an older Cluster in another namespace, or the management cluster. */
  namesake: "older" | "management" | undefined;
  /** Why Postern does not act for the cluster. */
  refused: Problem | undefined;
  /** The names of the zones. */
  domains: { base: string; cluster: string; management: string };
  /** The place of the public zone, unless there is one in another place already. */
  publicZoneId: ResourceId | undefined;
  zones: readonly ZoneInRole[];
  /** The networks in which the private zones are to answer. */
  networks: { toWorkload?: ResourceId; toManagement?: ResourceId };
  /** Whether a zone of CAPZ of the same name answers there already: Azure takes no second one. */
  served: { toWorkload: boolean; toManagement: boolean };
  /** The link of that zone, where it is known. */
  servedBy?: { toWorkload?: FoundLink; toManagement?: FoundLink };
  /** Whether an endpoint is to come that leads there, by what the AzureClusters ask for. */
  expected: { toWorkload: boolean; toManagement: boolean };
  api: Addresses;
  bastion: Addresses;
  services: ServiceNames;
  toWorkload: Addresses;
  toManagement: Partial<Record<ManagementLink, Addresses>>;
  /** Where wildcards lead, of this cluster and of the management cluster, as annotated. */
  wildcards: { cluster: string | undefined; management: string | undefined };
  /** The resource group that we create for a cluster that has none in Azure. */
  group:
    | {
        id: ResourceId;
        observation: Observation<ResourceGroup>;
        tags: Tags;
        location: string | undefined;
        /** Whether one that Postern did not create may be used: the policy lists it, or the cluster has its own identity. */
        mayAdopt: boolean;
      }
    | undefined;
  /** What was wrong on the way here. */
  problems: readonly Failure[];
}
