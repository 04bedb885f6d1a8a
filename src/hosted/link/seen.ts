import type { ForeignEndpoints } from "../../azure/disconnect.ts";
import type { Look } from "../../azure/gateway.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Failure } from "../../model/failure.ts";
import type { Condition } from "../../model/kinds/condition.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import type { Known } from "./cluster.ts";
import type { Frontend } from "./frontends.ts";
import type { Whose } from "./link-service.ts";

/** The object, and what its status says that is ours. */
export interface Subject {
  namespace: string;
  name: string;
  uid: string;
  /** Which installation of Postern looks after it. */
  installation: string;
  conditions: readonly Condition[];
  fields: StatusFields;
  /** The subnet that the object notes as one that was made for it or its like. */
  notedSubnet: string | undefined;
  foreignEndpoints: ForeignEndpoints;
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
export type Seen = Stopped | Unseen | Up | Down;

/** Nothing can be done, and Azure was not asked. */
export interface Stopped {
  stage: "stopped";
  subject: Subject;
  known: Exclude<Known, { is: "wanted" }>;
}

/** Azure could not be asked. */
export interface Unseen {
  stage: "unseen";
  subject: Subject;
  failure: Failure;
}

/** The link is wanted. */
export interface Up {
  stage: "up";
  subject: Subject;
  known: Extract<Known, { is: "wanted" }>;
  /** Who may see the service. */
  allowed: readonly string[];
  /** The NAT subnet that the object asks for. */
  natSubnetID: string | undefined;
  id: ResourceId;
  service: Look<PrivateLinkService>;
  /** Whether it is the object's own; of no interest where it is not there. */
  owner: Whose;
  frontend: FrontendSeen;
  /** Where the service is to be made: from where it takes its address. */
  nat: NatSeen;
  /** Where the service is there: the subnet of ours that it takes its address from. */
  natOfService: string | undefined;
}

/** What was found of the address in the spec. */
export type FrontendSeen =
  | { is: "found"; frontend: Frontend }
  | { is: "missing" }
  /** It has the address, and was created for another Service. */
  | { is: "foreign"; frontend: Frontend }
  | { is: "failed"; failure: Failure };

/** A subnet to make. */
export interface NewSubnet {
  id: ResourceId;
  prefix: string;
  /** It is there and is to be written again, because it cannot be used as it is. */
  broken?: true;
}

/** From where a new service takes its address. */
export type NatSeen =
  | { is: "not needed" }
  /** From this subnet. `ours` ones are noted on the object; `spare` is the next one, to be made before this one is full. */
  | { is: "there"; subnet: ResourceId; ours: boolean; spare?: NewSubnet }
  | { is: "to be made"; subnet: NewSubnet }
  | { is: "changing"; retryAfterMs: number }
  /** It cannot be used, or none can be made: why, and what to do. */
  | { is: "unfit"; message: string }
  | { is: "failed"; failure: Failure };

/** The object is being deleted, and our finalizer is on it. */
export interface Down {
  stage: "down";
  subject: Subject;
  /** How long the guest side still has to delete its endpoint; 0 where it has nothing to do. */
  guestMs: number;
  /** Every link service that is or may be the object's. */
  services: readonly { id: ResourceId; look: Look<PrivateLinkService>; ours: boolean }[];
  /** The subnet of ours that a service of it takes its address from. */
  natOfService: string | undefined;
  nat: LeavingSeen;
}

/** What to do with the subnet that the object leaves. */
export type LeavingSeen =
  | { is: "nothing" }
  | { is: "to be removed"; subnet: ResourceId }
  | { is: "changing"; retryAfterMs: number }
  | { is: "failed"; failure: Failure };
