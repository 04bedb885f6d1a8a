import type { World } from "../world.ts";
import type { Finding, WorldCheck } from "./check.ts";
import { clusterHealthCheck } from "./health.ts";
import {
  admission,
  balancerPlace,
  balancerRoom,
  balancerSku,
  hasBalancer,
  waiting,
} from "./links.ts";
import { linkedTwice, ownResolvers, shadowed } from "./names.ts";
import { freeAddresses, natAddresses, natPolicy } from "./subnets.ts";

/** Every check of what is in Azure. A new one is a line here. */
export const worldChecks: readonly WorldCheck[] = [
  clusterHealthCheck,
  natPolicy,
  natAddresses,
  freeAddresses,
  balancerPlace,
  balancerSku,
  balancerRoom,
  admission,
  waiting,
  hasBalancer,
  linkedTwice,
  shadowed,
  ownResolvers,
];

/** The check of kinds, of those that are installed and of those that are missing. */
export const crdCheck = "CRD versions";

/** All findings; what could not be read is one too. */
export function examine(world: World): Finding[] {
  return [
    ...worldChecks.flatMap((check) => check.run(world)),
    ...world.unread.map(({ what, why, isUnserved, remedy }) => ({
      check: isUnserved ? crdCheck : "read access",
      about: what,
      result: isUnserved ? ("failed" as const) : ("not checked" as const),
      found: why,
      remedy: remedy ?? "Grant the credential a role with read access: postern permissions",
    })),
  ];
}
