import { describe, expect, test } from "vitest";
import { attacks, furtherAttacks, harmless, sharedIdentityAttacks } from "./attacks.ts";
import { startTenants } from "./tenants.ts";

describe("two tenants, one hostile", () => {
  const tenants = startTenants();

  test("alone, the victim becomes available and is deleted without a trace", () => {
    const { times, states } = tenants.baseline;
    const [before, , available, , , deleted] = states;
    expect([...times.keys()]).toEqual(
      expect.arrayContaining(["blue/on-e is available", "blue-capi/two is available"]),
    );
    expect([...(deleted?.azure.keys() ?? [])]).toEqual([...(before?.azure.keys() ?? [])]);
    expect(available?.azure.size).toBeGreaterThan(before?.azure.size ?? 0);
  });

  test("the same life twice is observed as the same", () => tenants.check([]));

  test.each(Object.keys(harmless))("the victim does not notice %s", (name) =>
    tenants.check(harmless[name] ?? []),
  );

  const all = { ...attacks, ...furtherAttacks, ...sharedIdentityAttacks };
  test.each(Object.keys(all))("refused: %s", (name) => tenants.check(all[name] ?? []));
});
