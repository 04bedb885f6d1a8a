import { test } from "vitest";
import { seeded } from "../setup/random.ts";
import { randomRuns, someAttack } from "./random-attack.ts";
import { startTenants } from "./tenants.ts";

const tenants = startTenants();

test(
  `whatever is written about clusters of Cluster API in hostile namespaces, another tenant does not notice (${seeded})`,
  () => tenants.checkAll(someAttack("cluster-api"), randomRuns),
  600_000 + randomRuns * 10_000,
);
