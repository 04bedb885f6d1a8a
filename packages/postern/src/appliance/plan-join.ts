import { provisioningOf } from "@postern/core/provisioning.ts";
import type { BackendPool } from "../azure/gateways/backend-pools.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import type { ApplianceCode } from "./known-codes.ts";
import { type Membership, memberKindOf, membershipIn } from "./pool-members.ts";

/** How a machine joins: by its address unless the pool holds interfaces, or only in one of the two ways. */
export type JoinBy = "auto" | "address" | "interface";

/** What is known when it is decided how to join. */
export interface ObservedJoin {
  pool: BackendPool;
  config: GWLBConfig;
  joinBy: JoinBy;
  /** Azure refused an address in this pool. */
  addressesRefused: boolean;
}

/** The next step of joining. */
export type JoinStep =
  | { do: "nothing"; by: Membership["by"] }
  /** What was written is on its way. */
  | { do: "wait"; by: Membership["by"] }
  | { do: "add" }
  /** Take new connections again. */
  | { do: "restore" }
  /** The last write to the pool failed: write the same once more. */
  | { do: "rewrite" }
  | { do: "associate" }
  | { do: "refuse"; code: ApplianceCode };

/**
 * Decide the next step of joining:
 *
 *   in the pool    drained  the pool is  holds       joins by           →
 *   by interface, or by an address that somebody else put there         nothing: who is Down there was not drained by an agent
 *   by address, in the name of another agent                            add: its machine had this address before, and would take
 *                                                                       the entry along when it joins or leaves with another one
 *   by address, in the own name:
 *   by address     yes      any                                         restore
 *   by address     no       failed                                      rewrite
 *   by address     no       changing                                    wait
 *   by address     no       settled                                     nothing
 *   no                                   interfaces  address            refuse PoolHoldsInterfaces
 *   no                                   addresses   interface          refuse PoolHoldsAddresses
 *   no                                   nothing     address, refused   refuse AddressesRefused
 *   no                                   interfaces, or only interfaces are taken:
 *                                                    of a uniform set   refuse InterfaceNotChangeable (or AddressesRefused)
 *                                                    any other          associate
 *   no                                   otherwise                      add
 */
export function planJoin({ pool, config, joinBy, addressesRefused }: ObservedJoin): JoinStep {
  const membership = membershipIn(pool, config);
  if (membership !== undefined) return planMember(pool, membership);
  const kind = memberKindOf(pool);
  if (joinBy === "address") {
    if (kind === "interfaces") return { do: "refuse", code: "PoolHoldsInterfaces" };
    return addressesRefused ? { do: "refuse", code: "AddressesRefused" } : { do: "add" };
  }
  if (kind === "addresses")
    return joinBy === "interface"
      ? { do: "refuse", code: "PoolHoldsAddresses" }
      : addressesRefused
        ? { do: "refuse", code: "AddressesRefused" }
        : { do: "add" };
  const byInterface = joinBy === "interface" || kind === "interfaces" || addressesRefused;
  if (!byInterface) return { do: "add" };
  if (config.scaleSet?.mode !== "Uniform") return { do: "associate" };
  return { do: "refuse", code: addressesRefused ? "AddressesRefused" : "InterfaceNotChangeable" };
}

function planMember(pool: BackendPool, { by, madeBy, drained }: Membership): JoinStep {
  if (by === "interface" || madeBy === "somebody else") return { do: "nothing", by };
  if (madeBy === "another agent") return { do: "add" };
  if (drained) return { do: "restore" };
  switch (provisioningOf(pool)) {
    case "succeeded":
      return { do: "nothing", by };
    case "changing":
      return { do: "wait", by };
    case "failed":
      return { do: "rewrite" };
  }
}
