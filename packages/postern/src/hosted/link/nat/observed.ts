import type { Failure } from "@postern/core/failure.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Gate } from "../../../private-link/nat-subnets/networks.ts";
import type { SubnetUse } from "../../../private-link/nat-subnets/reservations.ts";
import type { NatNetwork } from "../../../private-link/nat-subnets/subnets.ts";

/** What was observed of the subnets from which a new link service may take its address. */
export type NatObserved =
  | { is: "not needed" }
  | { is: "failed"; failure: Failure }
  /** The frontend of the load balancer names no subnet, so its network is unknown. */
  | { is: "unknown network" }
  | NatSnapshot;

/** A network at one moment, and who uses or has reserved what in it. */
export interface NatSnapshot {
  is: "observed";
  natSubnets: "shared" | "per-cluster" | "given";
  /** How large a subnet is created where the network has the room. */
  prefixLength: number;
  id: ResourceId;
  /** Undefined where it does not exist, or was not read. */
  network: NatNetwork | undefined;
  /** Whether it takes a write now, and whether this link may create a subnet in it. */
  gate: Gate;
  claim: Gate;
  /** By the key of the subnet's id: those that are shared, and the candidates. */
  uses: ReadonlyMap<string, SubnetUse>;
  /** The subnets that this cluster may have for itself, or the one that is given, the preferred first. */
  candidates: readonly Candidate[];
}

export interface Candidate {
  id: ResourceId;
  /** Whether another link of the same control plane has an address in it reserved. */
  hasSiblings: boolean;
  /** Whether a link of another control plane takes addresses from it. */
  isAnothers: boolean;
}

/** A subnet to create. */
export interface NewSubnet {
  id: ResourceId;
  prefix: string;
  /** It exists and is written again, because it cannot be used as it is. */
  broken?: true;
}

/** From where a new link service takes its address. */
export type NatChoice =
  | { is: "not needed" }
  /** From this subnet. Own ones are recorded; `spare` is the next one, to be created before this one is full. */
  | { is: "exists"; subnet: ResourceId; isOwn: boolean; capacity?: number; spare?: NewSubnet }
  | { is: "to be made"; subnet: NewSubnet }
  | { is: "changing"; retryAfterMs: number }
  /** It cannot be used, or none can be created: why, and what to do. */
  | { is: "unfit"; message: string }
  | { is: "failed"; failure: Failure };

/** What was observed of the subnet that a link leaves. */
export type ObservedNatDeletion =
  | { is: "nothing" }
  | { is: "failed"; failure: Failure }
  /** Others use it: whoever is last deletes it. */
  | { is: "used by others" }
  | {
      is: "observed";
      subnet: ResourceId;
      gate: Gate;
      /** The subnet itself, and where nobody is left in any of the shared ones, those that were created ahead of need. */
      candidates: readonly NatDeletionCandidate[];
    };

export interface NatDeletionCandidate {
  id: ResourceId;
  isOwn: boolean;
  state: string;
  /** Whether other links use it, or it is about to be deleted. */
  isTaken: boolean;
  /** The link services whose interfaces are in it; undefined for an interface of somebody else. */
  holders: readonly (string | undefined)[];
}

/** What to do with the subnet that a link leaves. */
export type NatDeletionChoice =
  | { is: "nothing" }
  | { is: "used by others" }
  | { is: "to be removed"; subnet: ResourceId }
  | { is: "changing"; retryAfterMs: number }
  | { is: "failed"; failure: Failure };
