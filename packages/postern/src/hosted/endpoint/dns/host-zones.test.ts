import { describe, expect, test } from "vitest";
import {
  clusterID,
  group,
  guestNetwork,
  observed,
  otherID,
  PaperGuest,
  spec,
} from "../../../../../../test/hosted/paper-guest.ts";
import {
  addressOf,
  base,
  internal,
  message,
  oauth,
  reachable,
  reported,
  settle,
  sibling,
  steps,
} from "../../../../../../test/hosted/paper-links.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import { conditions } from "../../names.ts";
import type { Observed } from "../observed.ts";

const cluster = (over: object) =>
  ({ ...observed().cluster, ...over }) as NonNullable<Observed["cluster"]>;
const apiZone = privateZoneIn(group, "api-one.example.com");
const oauthZone = privateZoneIn(group, "oauth-one.example.com");
/** A cluster whose base domain lies above its own. */
const above = { cluster: cluster({ domain: "example.com" }) };

describe("a base domain", () => {
  test.each([
    ["of the cluster itself", "example.com", "one.example.com", [], true],
    ["of the cluster itself, in another case", "Example.COM", "ONE.example.com", [], true],
    ["above the cluster's, with no zone of its own", "example.com", "example.com", [], true],
    ["far above the cluster's", "a.b.example.com", "example.com", [], true],
    [
      "above the cluster's, with a zone in the group",
      "example.com",
      "example.com",
      ["one.example.com"],
      false,
    ],
    ["that only ends alike", "myexample.com", "example.com", [], false],
    ["below the cluster's", "example.com", "ext.one.example.com", [], false],
  ])(
    "%s gets zones for single hosts if it would hide names",
    (_, domain, baseDomain, zoneNames, single) => {
      const world = observed({
        cluster: cluster({ domain }),
        object: { ...observed().object, spec: spec({ baseDomain }) },
        zoneNames,
      });
      const guest = new PaperGuest();
      const now = settle(guest, world);
      expect(reported(now)).toBe("True AzureSuccess");
      expect(guest.at(privateZoneIn(group, baseDomain)) === undefined).toBe(single);
      for (const host of ["api-one", "oauth-one"]) {
        const zone = privateZoneIn(group, `${host}.${baseDomain.toLowerCase()}`);
        expect(guest.at(zone) !== undefined).toBe(single);
        if (single) expect(addressOf(guest, `${zone}/A/@`)).toBe("192.168.0.4");
      }
      expect(guest.at(internal)).toBeDefined();
      settle(guest, { ...now, deletion: "object" });
      expect([...guest.resources.keys()]).toEqual([]);
    },
  );

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

describe("a zone for a single host", () => {
  test("stays when a more specific zone of the cluster appears, and a zone of the domain stays when it disappears", () => {
    const { guest, world } = reachable(above);
    expect(world.status.baseDomainDNSZoneID).toBe(apiZone);
    expect(steps(guest, { ...world, zoneNames: ["one.example.com"] })).toEqual([]);
    const whole = reachable({ ...above, zoneNames: ["one.example.com"] });
    expect(whole.world.status.baseDomainDNSZoneID).toBe(base);
    expect(steps(whole.guest, { ...whole.world, zoneNames: [] })).toEqual([]);
  });

  test.each(["none", "existing"] as const)(
    "is deleted when the zones become %s, that of the OAuth server too",
    (zones) => {
      const { guest, world } = reachable(above);
      settle(guest, { ...world, choices: { ...world.choices, zones } });
      expect(guest.at(apiZone)).toBeUndefined();
      expect(guest.at(oauthZone)).toBeUndefined();
    },
  );

  test("of another cluster or of nobody is left alone, with what to do", () => {
    for (const tags of [{ [`postern_user_${otherID}`]: "their-plane" }, { team: "network" }]) {
      const guest = new PaperGuest();
      guest.set(apiZone, { tags, properties: {} });
      const now = settle(guest, observed(above));
      expect(reported(now, conditions.dns)).toBe("False OwnedByAnother");
      expect(message(now, conditions.dns)).toContain("api-one.example.com");
      settle(guest, { ...now, deletion: "object" });
      expect([...guest.resources.keys()]).toEqual([apiZone.toLowerCase()]);
    }
  });

  test("that has lost its tags and metadata is ours again", () => {
    const { guest, world } = reachable(above);
    for (const id of [apiZone, oauthZone]) {
      guest.set(id, { ...guest.at(id), tags: {}, properties: {} });
      const record = guest.at(`${id}/A/@`)?.properties as { metadata?: object } | undefined;
      const { metadata: _, ...properties } = record ?? {};
      guest.set(`${id}/A/@`, { properties });
    }
    const now = settle(guest, world);
    expect(reported(now)).toBe("True AzureSuccess");
    for (const id of [apiZone, oauthZone])
      expect(guest.at(id)?.tags).toHaveProperty([`postern_user_${clusterID}`]);
    settle(guest, { ...now, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("of the OAuth server goes from link to link, and the last one deletes it", () => {
    const { guest, world } = reachable(above);
    guest.addresses = ["192.168.0.5"];
    const other = sibling({ name: "private-router", uid: "link-uid", baseZone: apiZone });
    const second = settle(guest, oauth({ ...above, siblings: [other] }));
    expect(reported(second)).toBe("True AzureSuccess");
    expect(second.status.baseDomainDNSZoneID).toBe(oauthZone);
    expect(addressOf(guest, `${oauthZone}/A/@`)).toBe("192.168.0.5");
    const router = { ...world, siblings: [sibling({ baseZone: oauthZone })] };
    expect(steps(guest, router)).toEqual([]);

    settle(guest, { ...router, deletion: "object" });
    // A zone without its record would hide the public name.
    expect(guest.at(apiZone)).toBeUndefined();
    expect(addressOf(guest, `${oauthZone}/A/@`)).toBe("192.168.0.5");
    settle(guest, { ...second, siblings: [], deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("is linked to the networks that are asked for, once the link service exists", () => {
    const guest = new PaperGuest();
    const pending = { ...observed().link, alias: undefined };
    const linked = () => guest.below(apiZone).filter((id) => id.includes("virtualNetworkLinks"));
    settle(guest, observed({ ...above, link: pending }));
    expect(linked()).toEqual([]);
    settle(guest, observed(above));
    expect(linked()).toHaveLength(1);
    expect(guest.at(linked()[0] ?? "")?.properties).toMatchObject({
      virtualNetwork: { id: guestNetwork },
    });
  });
});
