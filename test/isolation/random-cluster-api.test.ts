import { test } from "vitest";
import { fc, seeded } from "../setup/random.ts";
import { randomRuns, someAttack } from "./random-attack.ts";
import { startTenants } from "./tenants.ts";

const tenants = startTenants();

test(
  `nothing that is written in hostile namespaces about clusters of Cluster API changes anything for another tenant (${seeded})`,
  () =>
    fc.assert(fc.asyncProperty(someAttack("cluster-api"), tenants.check), { numRuns: randomRuns }),
  randomRuns * 10_000,
);
