import { claimsIn } from "@postern/core/claims.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { describe, expect, test, vi } from "vitest";
import {
  AzureModel,
  clusterID,
  clusterNetwork,
  group,
  observed,
  otherID,
} from "../../../../../../test/hosted/azure-model.ts";
import {
  addressOf,
  base,
  internal,
  message,
  reachable,
  reported,
  settle,
  short,
} from "../../../../../../test/hosted/endpoint-worlds.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import { annotations, conditions } from "../../names.ts";
import { plan } from "../plan.ts";

describe("a zone", () => {
  test("of another cluster with the same base domain is claimed before it is used: neither deletes it under the other", () => {
    const azure = new AzureModel();
    azure.set(base, {
      location: "global",
      tags: { [`postern_user_${otherID}`]: "their-plane" },
      properties: {},
    });
    const first = plan(azure.observed(observed()));
    expect(first.steps.map((step) => step.do)).toEqual([
      "create private endpoint",
      "create DNS zone",
      "claim DNS zone",
    ]);
    expect(first.steps[2]).toMatchObject({ ifMatch: azure.at(base)?.etag });
    settle(azure, observed());
    expect(claimsIn(azure.at(base)?.tags).map((each) => each.clusterID)).toEqual([
      otherID,
      clusterID,
    ]);
  });

  test("that nobody has marked is not used, and the remedy is named", () => {
    const azure = new AzureModel();
    azure.set(base, { location: "global", tags: {}, properties: {} });
    const world = settle(azure, observed());
    expect(reported(world, conditions.dns)).toBe("False OwnedByAnother");
    expect(message(world)).toContain(`${annotations.zones}: existing`);
    expect(azure.below(base)).toEqual([]);
  });

  describe("that Azure failed to write", () => {
    const linkIn = (azure: AzureModel) =>
      azure.below(internal).find((each) => /virtualNetworkLinks/i.test(each)) ?? "";
    const change = (azure: AzureModel, id: string, over: object, tags = azure.at(id)?.tags) => {
      const found = azure.at(id);
      const properties = { ...(found?.properties as object), ...over };
      azure.set(id, { ...found, ...(tags && { tags }), properties });
    };
    const failed = { provisioningState: "Failed" };
    const now = (azure: AzureModel, world: ReturnType<typeof observed>) =>
      plan(azure.observed(world)).conditions.find(({ type }) => type === conditions.dns);

    test.each(["Failed", "Canceled"])(
      "a %s link that we own is written again",
      (provisioningState) => {
        const { azure, world } = reachable();
        const id = linkIn(azure);
        change(azure, id, { provisioningState });
        expect(plan(azure.observed(world)).steps).toMatchObject([
          { do: "update network link", id, ifMatch: azure.at(id)?.etag },
        ]);
        expect(now(azure, world)).toMatchObject({ status: "False", reason: "NamesPending" });
        expect(reported(settle(azure, world), conditions.dns)).toBe("True AzureSuccess");
      },
    );

    test("a failed link of somebody else is reported and left alone", () => {
      const { azure, world } = reachable();
      const id = `${internal}/virtualNetworkLinks/by-hand`;
      const link = azure.at(linkIn(azure));
      azure.resources.delete(linkIn(azure).toLowerCase());
      azure.set(id, {
        ...link,
        tags: {},
        properties: { ...(link?.properties as object), ...failed },
      });
      const after = settle(azure, world);
      expect(reported(after, conditions.dns)).toBe("False VNetLinkCreationFailed");
      expect(message(after, conditions.dns)).toContain("by-hand");
      expect(azure.at(id)?.properties).toMatchObject(failed);
    });

    test("a failed link that another cluster claims is claimed, which repairs it", () => {
      const { azure, world } = reachable();
      const link = azure.below(base).find((each) => /virtualNetworkLinks/i.test(each)) ?? "";
      change(azure, link, failed, { [`postern_user_${otherID}`]: "their-plane" });
      expect(now(azure, world)).toMatchObject({ status: "False" });
      expect(reported(settle(azure, world), conditions.dns)).toBe("True AzureSuccess");
      expect(claimsIn(azure.at(link)?.tags)).toHaveLength(2);
    });

    test("a failed zone that we own is written again with the same tags", () => {
      const { azure, world } = reachable();
      const tags = { ...azure.at(internal)?.tags, note: "mine" };
      change(azure, internal, failed, tags);
      expect(plan(azure.observed(world)).steps).toMatchObject([
        { do: "update DNS zone", id: internal },
      ]);
      expect(now(azure, world)).toMatchObject({ status: "False", reason: "NamesPending" });
      expect(reported(settle(azure, world), conditions.dns)).toBe("True AzureSuccess");
      expect(azure.at(internal)?.tags).toEqual(tags);
    });

    test("a failed zone that an annotation names is reported and left alone", () => {
      const { azure, world } = reachable();
      const choices = { ...world.choices, zones: "existing" as const };
      const existing = {
        ...world,
        choices: { ...choices, internalZone: internal, baseZone: base },
      };
      change(azure, internal, failed);
      const after = settle(azure, existing);
      expect(reported(after, conditions.dns)).toBe("False DNSZoneCreationFailed");
      expect(azure.at(internal)?.properties).toMatchObject(failed);
    });
  });

  test("of internal names that an earlier control plane of the cluster left is used again", () => {
    const azure = new AzureModel();
    azure.set(internal, { tags: { [`postern_user_${clusterID}`]: "earlier" }, properties: {} });
    expect(reported(settle(azure, observed()), conditions.dns)).toBe("True AzureSuccess");
    expect(claimsIn(azure.at(internal)?.tags)).toEqual([
      { clusterID, uid: observed().self.controlPlaneUid },
    ]);
  });

  test("that its last user left behind is claimed by the next, which leaves it in turn", () => {
    const azure = new AzureModel();
    const foreign = { properties: { ttl: 60, aRecords: [{ ipv4Address: "10.9.9.9" }] } };
    for (const id of [base, internal]) {
      azure.set(id, { tags: { postern_left_by: `${otherID}/their-plane` }, properties: {} });
      azure.set(`${id}/A/theirs`, foreign);
    }
    const world = settle(azure, observed());
    expect(reported(world)).toBe("True AzureSuccess");
    for (const id of [base, internal])
      expect(azure.at(id)?.tags).toEqual({ [`postern_user_${clusterID}`]: "plane-uid" });
    settle(azure, { ...world, deletion: "object" });
    for (const id of [base, internal]) {
      expect(azure.at(id)?.tags).toEqual({ postern_left_by: `${clusterID}/plane-uid` });
      expect(azure.at(`${id}/A/theirs`)).toMatchObject(foreign);
      azure.resources.delete(`${id}/A/theirs`.toLowerCase());
    }
    settle(azure, { ...settle(azure, observed()), deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("that nobody uses and that is empty is deleted by its last user", () => {
    const azure = new AzureModel();
    const world = settle(azure, observed());
    const left = { postern_left_by: `${otherID}/their-plane` };
    // The other cluster left while our link was still there, and took that for somebody's; then our link was deleted.
    for (const id of [base, internal]) {
      for (const each of azure.below(id)) azure.resources.delete(each.toLowerCase());
      azure.set(id, { tags: left, properties: {} });
    }
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("that nobody uses and that is not empty is not deleted", () => {
    const azure = new AzureModel();
    const world = settle(azure, observed());
    const left = { postern_left_by: `${otherID}/their-plane` };
    azure.set(base, { tags: left, properties: {} });
    azure.set(`${base}/A/theirs`, { properties: { aRecords: [{ ipv4Address: "10.9.9.9" }] } });
    settle(azure, { ...world, deletion: "object" });
    expect(azure.at(base)?.tags).toEqual(left);
  });

  test("attack: a zone elsewhere that was left behind is not claimed because the status names it", () => {
    const azure = new AzureModel();
    const elsewhere = base.replace("/guest/", "/theirs/");
    const tags = { postern_left_by: `${otherID}/their-plane` };
    azure.set(elsewhere, { tags, properties: {} });
    settle(azure, observed({ status: { baseDomainDNSZoneID: elsewhere } }));
    expect(azure.at(elsewhere)?.tags).toEqual(tags);
  });

  test("of internal names is never shared", () => {
    const azure = new AzureModel();
    azure.set(internal, { tags: { [`postern_user_${otherID}`]: "their-plane" }, properties: {} });
    expect(reported(settle(azure, observed()), conditions.dns)).toBe("False OwnedByAnother");
    expect(azure.below(internal)).toEqual([]);
  });

  test("of HyperShift that the status names is taken over, with its links and records", () => {
    const { azure: old, world } = reachable();
    const azure = new AzureModel();
    for (const [id, { tags, properties, ...rest }] of old.resources) {
      const remaining = Object.entries(tags ?? {}).filter(([name]) => !name.startsWith("postern"));
      const { metadata: _, ...plain } = properties as { metadata?: object };
      azure.set(id, { ...rest, tags: Object.fromEntries(remaining), properties: plain });
    }
    const taken = settle(azure, observed({ status: world.status }));
    expect(reported(taken)).toBe("True AzureSuccess");
    expect(azure.at(`${internal}/A/api`)).toMatchObject({
      properties: { metadata: { postern_owner: `${clusterID}/link-uid` } },
    });
    const gone = settle(azure, { ...taken, deletion: "object" });
    expect(gone.object.hasFinalizer).toBe(true);
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("with 40 users takes no more", () => {
    const azure = new AzureModel();
    const tags = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`postern_user_${n}`, "x"]),
    );
    azure.set(base, { tags, properties: {} });
    expect(reported(settle(azure, observed()), conditions.dns)).toBe("False ZoneFull");
  });

  test("is linked to every network that is asked for, and given up where it is not any more", () => {
    const further = parseResourceId(clusterNetwork.replace(/guest$/, "hub"));
    const { azure, world } = reachable({ choices: { ...observed().choices, networks: [further] } });
    const linked = () => azure.below(base).filter((id) => id.includes("virtualNetworkLinks"));
    expect(linked()).toHaveLength(2);
    settle(azure, { ...world, choices: observed().choices });
    expect(linked().map((id) => id.split("/").at(-1))).toEqual([
      "private-router-basedomain-vnet-link",
    ]);
  });

  test("attack: many networks and many links in a zone do not stall everybody", () => {
    const of = (name: string) => parseResourceId(clusterNetwork.replace(/guest$/, name));
    const numbered = (count: number, name: string) =>
      Array.from({ length: count }, (_, n) => of(`${name}${n}`));
    const world = observed({
      choices: { ...observed().choices, networks: numbered(50, "Further") },
    });
    const azure = new AzureModel();
    azure.set(base, { tags: { [`postern_user_${clusterID}`]: "plane-uid" }, properties: {} });
    for (const [n, id] of numbered(1_000, "Other").entries())
      azure.set(`${base}/virtualNetworkLinks/link${n}`, {
        tags: { [`postern_user_${clusterID}`]: "plane-uid" },
        properties: { virtualNetwork: { id } },
      });
    const all = azure.observed(world);
    const lowered = vi.spyOn(String.prototype, "toLowerCase");
    const { steps } = plan(all);
    const comparisons = lowered.mock.calls.length;
    lowered.mockRestore();
    expect(steps.filter((step) => step.do === "unlink network")).toHaveLength(1_000);
    // Each with each would be more than 50,000.
    expect(comparisons).toBeLessThan(20_000);
  });

  test("that is linked to the network under another name counts as linked", () => {
    const azure = new AzureModel();
    azure.set(base, { tags: { [`postern_user_${clusterID}`]: "plane-uid" }, properties: {} });
    const foreign = { properties: { virtualNetwork: { id: clusterNetwork.toUpperCase() } } };
    azure.set(`${base}/virtualNetworkLinks/by-hand`, foreign);
    expect(reported(settle(azure, observed()))).toBe("True AzureSuccess");
    expect(azure.at(`${base}/virtualNetworkLinks/by-hand`)).toMatchObject(foreign);
    expect(azure.below(base).filter((id) => id.includes("Links"))).toHaveLength(1);
  });

  test("with a link name that is taken by another network is linked under the longer one", () => {
    const azure = new AzureModel();
    azure.set(base, { tags: { [`postern_user_${otherID}`]: "their-plane" }, properties: {} });
    azure.set(`${base}/virtualNetworkLinks/private-router-basedomain-vnet-link`, {
      tags: { [`postern_user_${otherID}`]: "their-plane" },
      properties: { virtualNetwork: { id: clusterNetwork.replace(/guest$/, "theirs") } },
    });
    expect(reported(settle(azure, observed()))).toBe("True AzureSuccess");
    expect(
      azure.at(`${base}/virtualNetworkLinks/private-router-basedomain-vnet-link-${clusterID}`),
    ).toBeDefined();
  });

  test("with a link that Azure rejects, as another zone of that name is linked: the condition has the remedy, and it is tried again", () => {
    const { azure, world } = reachable();
    const now = azure.observed({ ...world, conditions: [] });
    const zones = now.zones.map((zone) =>
      zone.role === "internal"
        ? zone
        : {
            ...zone,
            links: zone.links
              .filter(({ observation }) => observation.state === "exists")
              .map(({ id }) => ({
                id,
                observation: {
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
    const { azure, world } = reachable();
    const now = azure.observed(world);
    const zones = now.zones.map((zone) => ({
      ...zone,
      observation: { state: "changing" as const, retryAfterMs: 7_000 },
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
    const azure = new AzureModel();
    azure.set(zone, { tags: { team: "network" }, properties: {} });
    azure.set(baseOne, { properties: {} });
    const world = settle(azure, observed({ choices }));
    expect(reported(world)).toBe("True AzureSuccess");
    expect(addressOf(azure, `${zone}/A/api.one`)).toBe("192.168.0.4");
    expect(addressOf(azure, `${zone}/A/*.apps.one`)).toBe("192.168.0.4");
    expect(azure.at(zone)?.tags).toEqual({ team: "network" });
    settle(azure, { ...world, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([zone.toLowerCase(), baseOne.toLowerCase()]);
  });

  test("and are not named or do not exist are reported", () => {
    const azure = new AzureModel();
    expect(
      reported(
        settle(azure, observed({ choices: { ...choices, internalZone: undefined } })),
        conditions.dns,
      ),
    ).toBe("False ZoneMissing");
    expect(reported(settle(azure, observed({ choices })), conditions.dns)).toBe(
      "False ZoneMissing",
    );
    expect([...azure.resources.keys()]).toEqual([short.toLowerCase()]);
  });

  test("and are of another domain are reported", () => {
    const azure = new AzureModel();
    azure.set(zone, { properties: {} });
    azure.set(privateZoneIn(group, "other.org"), { properties: {} });
    const wrong = { ...choices, baseZone: privateZoneIn(group, "other.org") };
    expect(reported(settle(azure, observed({ choices: wrong })), conditions.dns)).toBe(
      "False InvalidAnnotation",
    );
  });

  test("take the place of those that we made, which go first", () => {
    const { azure, world } = reachable();
    const elsewhere = parseResourceId(base.replace("/guest/", "/hub/"));
    const internalElsewhere = parseResourceId(internal.replace("/guest/", "/hub/"));
    azure.set(elsewhere, { properties: {} });
    azure.set(internalElsewhere, { properties: {} });
    const now = settle(azure, {
      ...world,
      choices: { ...choices, internalZone: internalElsewhere, baseZone: elsewhere },
    });
    expect(reported(now)).toBe("True AzureSuccess");
    expect(azure.at(base)).toBeUndefined();
    expect(azure.at(internal)).toBeUndefined();
    expect(now.status.baseDomainDNSZoneID).toBe(elsewhere);
  });
});

describe("without zones", () => {
  test("the endpoint is enough, and it is said that names are left to others", () => {
    const azure = new AzureModel();
    const world = settle(azure, observed({ choices: { ...observed().choices, zones: "none" } }));
    expect(reported(world)).toBe("True AzureSuccess");
    expect(message(world, conditions.dns)).toContain(annotations.zones);
    expect([...azure.resources.keys()]).toEqual([short.toLowerCase()]);
    expect(world.status).not.toHaveProperty("dnsZoneName");
  });

  test("those that were made go", () => {
    const { azure, world } = reachable();
    settle(azure, { ...world, choices: { ...observed().choices, zones: "none" } });
    expect([...azure.resources.keys()]).toEqual([short.toLowerCase()]);
  });

  test("an annotation that cannot be read is reported, and nothing is changed", () => {
    const { azure, world } = reachable();
    const now = settle(azure, {
      ...world,
      choices: { ...observed().choices, wrong: "what · why · how" },
    });
    expect(reported(now, conditions.dns)).toBe("False InvalidAnnotation");
    expect(azure.at(base)).toBeDefined();
  });
});
