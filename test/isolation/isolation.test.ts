import { describe, expect, test } from "vitest";
import {
  attacks,
  attacksFromWithin,
  furtherAttacks,
  harmless,
  healthyCluster,
  sharedIdentityAttacks,
} from "./attacks.ts";
import { startTenants } from "./tenants.ts";
import { variants } from "./variant.ts";
import { beforeSeconds } from "./victim.ts";

const all = { ...attacks, ...furtherAttacks, ...sharedIdentityAttacks, ...attacksFromWithin };

/** The attacks that a variant may change something for; every attack is tried with a policy and without. */
const concerned: Record<string, RegExp> = {
  "overlapping domains": /hostname|domain|name of another|zone|reserved/,
  "a NAT subnet for each cluster": /NAT|infraID|subnet|clusterID|deleted/,
  "control planes of HyperShift":
    /HostedCluster|AzurePrivateLinkService|control plane|its (older )?(cluster|link)|status/,
};

const tenants = startTenants();

describe.each(variants)("two tenants, one hostile, with $name", (variant) => {
  test("alone, the victim becomes available and is deleted without a trace", async () => {
    const { times, states } = await tenants.baseline(variant);
    const [before, , available, , , deleted] = states;
    expect([...times.keys()]).toEqual(
      expect.arrayContaining(["blue/on-e is available", "blue-capi/two is available"]),
    );
    expect([...(deleted?.azure.keys() ?? [])]).toEqual([...(before?.azure.keys() ?? [])]);
    expect(available?.azure.size).toBeGreaterThan(before?.azure.size ?? 0);
  });

  test("the same life twice is observed as the same", () => tenants.check(variant, []));

  test("the attacker's own cluster works", async () => {
    const { attackerAvailable } = await tenants.observe(variant, [healthyCluster]);
    expect(attackerAvailable).toBeLessThan(beforeSeconds);
  });

  test.each(Object.keys(harmless))("the victim does not notice %s", (name) =>
    tenants.check(variant, harmless[name] ?? []),
  );

  const some = Object.keys(all).filter((name) => concerned[variant.name]?.test(name) ?? true);
  test.each(some)("refused: %s", (name) => tenants.check(variant, all[name] ?? []));
});
