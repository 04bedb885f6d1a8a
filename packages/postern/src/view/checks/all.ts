import type { World } from "../world.ts";
import type { Finding, WorldCheck } from "./check.ts";
import { clusterHealthCheck } from "./health.ts";
import {
  admission,
  balancerPlace,
  balancerRoom,
  balancerSku,
  leadsSomewhere,
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
  leadsSomewhere,
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
      check: isUnserved ? crdCheck : "what can be read",
      about: what,
      verdict: isUnserved ? ("wrong" as const) : ("not looked at" as const),
      found: why,
      remedy: remedy ?? "give the credential the right to read it: postern permissions",
    })),
  ];
}
