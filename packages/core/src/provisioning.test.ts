import { describe, expect, test } from "vitest";
import { linkProvisioningOf, provisioning, provisioningOf } from "./provisioning.ts";

test.each([
  [undefined, "succeeded"],
  ["", "succeeded"],
  ["Succeeded", "succeeded"],
  ["succeeded", "succeeded"],
  ["Failed", "failed"],
  ["FAILED", "failed"],
  ["Canceled", "failed"],
  ["Cancelled", "failed"],
  ["Updating", "changing"],
  ["Creating", "changing"],
  ["Deleting", "changing"],
  ["InProgress", "changing"],
  ["SomethingNew", "changing"],
] as const)("the state %s means %s", (state, expected) => {
  expect(provisioning(state)).toBe(expected);
});

test.each([
  [undefined, "succeeded"],
  [null, "succeeded"],
  [{}, "succeeded"],
  [{ properties: null }, "succeeded"],
  [{ properties: { provisioningState: 7 } }, "succeeded"],
  [{ properties: { provisioningState: "Failed" } }, "failed"],
] as const)("the resource %j is %s", (resource, expected) => {
  expect(provisioningOf(resource)).toBe(expected);
});

describe("a virtual network link", () => {
  test.each([
    [{}, "succeeded"],
    [{ provisioningState: "Succeeded" }, "succeeded"],
    [{ provisioningState: "Succeeded", virtualNetworkLinkState: "Completed" }, "succeeded"],
    [{ provisioningState: "Succeeded", virtualNetworkLinkState: "InProgress" }, "changing"],
    [{ provisioningState: "Failed", virtualNetworkLinkState: "InProgress" }, "failed"],
    [{ provisioningState: "Failed", virtualNetworkLinkState: "Completed" }, "failed"],
    [{ provisioningState: "Updating", virtualNetworkLinkState: "Completed" }, "changing"],
  ] as const)("with %j is %s", (properties, expected) => {
    expect(linkProvisioningOf({ properties })).toBe(expected);
  });
});
