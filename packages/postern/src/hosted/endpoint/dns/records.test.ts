import { describe, expect, test } from "vitest";
import {
  clusterID,
  observed,
  otherID,
  PaperGuest,
} from "../../../../../../test/hosted/paper-guest.ts";
import {
  addressOf,
  base,
  internal,
  oauth,
  reachable,
  reported,
  settle,
  short,
  sibling,
  steps,
} from "../../../../../../test/hosted/paper-links.ts";

describe("records", () => {
  test("of other people are never touched", () => {
    const { guest, world } = reachable();
    const theirs = { properties: { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }] } };
    guest.set(`${internal}/A/theirs`, theirs);
    settle(guest, world);
    expect(guest.at(`${internal}/A/theirs`)).toMatchObject(theirs);
  });

  test("of other people under a name of ours are reported where others use the zone too", () => {
    const guest = new PaperGuest();
    const tags = {
      [`postern_user_${clusterID}`]: "plane-uid",
      [`postern_user_${otherID}`]: "their-plane",
    };
    guest.set(base, { tags, properties: {} });
    guest.set(`${base}/A/api-one`, {
      properties: { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }] },
    });
    expect(reported(settle(guest, observed()))).toBe("False OwnedByAnother");
    expect(addressOf(guest, `${base}/A/api-one`)).toBe("10.0.0.1");
  });

  test("of ours that are no longer desired are removed while the link lives", () => {
    const { guest, world } = reachable();
    const old = guest.at<{ properties: object }>(`${base}/A/api-one`);
    guest.set(`${base}/A/api-old`, { properties: old?.properties ?? {} });
    settle(guest, world);
    expect(guest.at(`${base}/A/api-old`)).toBeUndefined();
    expect(guest.at(`${base}/A/api-one`)).toBeDefined();
  });

  describe.each([
    ["lost their metadata", {}],
    ["got other metadata", { metadata: { team: "x" } }],
  ])("of ours that were modified and %s", (_name, properties) => {
    const modified = { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }], ...properties };

    test.each([`${base}/A/api-one`, `${internal}/A/api`])("are repaired: %s", (id) => {
      const { guest, world } = reachable();
      guest.set(id, { properties: modified });
      expect(reported(settle(guest, world))).toBe("True AzureSuccess");
      expect(addressOf(guest, id)).toBe("192.168.0.4");
      expect(guest.at(id)).toMatchObject({
        properties: {
          metadata: {
            ...("metadata" in properties && properties.metadata),
            postern_owner: expect.any(String),
          },
        },
      });
    });

    test("do not keep the zone from being deleted", () => {
      const { guest, world } = reachable();
      guest.set(`${base}/A/api-one`, { properties: modified });
      guest.set(`${internal}/A/api`, { properties: modified });
      settle(guest, { ...world, deletion: "object" });
      expect([...guest.resources.keys()]).toEqual([]);
    });

    test("are repaired in a shared zone where our status says that they were written", () => {
      const { guest, world } = reachable();
      const zone = guest.at(base);
      const theirs = { [`postern_user_${otherID}`]: "their-plane" };
      guest.set(base, { ...zone, tags: { ...zone?.tags, ...theirs }, properties: {} });
      guest.set(`${base}/A/api-one`, { properties: modified });
      expect(reported(settle(guest, world))).toBe("True AzureSuccess");
      expect(addressOf(guest, `${base}/A/api-one`)).toBe("192.168.0.4");
    });

    test("stay another's in a zone that our cluster does not claim", () => {
      const { guest, world } = reachable();
      const theirs = { [`postern_user_${otherID}`]: "their-plane" };
      guest.set(base, { tags: theirs, properties: {} });
      guest.set(`${base}/A/api-one`, { properties: modified });
      settle(guest, { ...world, deletion: "object" });
      expect(addressOf(guest, `${base}/A/api-one`)).toBe("10.0.0.1");
    });

    test("stay another's in a zone that an annotation names", () => {
      const { guest, world } = reachable();
      guest.set(`${base}/A/api-one`, { properties: modified });
      const choices = {
        ...world.choices,
        zones: "existing" as const,
        internalZone: internal,
        baseZone: base,
      };
      expect(reported(settle(guest, { ...world, choices }))).toBe("False OwnedByAnother");
    });
  });

  test("that another cluster owns are never repaired", () => {
    const { guest, world } = reachable();
    const id = `${base}/A/api-one`;
    const theirs = {
      properties: {
        ttl: 60,
        aRecords: [{ ipv4Address: "10.0.0.1" }],
        metadata: { postern_owner: `${otherID}/their-link` },
      },
    };
    guest.set(id, theirs);
    expect(reported(settle(guest, world))).toBe("False OwnedByAnother");
    expect(guest.at(id)).toMatchObject(theirs);
  });

  test("keep what others wrote into their metadata", () => {
    const { guest, world } = reachable();
    const id = `${base}/A/api-one`;
    const found = guest.at<{ properties: { metadata?: object } }>(id);
    guest.set(id, {
      properties: {
        ...found?.properties,
        ttl: 60,
        metadata: { ...found?.properties.metadata, note: "x" },
      },
    });
    settle(guest, world);
    expect(guest.at(id)).toMatchObject({ properties: { ttl: 300, metadata: { note: "x" } } });
  });
});

