import { describe, expect, test } from "vitest";
import { group, observed, PaperGuest, spec } from "../../../../../../test/hosted/paper-guest.ts";
import {
  internal,
  oauth,
  reachable,
  reported,
  settle,
} from "../../../../../../test/hosted/paper-links.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import type { Observed } from "../observed.ts";

describe("a base domain", () => {
  const cluster = (over: object) =>
    ({ ...observed().cluster, ...over }) as NonNullable<Observed["cluster"]>;

  test.each([
    ["of the cluster itself", { domain: "example.com" }, "one.example.com", [], true],
    [
      "of the cluster itself, in another case",
      { domain: "Example.COM", hasPrivateZone: true },
      "ONE.example.com",
      [],
      true,
    ],
    [
      "above the cluster's, with no zone of its own",
      { domain: "example.com", hasPrivateZone: false },
      "example.com",
      [],
      true,
    ],
    [
      "far above the cluster's",
      { domain: "a.b.example.com", hasPrivateZone: false },
      "example.com",
      [],
      true,
    ],
    [
      "above the cluster's, with a zone in the object",
      { domain: "example.com", hasPrivateZone: true },
      "example.com",
      [],
      false,
    ],
    [
      "above the cluster's, with a zone in the group",
      { domain: "example.com", hasPrivateZone: false },
      "example.com",
      ["one.example.com"],
      false,
    ],
    [
      "that only ends alike",
      { domain: "myexample.com", hasPrivateZone: false },
      "example.com",
      [],
      false,
    ],
    [
      "below the cluster's",
      { domain: "example.com", hasPrivateZone: false },
      "ext.one.example.com",
      [],
      false,
    ],
  ])("%s is refused if it hides public names", (_what, over, baseDomain, zoneNames, refused) => {
    const world = observed({
      cluster: cluster(over),
      object: { ...observed().object, spec: spec({ baseDomain }) },
      zoneNames,
    });
    const guest = new PaperGuest();
    const now = settle(guest, world);
    expect(reported(now)).toBe(
      refused ? "False BaseDomainShadowsClusterDomain" : "True AzureSuccess",
    );
    expect(guest.at(privateZoneIn(group, baseDomain)) === undefined).toBe(refused);
    expect(guest.at(internal)).toBeDefined();
  });

  test("that is missing keeps a link of the OAuth server from being available: it has no record to write", () => {
    const guest = new PaperGuest();
    const { baseDomain: _, ...without } = spec();
    const world = settle(guest, oauth({ object: { ...oauth().object, spec: without } }));
    expect(reported(world)).toBe("False BaseDomainMissing");
  });

  test("that is missing is fine for the router", () => {
    const { baseDomain: _, ...without } = spec();
    const { world } = reachable({ object: { ...observed().object, spec: without } });
    expect(reported(world)).toBe("True AzureSuccess");
  });
});
