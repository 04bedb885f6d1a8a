import { describe, expect, test } from "vitest";
import {
  AzureModel,
  clusterID,
  clusterNetwork,
  group,
  observed,
  otherID,
  spec,
} from "../../../../../../test/hosted/azure-model.ts";
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
} from "../../../../../../test/hosted/endpoint-worlds.ts";
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
    ["of one label above the cluster's", "internal", "internal", ["one.internal"], true],
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
      const azure = new AzureModel();
      const now = settle(azure, world);
      expect(reported(now)).toBe("True AzureSuccess");
      expect(azure.at(privateZoneIn(group, baseDomain)) === undefined).toBe(single);
      for (const host of ["api-one", "oauth-one"]) {
        const zone = privateZoneIn(group, `${host}.${baseDomain.toLowerCase()}`);
        expect(azure.at(zone) !== undefined).toBe(single);
        if (single) expect(addressOf(azure, `${zone}/A/@`)).toBe("192.168.0.4");
      }
      expect(azure.at(internal)).toBeDefined();
      settle(azure, { ...now, deletion: "object" });
      expect([...azure.resources.keys()]).toEqual([]);
    },
  );

  test("that is missing makes a link of the OAuth server unavailable: it has no record to write", () => {
    const azure = new AzureModel();
    const { baseDomain: _, ...without } = spec();
    const world = settle(azure, oauth({ object: { ...oauth().object, spec: without } }));
    expect(reported(world)).toBe("False BaseDomainMissing");
  });

  test("that is missing is fine for the router", () => {
    const { baseDomain: _, ...without } = spec();
    const { world } = reachable({ object: { ...observed().object, spec: without } });
    expect(reported(world)).toBe("True AzureSuccess");
  });
});

describe("a zone for a single host", () => {
  test("remains when a more specific zone of the cluster appears, and a zone of the domain remains when it disappears", () => {
    const { azure, world } = reachable(above);
    expect(world.status.baseDomainDNSZoneID).toBe(apiZone);
    expect(steps(azure, { ...world, zoneNames: ["one.example.com"] })).toEqual([]);
    const whole = reachable({ ...above, zoneNames: ["one.example.com"] });
    expect(whole.world.status.baseDomainDNSZoneID).toBe(base);
    expect(steps(whole.azure, { ...whole.world, zoneNames: [] })).toEqual([]);
  });

  test.each(["none", "existing"] as const)(
    "is deleted when the zones become %s, that of the OAuth server too",
    (zones) => {
      const { azure, world } = reachable(above);
      settle(azure, { ...world, choices: { ...world.choices, zones } });
      expect(azure.at(apiZone)).toBeUndefined();
      expect(azure.at(oauthZone)).toBeUndefined();
    },
  );

  test("of another cluster or of nobody is left alone, with what to do", () => {
    for (const tags of [{ [`postern_user_${otherID}`]: "their-plane" }, { team: "network" }]) {
      const azure = new AzureModel();
      azure.set(apiZone, { tags, properties: {} });
      const now = settle(azure, observed(above));
      expect(reported(now, conditions.dns)).toBe("False OwnedByAnother");
      expect(message(now, conditions.dns)).toContain("api-one.example.com");
      settle(azure, { ...now, deletion: "object" });
      expect([...azure.resources.keys()]).toEqual([apiZone.toLowerCase()]);
    }
  });

  test("without tags and metadata is owned again", () => {
    const { azure, world } = reachable(above);
    for (const id of [apiZone, oauthZone]) {
      azure.set(id, { ...azure.at(id), tags: {}, properties: {} });
      const record = azure.at(`${id}/A/@`)?.properties as { metadata?: object } | undefined;
      const { metadata: _, ...properties } = record ?? {};
      azure.set(`${id}/A/@`, { properties });
    }
    const now = settle(azure, world);
    expect(reported(now)).toBe("True AzureSuccess");
    for (const id of [apiZone, oauthZone])
      expect(azure.at(id)?.tags).toHaveProperty([`postern_user_${clusterID}`]);
    settle(azure, { ...now, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("of the OAuth server moves from link to link, and the last one deletes it", () => {
    const { azure, world } = reachable(above);
    azure.addresses = ["192.168.0.5"];
    const other = sibling({ name: "private-router", uid: "link-uid", baseZone: apiZone });
    const second = settle(azure, oauth({ ...above, siblings: [other] }));
    expect(reported(second)).toBe("True AzureSuccess");
    expect(second.status.baseDomainDNSZoneID).toBe(oauthZone);
    expect(addressOf(azure, `${oauthZone}/A/@`)).toBe("192.168.0.5");
    const router = { ...world, siblings: [sibling({ baseZone: oauthZone })] };
    expect(steps(azure, router)).toEqual([]);

    settle(azure, { ...router, deletion: "object" });
    // A zone without its record would hide the public name.
    expect(azure.at(apiZone)).toBeUndefined();
    expect(addressOf(azure, `${oauthZone}/A/@`)).toBe("192.168.0.5");
    settle(azure, { ...second, siblings: [], deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("is linked to the networks that are asked for, once the link service exists", () => {
    const azure = new AzureModel();
    const pending = { ...observed().link, alias: undefined };
    const linked = () => azure.below(apiZone).filter((id) => id.includes("virtualNetworkLinks"));
    settle(azure, observed({ ...above, link: pending }));
    expect(linked()).toEqual([]);
    settle(azure, observed(above));
    expect(linked()).toHaveLength(1);
    expect(azure.at(linked()[0] ?? "")?.properties).toMatchObject({
      virtualNetwork: { id: clusterNetwork },
    });
  });
});
