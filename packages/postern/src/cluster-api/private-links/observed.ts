import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { OwnerKey } from "@postern/core/ownership.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Observation } from "../../azure/gateway.ts";
import type { LoadBalancer } from "../../azure/gateways/load-balancers.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { VirtualNetwork } from "../../azure/gateways/virtual-networks.ts";
import type { ForeignEndpoints } from "../../private-link/link-service/disconnect.ts";
import type { DesiredPrivateEndpoint, DesiredPrivateLink, Problem } from "./spec/desired.ts";
import type { Scope } from "./spec/managed.ts";

/** A condition of ours as it stands, and for how long it has stood so. */
export type PresentCondition = PlannedCondition & { sinceMs: number };

/** What a plan needs of the object itself. */
export interface Subject {
  owner: OwnerKey;
  /** The name of its Cluster, by which CAPZ marks what it creates. */
  cluster: string;
  /** The scopes that Postern manages. */
  scopes: readonly Scope[];
  /** Whether our finalizer is on it. */
  hasFinalizer: boolean;
  /** Our conditions on it. */
  conditions: readonly PresentCondition[];
  foreignEndpoints: ForeignEndpoints;
  /** While it is being deleted: how long the management cluster still has to delete its endpoints itself. */
  graceMs: number;
}

/** All that a plan decides by: plain data, read once. */
export type Observed =
  /** Nobody may touch it. */
  | { stage: "paused"; subject: Subject }
  /** There is nothing to do in Azure, which was not read. */
  | { stage: "idle"; subject: Subject; problems: readonly Problem[] }
  /** Azure could not be read. */
  | { stage: "unread"; subject: Subject; failure: Failure }
  | ObservedInAzure;

/** What is in Azure. In a scope that Postern does not manage nothing is desired or observed. */
export interface ObservedInAzure {
  stage: "observed";
  subject: Subject;
  deleting: boolean;
  problems: readonly Problem[];
  links: ObservedLinks;
  endpoints: ObservedEndpoints;
}

/** Something and how it is. */
export interface Found<T> {
  id: ResourceId;
  observation: Observation<T>;
}

/** Something that is desired. */
export interface Requested {
  /** Whether it is ours although its tags do not say so any more: see `azure/missing-tags.ts`. */
  lacksTags?: boolean;
}

/** Why a Service that a link names has no load balancer frontend. */
export interface MissingFrontend {
  why: string;
  /** The Service is being deleted, which cannot end while a link service uses its load balancer. */
  isServiceDeleting?: true;
}

export interface ObservedLinks {
  desired: readonly (Found<PrivateLinkService> &
    Requested & { link: DesiredPrivateLink; missing?: MissingFrontend | undefined })[];
  /** What has our mark and is not desired. */
  obsolete: readonly Found<PrivateLinkService>[];
  /** What a new link service needs; observed only where one is to be created. */
  balancers?: readonly Found<LoadBalancer>[];
  /** The load balancers that take no more link services. */
  fullBalancers?: readonly ResourceId[];
  networks: readonly (Found<VirtualNetwork> & {
    /** Whether the cluster's own group holds it. */
    isInGroup: boolean;
  })[];
}

export interface ObservedEndpoints {
  desired: readonly (Found<PrivateEndpoint> & Requested & { endpoint: DesiredPrivateEndpoint })[];
  obsolete: readonly Found<PrivateEndpoint>[];
}
