import { test } from "vitest";
import { seeded } from "../setup/random.ts";
import { randomRuns, someAttack } from "./random-attack.ts";
import { startTenants } from "./tenants.ts";

const tenants = startTenants();

test(
  `whatever is written about hosted clusters in hostile namespaces, another tenant does not notice (${seeded})`,
  () => tenants.checkAll(someAttack("hosted"), randomRuns),
  600_000 + randomRuns * 10_000,
);
