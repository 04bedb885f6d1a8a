import { claimsIn } from "@postern/core/claims.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test, vi } from "vitest";
import {
  clusterID,
  group,
  guestNetwork,
  observed,
  otherID,
  PaperGuest,
} from "../../../../../../test/hosted/paper-guest.ts";
import {
  addressOf,
  base,
  internal,
  message,
  reachable,
  reported,
  settle,
  short,
} from "../../../../../../test/hosted/paper-links.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import { annotations, conditions } from "../../names.ts";
import { plan } from "../plan.ts";

describe("a zone", () => {
  test("of another cluster with the same base domain is claimed before it is used: neither deletes it under the other", () => {
    const guest = new PaperGuest();
    guest.set(base, {
      location: "global",
      tags: { [`postern_user_${otherID}`]: "their-plane" },
      properties: {},
    });
    const first = plan(guest.observed(observed()));
    expect(first.steps.map((step) => step.do)).toEqual([
      "make endpoint",
      "make zone",
      "claim zone",
    ]);
    expect(first.steps[2]).toMatchObject({ ifMatch: guest.at(base)?.etag });
    settle(guest, observed());
    expect(claimsIn(guest.at(base)?.tags).map((each) => each.clusterID)).toEqual([
      otherID,
      clusterID,
    ]);
  });

  test("that nobody has marked is not used, and the remedy is named", () => {
    const guest = new PaperGuest();
    guest.set(base, { location: "global", tags: {}, properties: {} });
    const world = settle(guest, observed());
    expect(reported(world, conditions.dns)).toBe("False OwnedByAnother");
    expect(message(world)).toContain(`${annotations.zones}: existing`);
    expect(guest.below(base)).toEqual([]);
  });

  describe("that Azure failed to write", () => {
    const linkIn = (guest: PaperGuest) =>
      guest.below(internal).find((each) => /virtualNetworkLinks/i.test(each)) ?? "";
    const change = (guest: PaperGuest, id: string, over: object, tags = guest.at(id)?.tags) => {
      const found = guest.at(id);
      const properties = { ...(found?.properties as object), ...over };
      guest.set(id, { ...found, ...(tags && { tags }), properties });
    };
    const failed = { provisioningState: "Failed" };
    const now = (guest: PaperGuest, world: ReturnType<typeof observed>) =>
      plan(guest.observed(world)).conditions.find(({ type }) => type === conditions.dns);

    test.each(["Failed", "Canceled"])("a %s link of ours is written again", (provisioningState) => {
      const { guest, world } = reachable();
      const id = linkIn(guest);
      change(guest, id, { provisioningState });
      expect(plan(guest.observed(world)).steps).toMatchObject([
        { do: "repair link", id, ifMatch: guest.at(id)?.etag },
      ]);
      expect(now(guest, world)).toMatchObject({ status: "False", reason: "NamesPending" });
      expect(reported(settle(guest, world), conditions.dns)).toBe("True AzureSuccess");
    });

    test("a failed link of somebody else is reported and left alone", () => {
      const { guest, world } = reachable();
      const id = `${internal}/virtualNetworkLinks/by-hand`;
      const link = guest.at(linkIn(guest));
      guest.resources.delete(linkIn(guest).toLowerCase());
      guest.set(id, {
        ...link,
        tags: {},
        properties: { ...(link?.properties as object), ...failed },
      });
      const after = settle(guest, world);
      expect(reported(after, conditions.dns)).toBe("False VNetLinkCreationFailed");
      expect(message(after, conditions.dns)).toContain("by-hand");
      expect(guest.at(id)?.properties).toMatchObject(failed);
    });

    test("a failed link that another cluster claims is claimed, which repairs it", () => {
      const { guest, world } = reachable();
      const link = guest.below(base).find((each) => /virtualNetworkLinks/i.test(each)) ?? "";
      change(guest, link, failed, { [`postern_user_${otherID}`]: "their-plane" });
      expect(now(guest, world)).toMatchObject({ status: "False" });
      expect(reported(settle(guest, world), conditions.dns)).toBe("True AzureSuccess");
      expect(claimsIn(guest.at(link)?.tags)).toHaveLength(2);
    });

    test("a failed zone of ours is written again with the same tags", () => {
      const { guest, world } = reachable();
      const tags = { ...guest.at(internal)?.tags, note: "mine" };
      change(guest, internal, failed, tags);
      expect(plan(guest.observed(world)).steps).toMatchObject([
        { do: "repair zone", id: internal },
      ]);
      expect(now(guest, world)).toMatchObject({ status: "False", reason: "NamesPending" });
      expect(reported(settle(guest, world), conditions.dns)).toBe("True AzureSuccess");
      expect(guest.at(internal)?.tags).toEqual(tags);
    });

    test("a failed zone that an annotation names is reported and left alone", () => {
      const { guest, world } = reachable();
      const choices = { ...world.choices, zones: "existing" as const };
      const existing = {
        ...world,
        choices: { ...choices, internalZone: internal, baseZone: base },
      };
      change(guest, internal, failed);
      const after = settle(guest, existing);
      expect(reported(after, conditions.dns)).toBe("False DNSZoneCreationFailed");
      expect(guest.at(internal)?.properties).toMatchObject(failed);
    });
  });

  test("of internal names that an earlier control plane of the cluster left is used again", () => {
    const guest = new PaperGuest();
    guest.set(internal, { tags: { [`postern_user_${clusterID}`]: "earlier" }, properties: {} });
    expect(reported(settle(guest, observed()), conditions.dns)).toBe("True AzureSuccess");
    expect(claimsIn(guest.at(internal)?.tags)).toEqual([
      { clusterID, uid: observed().self.controlPlaneUid },
    ]);
  });

  test("that its last user left behind is claimed by the next, which leaves it in turn", () => {
    const guest = new PaperGuest();
    const theirs = { properties: { ttl: 60, aRecords: [{ ipv4Address: "10.9.9.9" }] } };
    for (const id of [base, internal]) {
      guest.set(id, { tags: { postern_left_by: `${otherID}/their-plane` }, properties: {} });
      guest.set(`${id}/A/theirs`, theirs);
    }
    const world = settle(guest, observed());
    expect(reported(world)).toBe("True AzureSuccess");
    for (const id of [base, internal])
      expect(guest.at(id)?.tags).toEqual({ [`postern_user_${clusterID}`]: "plane-uid" });
    settle(guest, { ...world, deletion: "object" });
    for (const id of [base, internal]) {
      expect(guest.at(id)?.tags).toEqual({ postern_left_by: `${clusterID}/plane-uid` });
      expect(guest.at(`${id}/A/theirs`)).toMatchObject(theirs);
      guest.resources.delete(`${id}/A/theirs`.toLowerCase());
    }
    settle(guest, { ...settle(guest, observed()), deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("that nobody uses and that holds nothing any more is removed by whoever leaves it last", () => {
    const guest = new PaperGuest();
    const world = settle(guest, observed());
    const left = { postern_left_by: `${otherID}/their-plane` };
    // The other cluster left while our link was still there, and took that for somebody's; then our link was deleted.
    for (const id of [base, internal]) {
      for (const each of guest.below(id)) guest.resources.delete(each.toLowerCase());
      guest.set(id, { tags: left, properties: {} });
    }
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("that nobody uses and that holds something stays", () => {
    const guest = new PaperGuest();
    const world = settle(guest, observed());
    const left = { postern_left_by: `${otherID}/their-plane` };
    guest.set(base, { tags: left, properties: {} });
    guest.set(`${base}/A/theirs`, { properties: { aRecords: [{ ipv4Address: "10.9.9.9" }] } });
    settle(guest, { ...world, deletion: "object" });
    expect(guest.at(base)?.tags).toEqual(left);
  });

  test("attack: a zone elsewhere that was left behind is not claimed because the status names it", () => {
    const guest = new PaperGuest();
    const elsewhere = base.replace("/guest/", "/theirs/");
    const tags = { postern_left_by: `${otherID}/their-plane` };
    guest.set(elsewhere, { tags, properties: {} });
    settle(guest, observed({ status: { baseDomainDNSZoneID: elsewhere } }));
    expect(guest.at(elsewhere)?.tags).toEqual(tags);
  });

  test("of internal names is never shared", () => {
    const guest = new PaperGuest();
    guest.set(internal, { tags: { [`postern_user_${otherID}`]: "their-plane" }, properties: {} });
    expect(reported(settle(guest, observed()), conditions.dns)).toBe("False OwnedByAnother");
    expect(guest.below(internal)).toEqual([]);
  });

  test("of HyperShift that the status names is taken over, with its links and records", () => {
    const { guest: old, world } = reachable();
    const guest = new PaperGuest();
    for (const [id, { tags, properties, ...rest }] of old.resources) {
      const kept = Object.entries(tags ?? {}).filter(([name]) => !name.startsWith("postern"));
      const { metadata: _, ...plain } = properties as { metadata?: object };
      guest.set(id, { ...rest, tags: Object.fromEntries(kept), properties: plain });
    }
    const taken = settle(guest, observed({ status: world.status }));
    expect(reported(taken)).toBe("True AzureSuccess");
    expect(guest.at(`${internal}/A/api`)).toMatchObject({
      properties: { metadata: { postern_owner: `${clusterID}/link-uid` } },
    });
    const gone = settle(guest, { ...taken, deletion: "object" });
    expect(gone.object.hasFinalizer).toBe(true);
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("with 40 users takes no more", () => {
    const guest = new PaperGuest();
    const tags = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`postern_user_${n}`, "x"]),
    );
    guest.set(base, { tags, properties: {} });
    expect(reported(settle(guest, observed()), conditions.dns)).toBe("False ZoneFull");
  });

  test("is linked to every network that is asked for, and given up where it is not any more", () => {
    const further = parseResourceId(guestNetwork.replace(/guest$/, "hub"));
    const { guest, world } = reachable({ choices: { ...observed().choices, networks: [further] } });
    const linked = () => guest.below(base).filter((id) => id.includes("virtualNetworkLinks"));
    expect(linked()).toHaveLength(2);
    settle(guest, { ...world, choices: observed().choices });
    expect(linked().map((id) => id.split("/").at(-1))).toEqual([
      "private-router-basedomain-vnet-link",
    ]);
  });

  test("attack: many networks and many links in a zone do not stall everybody", () => {
    const of = (name: string) => parseResourceId(guestNetwork.replace(/guest$/, name));
    const numbered = (count: number, name: string) =>
      Array.from({ length: count }, (_, n) => of(`${name}${n}`));
    const world = observed({
      choices: { ...observed().choices, networks: numbered(50, "Further") },
    });
    const guest = new PaperGuest();
    guest.set(base, { tags: { [`postern_user_${clusterID}`]: "plane-uid" }, properties: {} });
    for (const [n, id] of numbered(1_000, "Other").entries())
      guest.set(`${base}/virtualNetworkLinks/link${n}`, {
        tags: { [`postern_user_${clusterID}`]: "plane-uid" },
        properties: { virtualNetwork: { id } },
      });
    const all = guest.observed(world);
    const lowered = vi.spyOn(String.prototype, "toLowerCase");
    const { steps } = plan(all);
    const comparisons = lowered.mock.calls.length;
    lowered.mockRestore();
    expect(steps.filter((step) => step.do === "remove link")).toHaveLength(1_000);
    // Each with each would be more than 50,000.
    expect(comparisons).toBeLessThan(20_000);
  });

  test("that is linked to the network under another name counts as linked", () => {
    const guest = new PaperGuest();
    guest.set(base, { tags: { [`postern_user_${clusterID}`]: "plane-uid" }, properties: {} });
    const theirs = { properties: { virtualNetwork: { id: guestNetwork.toUpperCase() } } };
    guest.set(`${base}/virtualNetworkLinks/by-hand`, theirs);
    expect(reported(settle(guest, observed()))).toBe("True AzureSuccess");
    expect(guest.at(`${base}/virtualNetworkLinks/by-hand`)).toMatchObject(theirs);
    expect(guest.below(base).filter((id) => id.includes("Links"))).toHaveLength(1);
  });

  test("whose link's name is taken by another network is linked under the longer one", () => {
    const guest = new PaperGuest();
    guest.set(base, { tags: { [`postern_user_${otherID}`]: "their-plane" }, properties: {} });
    guest.set(`${base}/virtualNetworkLinks/private-router-basedomain-vnet-link`, {
      tags: { [`postern_user_${otherID}`]: "their-plane" },
      properties: { virtualNetwork: { id: guestNetwork.replace(/guest$/, "theirs") } },
    });
    expect(reported(settle(guest, observed()))).toBe("True AzureSuccess");
    expect(
      guest.at(`${base}/virtualNetworkLinks/private-router-basedomain-vnet-link-${clusterID}`),
    ).toBeDefined();
  });

  test("whose link Azure refuses, as another zone of that name is linked: the condition has the remedy, and it is tried again", () => {
    const { guest, world } = reachable();
    const now = guest.observed({ ...world, conditions: [] });
    const zones = now.zones.map((zone) =>
      zone.role === "internal"
        ? zone
        : {
            ...zone,
            links: zone.links
              .filter(({ look }) => look.state === "there")
              .map(({ id }) => ({
                id,
                look: {
                  state: "failed" as const,
                  failure: {
                    reason: "BadRequest",
                    message: "overlapping",
                    requeueAfterMs: 120_000,
                  },
                },
              })),
          },
    );
    const planned = plan({ ...now, zones });
    expect(planned.conditions[2]).toMatchObject({ reason: "BaseDomainVNetLinkCreationFailed" });
    expect(planned.conditions[2]?.message).toContain(annotations.baseZone);
    expect(planned.requeue).toEqual({ afterMs: 120_000 });
  });

  test("that is just being changed does not make names that worked look broken", () => {
    const { guest, world } = reachable();
    const now = guest.observed(world);
    const zones = now.zones.map((zone) => ({
      ...zone,
      look: { state: "changing" as const, retryAfterMs: 7_000 },
      links: [],
      records: [],
    }));
    const planned = plan({ ...now, zones });
    expect(planned.conditions[0]).toMatchObject({ status: "True" });
    expect(planned).toMatchObject({ steps: [], requeue: { afterMs: 7_000 } });
    expect(planned.status).toEqual(world.status);
  });
});

describe("zones that exist already", () => {
  const zone = privateZoneIn(group, "hypershift.local");
  const baseOne = privateZoneIn(group, "example.com");
  const choices = {
    ...observed().choices,
    zones: "existing" as const,
    internalZone: zone,
    baseZone: baseOne,
  };

  test("get names and links, and are themselves left as they are", () => {
    const guest = new PaperGuest();
    guest.set(zone, { tags: { team: "network" }, properties: {} });
    guest.set(baseOne, { properties: {} });
    const world = settle(guest, observed({ choices }));
    expect(reported(world)).toBe("True AzureSuccess");
    expect(addressOf(guest, `${zone}/A/api.one`)).toBe("192.168.0.4");
    expect(addressOf(guest, `${zone}/A/*.apps.one`)).toBe("192.168.0.4");
    expect(guest.at(zone)?.tags).toEqual({ team: "network" });
    settle(guest, { ...world, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([zone.toLowerCase(), baseOne.toLowerCase()]);
  });

  test("and are not named or not there are told", () => {
    const guest = new PaperGuest();
    expect(
      reported(
        settle(guest, observed({ choices: { ...choices, internalZone: undefined } })),
        conditions.dns,
      ),
    ).toBe("False ZoneMissing");
    expect(reported(settle(guest, observed({ choices })), conditions.dns)).toBe(
      "False ZoneMissing",
    );
    expect([...guest.resources.keys()]).toEqual([short.toLowerCase()]);
  });

  test("and are of another domain are told", () => {
    const guest = new PaperGuest();
    guest.set(zone, { properties: {} });
    guest.set(privateZoneIn(group, "other.org"), { properties: {} });
    const wrong = { ...choices, baseZone: privateZoneIn(group, "other.org") };
    expect(reported(settle(guest, observed({ choices: wrong })), conditions.dns)).toBe(
      "False InvalidAnnotation",
    );
  });

  test("take the place of those that we made, which go first", () => {
    const { guest, world } = reachable();
    const elsewhere = parseResourceId(base.replace("/guest/", "/hub/"));
    const internalElsewhere = parseResourceId(internal.replace("/guest/", "/hub/"));
    guest.set(elsewhere, { properties: {} });
    guest.set(internalElsewhere, { properties: {} });
    const now = settle(guest, {
      ...world,
      choices: { ...choices, internalZone: internalElsewhere, baseZone: elsewhere },
    });
    expect(reported(now)).toBe("True AzureSuccess");
    expect(guest.at(base)).toBeUndefined();
    expect(guest.at(internal)).toBeUndefined();
    expect(now.status.baseDomainDNSZoneID).toBe(elsewhere);
  });
});

describe("without zones", () => {
  test("the endpoint is enough, and it is said that names are left to others", () => {
    const guest = new PaperGuest();
    const world = settle(guest, observed({ choices: { ...observed().choices, zones: "none" } }));
    expect(reported(world)).toBe("True AzureSuccess");
    expect(message(world, conditions.dns)).toContain(annotations.zones);
    expect([...guest.resources.keys()]).toEqual([short.toLowerCase()]);
    expect(world.status).not.toHaveProperty("dnsZoneName");
  });

  test("those that were made go", () => {
    const { guest, world } = reachable();
    settle(guest, { ...world, choices: { ...observed().choices, zones: "none" } });
    expect([...guest.resources.keys()]).toEqual([short.toLowerCase()]);
  });

  test("an annotation that cannot be read is told, and nothing is changed", () => {
    const { guest, world } = reachable();
    const now = settle(guest, {
      ...world,
      choices: { ...observed().choices, wrong: "what · why · how" },
    });
    expect(reported(now, conditions.dns)).toBe("False InvalidAnnotation");
    expect(guest.at(base)).toBeDefined();
  });
});
