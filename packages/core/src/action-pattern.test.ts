import { expect, test } from "vitest";
import { actionPattern } from "./action-pattern.ts";

test.each([
  ["*", "Microsoft.Network/virtualNetworks/write", true],
  ["*/read", "Microsoft.Network/virtualNetworks/subnets/read", true],
  ["*/read", "Microsoft.Network/virtualNetworks/readme", false],
  ["Microsoft.Network/*", "Microsoft.Network/loadBalancers/write", true],
  ["Microsoft.Network/*", "Microsoft.NetworkFunction/x/write", false],
  ["microsoft.network/VIRTUALNETWORKS/Read", "Microsoft.Network/virtualNetworks/read", true],
  [
    "Microsoft.Network/virtualNetworks/read",
    "Microsoft.Network/virtualNetworks/subnets/read",
    false,
  ],
  ["Microsoft.Authorization/*/Write", "Microsoft.Authorization/roleAssignments/write", true],
  [
    "Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action",
    "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    true,
  ],
  ["Microsoft.Network/*/subnets/*", "Microsoft.Network/virtualNetworks/subnets/join/action", true],
  ["a*a", "a", false],
  ["a*b*c", "axxbyyc", true],
  ["a*b*c", "axxcyyb", false],
])("%s names %s: %s", (pattern, action, named) => {
  expect(actionPattern(pattern)(action.toLowerCase())).toBe(named);
});

test("a pattern with many stars does not take for ever", () => {
  const pattern = actionPattern(`${"a*".repeat(60)}b`);
  const action = "a".repeat(4000);
  const from = performance.now();
  expect(pattern(action)).toBe(false);
  expect(performance.now() - from).toBeLessThan(200);
});
