import { describe, expect, test } from "vitest";
import { isExplained } from "../failure.ts";
import { PrivateAccessError, privateAccess } from "./private-access.ts";

const nat =
  "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n";
const other = "550e8400-e29b-41d4-a716-446655440000";
const link = { natSubnetID: nat, additionalAllowedSubscriptions: [other] };
const open = {
  topology: "Public",
  additionalAllowedSubscriptions: [],
  reachablePublicly: true,
  reachablePrivately: false,
};
const closed = {
  topology: "Private",
  type: "PrivateLink",
  additionalAllowedSubscriptions: [],
  reachablePublicly: false,
  reachablePrivately: true,
};

describe("a cluster that", () => {
  test.each([
    ["says nothing is public", {}, open],
    ["says Public is public", { topology: "Public" }, open],
    [
      "is private has a link with every default",
      { topology: "Private", private: { type: "PrivateLink" } },
      closed,
    ],
    [
      "is private has the same link from an empty block",
      { topology: "Private", private: { type: "PrivateLink", privateLink: {} } },
      closed,
    ],
    [
      "is private has the link that it says",
      { topology: "Private", private: { type: "PrivateLink", privateLink: link } },
      { ...closed, ...link },
    ],
    [
      "is both can be reached both ways",
      { topology: "PublicAndPrivate", private: { type: "PrivateLink", privateLink: link } },
      { ...closed, ...link, topology: "PublicAndPrivate", reachablePublicly: true },
    ],
    [
      "uses Swift is private without a topology",
      { private: { type: "Swift", swift: { podNetworkInstance: "p" } } },
      { ...open, type: "Swift", reachablePrivately: true },
    ],
    ["says endpointAccess Public is public", { endpointAccess: { type: "Public" } }, open],
    [
      "says endpointAccess Private has a link with every default",
      { endpointAccess: { type: "Private" } },
      closed,
    ],
    [
      "says endpointAccess with a private block has that link",
      { endpointAccess: { type: "Private", private: link } },
      { ...closed, ...link },
    ],
    [
      "says endpointAccess beside privateConnectivity has that link",
      { endpointAccess: { type: "PublicAndPrivate" }, privateConnectivity: link },
      { ...closed, ...link, topology: "PublicAndPrivate", reachablePublicly: true },
    ],
  ] as const)("%s", (_what, azure, access) => {
    expect(privateAccess(azure as Parameters<typeof privateAccess>[0])).toEqual(access);
  });

  test.each([
    [
      "topology and endpointAccess",
      { topology: "Public" as const, endpointAccess: { type: "Public" as const } },
    ],
    [
      "private and privateConnectivity",
      { private: { type: "PrivateLink" as const }, privateConnectivity: {} },
    ],
  ])("uses %s is refused, with the remedy", (_what, azure) => {
    expect(() => privateAccess(azure)).toThrow("keep topology and private, and remove the others");
  });

  test("is private without saying how is refused at the field that is missing", () => {
    expect(() => privateAccess({ topology: "Private" })).toThrow(
      "spec.platform.azure.private.type is missing with topology Private: set it to PrivateLink",
    );
  });

  test("is refused with an explanation", () => {
    const error = new PrivateAccessError("TwoSpellings", "keep one");
    expect(isExplained(error)).toBe(true);
    expect(error.explain()).toEqual({
      reason: "TwoSpellings",
      message: "keep one",
      terminal: true,
    });
  });
});
