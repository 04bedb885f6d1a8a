import type { Failure } from "@postern/core/failure.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Observation } from "../../azure/gateway.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { ForeignEndpoints } from "../../private-link/link-service/disconnect.ts";
import type { Frontend } from "../../private-link/link-service/frontends.ts";
import type { Ownership } from "../../private-link/policy.ts";
import type { Known } from "./cluster/requirements.ts";
import type { NatObserved, ObservedNatDeletion } from "./nat/observed.ts";

/** The object, and the fields of its status that this feature owns. */
export interface Subject {
  namespace: string;
  name: string;
  uid: string;
  /** The installation of Postern that reconciles it. */
  installation: string;
  conditions: readonly Condition[];
  fields: StatusFields;
  /** The subnet that is recorded as created for this object or for others of its kind. */
  recordedSubnet: string | undefined;
  foreignEndpoints: ForeignEndpoints;
  /** What the administrator asks for beside Postern's own tags. */
  azureTags?: Tags | undefined;
  /** The link service sends the PROXY protocol. */
  proxyProtocol: boolean;
  /** The ids that the endpoint of this link may have. */
  ownEndpoints: readonly string[];
}

/** The status fields of this feature. */
export interface StatusFields {
  internalLoadBalancerID?: string | undefined;
  privateLinkServiceID?: string | undefined;
  privateLinkServiceAlias?: string | undefined;
}

/** All that a plan decides by: plain data, read once. */
export type Observed = Stopped | Unread | Up | Down;

/** Nothing can be done, and Azure was not asked. */
export interface Stopped {
  stage: "stopped";
  subject: Subject;
  known: Exclude<Known, { is: "desired" }>;
}

/** Azure could not be asked. */
export interface Unread {
  stage: "unread";
  subject: Subject;
  failure: Failure;
}

/** The link is desired. */
export interface Up {
  stage: "up";
  subject: Subject;
  known: Extract<Known, { is: "desired" }>;
  /** Who may see the service. */
  allowed: readonly string[];
  /** The NAT subnet that the object asks for. */
  natSubnetID: string | undefined;
  id: ResourceId;
  service: Observation<PrivateLinkService>;
  /** Whether it is the object's own; of no interest where it does not exist. */
  owner: Ownership;
  frontend: ObservedFrontend;
  /** The load balancer has as many link services of others as Azure allows. */
  isBalancerFull: boolean;
  /** Where the service is to be created: from where it may take its address. */
  nat: NatObserved;
  /** Where the service exists: the subnet of its NAT address, where we created it. */
  natOfService: ResourceId | undefined;
}

/** What was found of the address in the spec. */
export type ObservedFrontend =
  | { is: "found"; frontend: Frontend }
  | { is: "missing" }
  /** It has the address, and was created for another Service. */
  | { is: "foreign"; frontend: Frontend }
  | { is: "failed"; failure: Failure }
  /** The Service is being deleted: its load balancer is not used any more. */
  | { is: "released" };

/** The object is being deleted, and our finalizer is on it. */
export interface Down {
  stage: "down";
  subject: Subject;
  /** How long to wait until our own endpoint is deleted; 0 where there is none. */
  endpointGraceMs: number;
  /** Every link service that is or may be the object's. */
  services: readonly {
    id: ResourceId;
    observation: Observation<PrivateLinkService>;
    isOwn: boolean;
  }[];
  /** The subnet of the NAT address of one of its services, where we created it. */
  natOfService: ResourceId | undefined;
  nat: ObservedNatDeletion;
}