describe("two links of a cluster", () => {
  /** Both reachable, the router's first. */
  function both() {
    const { guest, world } = reachable();
    guest.addresses = ["192.168.0.5"];
    const second = settle(guest, oauth());
    const first = settle(guest, { ...world, siblings: [sibling()] });
    return { guest, first, second };
  }

  test("the OAuth server's record stays on the router's address until its own endpoint is approved", () => {
    const { guest, world } = reachable({ siblings: [sibling({ ready: false })] });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    guest.state = "Pending";
    settle(guest, oauth());
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    settle(guest, { ...world, siblings: [sibling({ ready: true })] });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test("the OAuth server's record moves to its own endpoint in one write, and the router does not take it back", () => {
    const { guest, first, second } = both();
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.5");
    expect(reported(first)).toBe("True AzureSuccess");
    expect(reported(second)).toBe("True AzureSuccess");
    expect(steps(guest, { ...first, siblings: [sibling({ ready: false })] })).toEqual([]);
  });

  test("deleting only the OAuth server's link leaves the router's api and *.apps records alone", () => {
    const { guest, first, second } = both();
    settle(guest, { ...second, deletion: "object" });
    for (const id of [`${internal}/A/api`, `${internal}/A/*.apps`, `${base}/A/api-one`])
      expect(addressOf(guest, id)).toBe("192.168.0.4");
    expect(guest.at(`${short.replace("private-router", "oauth-openshift")}`)).toBeUndefined();
    settle(guest, { ...first, siblings: [sibling({ lives: false, uses: false })] });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test("the OAuth server's record is never missing while its link is being deleted", () => {
    const { guest, first, second } = both();
    settle(guest, { ...second, deletion: "object" });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.5");
    const taken = settle(guest, { ...first, siblings: [] });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    settle(guest, { ...taken, deletion: "object" });
    expect([...guest.resources.keys()]).toEqual([]);
  });

  test("a link that goes leaves a zone that the other uses for another domain", () => {
    const other = sibling({ name: "private-router", uid: "link-uid", baseDomain: "else.com" });
    const { guest, second } = both();
    settle(guest, { ...second, deletion: "object", siblings: [other] });
    expect(addressOf(guest, `${base}/A/api-one`)).toBe("192.168.0.4");
    expect(guest.at(`${internal}/A/api`)).toBeDefined();
  });

  test("the router takes the OAuth server's record back while the other link is still being deleted", () => {
    const { guest, first } = both();
    settle(guest, { ...first, siblings: [sibling({ lives: false, uses: false })] });
    expect(addressOf(guest, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test.each([
    ["the router first", [0, 1]],
    ["the OAuth server first", [1, 0]],
  ])("both links are deleted with their control plane, and neither hangs: %s", (_order, order) => {
    const { guest, first, second } = both();
    const gone = { lives: false, uses: false };
    const deletion = [
      { ...first, deletion: "control plane" as const, siblings: [sibling(gone)] },
      {
        ...second,
        deletion: "control plane" as const,
        siblings: [sibling({ name: "private-router", uid: "link-uid", ...gone })],
      },
    ];
    for (const at of order) {
      const one = deletion[at];
      if (one) settle(guest, one);
    }
    expect([...guest.resources.keys()]).toEqual([]);
  });
});
