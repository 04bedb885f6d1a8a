import { resourceGroupId } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import { baseZonePlace, isNameReserved, type Peer } from "./placement.ts";

const subscription = "33333333-3333-4333-8333-333333333333";
const here = resourceGroupId(subscription, "here");
const there = resourceGroupId(subscription, "there");
const shipped = `${here}/providers/Microsoft.Network/privateEndpoints/private-router-pe`;

const peer = (over: Partial<Peer> = {}): Peer => ({
  uid: "me",
  createdAt: "2026-01-02T00:00:00Z",
  controlPlaneUid: "plane",
  tenant: "clusters t/c",
  group: here,
  network: "/network",
  baseDomain: "example.com",
  placesZones: true,
  lives: true,
  baseZone: undefined,
  endpoint: undefined,
  ...over,
});

const other = (over: Partial<Peer> = {}): Peer =>
  peer({ uid: "other", controlPlaneUid: "other plane", group: there, ...over });

describe("the zone of a base domain that clusters of one network share", () => {
  test.each([
    ["lies in the link's own group where it is alone", [], privateZoneIn(here, "example.com")],
    [
      "lies where an older link of the same network would make it",
      [other({ createdAt: "2026-01-01T00:00:00Z" })],
      privateZoneIn(there, "example.com"),
    ],
    [
      "lies here where the other is younger",
      [other({ createdAt: "2026-01-03T00:00:00Z" })],
      privateZoneIn(here, "example.com"),
    ],
    [
      "lies where a younger one has it already",
      [other({ createdAt: "2026-01-03T00:00:00Z", baseZone: privateZoneIn(there, "example.com") })],
      privateZoneIn(there, "example.com"),
    ],
    [
      "is the same in any case",
      [
        other({
          createdAt: "2026-01-01T00:00:00Z",
          baseDomain: "Example.COM",
          network: "/NETWORK",
        }),
      ],
      privateZoneIn(there, "example.com"),
    ],
    [
      "is not shared with another network",
      [other({ createdAt: "2026-01-01T00:00:00Z", network: "/else" })],
      privateZoneIn(here, "example.com"),
    ],
    [
      "is not shared with another domain",
      [other({ createdAt: "2026-01-01T00:00:00Z", baseDomain: "else.com" })],
      privateZoneIn(here, "example.com"),
    ],
    [
      "is not that of one with zones that Postern does not create",
      [other({ createdAt: "2026-01-01T00:00:00Z", placesZones: false })],
      privateZoneIn(here, "example.com"),
    ],
  ])("%s", (_what, peers, place) => {
    expect(baseZonePlace(peer(), peers)).toBe(place);
  });

  test("remains where it was published", () => {
    const published = privateZoneIn(resourceGroupId(subscription, "old"), "example.com");
    const older = other({
      createdAt: "2026-01-01T00:00:00Z",
      baseZone: privateZoneIn(there, "example.com"),
    });
    expect(baseZonePlace(peer({ baseZone: published }), [older])).toBe(published);
  });

  test("is decided alike by both where both are of the same second", () => {
    const [a, b] = [peer(), other({ createdAt: peer().createdAt })];
    expect(baseZonePlace(a, [b])).toBe(baseZonePlace(b, [a]));
  });
});

describe("HyperShift's name of an endpoint, which has no part for the cluster", () => {
  const id = shipped as Parameters<typeof isNameReserved>[1];
  const rival = (over: Partial<Peer> = {}) => other({ group: here, ...over });

  test.each([
    ["free where nobody else wants it", [], false],
    [
      "taken by an older one of another cluster",
      [rival({ createdAt: "2026-01-01T00:00:00Z" })],
      true,
    ],
    ["free for the older one", [rival({ createdAt: "2026-01-03T00:00:00Z" })], false],
    [
      "taken by one that has it, however young",
      [rival({ createdAt: "2026-01-03T00:00:00Z", endpoint: shipped.toUpperCase() })],
      true,
    ],
    [
      "free where the older one has another already",
      [rival({ createdAt: "2026-01-01T00:00:00Z", endpoint: `${shipped}-long` })],
      false,
    ],
    [
      "free where the older one is being deleted",
      [rival({ createdAt: "2026-01-01T00:00:00Z", lives: false })],
      false,
    ],
  ])("is %s", (_what, peers, reserved) => {
    expect(isNameReserved(peer(), id, peers)).toBe(reserved);
  });
});
