import { describe, expect, test } from "vitest";
import {
  AzureModel,
  clusterID,
  observed,
  otherID,
} from "../../../../../../test/hosted/azure-model.ts";
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
} from "../../../../../../test/hosted/endpoint-worlds.ts";

describe("records", () => {
  test("of others are never touched", () => {
    const { azure, world } = reachable();
    const foreign = { properties: { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }] } };
    azure.set(`${internal}/A/theirs`, foreign);
    settle(azure, world);
    expect(azure.at(`${internal}/A/theirs`)).toMatchObject(foreign);
  });

  test("of others under one of our names are reported where others use the zone too", () => {
    const azure = new AzureModel();
    const tags = {
      [`postern_user_${clusterID}`]: "plane-uid",
      [`postern_user_${otherID}`]: "their-plane",
    };
    azure.set(base, { tags, properties: {} });
    azure.set(`${base}/A/api-one`, {
      properties: { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }] },
    });
    expect(reported(settle(azure, observed()))).toBe("False OwnedByAnother");
    expect(addressOf(azure, `${base}/A/api-one`)).toBe("10.0.0.1");
  });

  test("that we own and that are no longer desired are removed while the link lives", () => {
    const { azure, world } = reachable();
    const old = azure.at<{ properties: object }>(`${base}/A/api-one`);
    azure.set(`${base}/A/api-old`, { properties: old?.properties ?? {} });
    settle(azure, world);
    expect(azure.at(`${base}/A/api-old`)).toBeUndefined();
    expect(azure.at(`${base}/A/api-one`)).toBeDefined();
  });

  describe.each([
    ["lost their metadata", {}],
    ["got other metadata", { metadata: { team: "x" } }],
  ])("that we own, that were modified and %s", (_name, properties) => {
    const modified = { ttl: 60, aRecords: [{ ipv4Address: "10.0.0.1" }], ...properties };

    test.each([`${base}/A/api-one`, `${internal}/A/api`])("are repaired: %s", (id) => {
      const { azure, world } = reachable();
      azure.set(id, { properties: modified });
      expect(reported(settle(azure, world))).toBe("True AzureSuccess");
      expect(addressOf(azure, id)).toBe("192.168.0.4");
      expect(azure.at(id)).toMatchObject({
        properties: {
          metadata: {
            ...("metadata" in properties && properties.metadata),
            postern_owner: expect.any(String),
          },
        },
      });
    });

    test("do not prevent the deletion of the zone", () => {
      const { azure, world } = reachable();
      azure.set(`${base}/A/api-one`, { properties: modified });
      azure.set(`${internal}/A/api`, { properties: modified });
      settle(azure, { ...world, deletion: "object" });
      expect([...azure.resources.keys()]).toEqual([]);
    });

    test("are repaired in a shared zone where our status says that they were written", () => {
      const { azure, world } = reachable();
      const zone = azure.at(base);
      const foreign = { [`postern_user_${otherID}`]: "their-plane" };
      azure.set(base, { ...zone, tags: { ...zone?.tags, ...foreign }, properties: {} });
      azure.set(`${base}/A/api-one`, { properties: modified });
      expect(reported(settle(azure, world))).toBe("True AzureSuccess");
      expect(addressOf(azure, `${base}/A/api-one`)).toBe("192.168.0.4");
    });

    test("remain another's in a zone that our cluster does not claim", () => {
      const { azure, world } = reachable();
      const foreign = { [`postern_user_${otherID}`]: "their-plane" };
      azure.set(base, { tags: foreign, properties: {} });
      azure.set(`${base}/A/api-one`, { properties: modified });
      settle(azure, { ...world, deletion: "object" });
      expect(addressOf(azure, `${base}/A/api-one`)).toBe("10.0.0.1");
    });

    test("remain another's in a zone that an annotation names", () => {
      const { azure, world } = reachable();
      azure.set(`${base}/A/api-one`, { properties: modified });
      const choices = {
        ...world.choices,
        zones: "existing" as const,
        internalZone: internal,
        baseZone: base,
      };
      expect(reported(settle(azure, { ...world, choices }))).toBe("False OwnedByAnother");
    });
  });

  test("that another cluster owns are never repaired", () => {
    const { azure, world } = reachable();
    const id = `${base}/A/api-one`;
    const foreign = {
      properties: {
        ttl: 60,
        aRecords: [{ ipv4Address: "10.0.0.1" }],
        metadata: { postern_owner: `${otherID}/their-link` },
      },
    };
    azure.set(id, foreign);
    expect(reported(settle(azure, world))).toBe("False OwnedByAnother");
    expect(azure.at(id)).toMatchObject(foreign);
  });

  test("keep what others wrote into their metadata", () => {
    const { azure, world } = reachable();
    const id = `${base}/A/api-one`;
    const found = azure.at<{ properties: { metadata?: object } }>(id);
    azure.set(id, {
      properties: {
        ...found?.properties,
        ttl: 60,
        metadata: { ...found?.properties.metadata, note: "x" },
      },
    });
    settle(azure, world);
    expect(azure.at(id)).toMatchObject({ properties: { ttl: 300, metadata: { note: "x" } } });
  });
});

describe("two links of a cluster", () => {
  /** Both reachable, the router's first. */
  function both() {
    const { azure, world } = reachable();
    azure.addresses = ["192.168.0.5"];
    const second = settle(azure, oauth());
    const first = settle(azure, { ...world, siblings: [sibling()] });
    return { azure, first, second };
  }

  test("the OAuth server's record remains on the router's address until its own endpoint is approved", () => {
    const { azure, world } = reachable({ siblings: [sibling({ ready: false })] });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    azure.state = "Pending";
    settle(azure, oauth());
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    settle(azure, { ...world, siblings: [sibling({ ready: true })] });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test("the OAuth server's record moves to its own endpoint in one write, and the router does not take it back", () => {
    const { azure, first, second } = both();
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.5");
    expect(reported(first)).toBe("True AzureSuccess");
    expect(reported(second)).toBe("True AzureSuccess");
    expect(steps(azure, { ...first, siblings: [sibling({ ready: false })] })).toEqual([]);
  });

  test("deleting only the OAuth server's link leaves the router's api and *.apps records alone", () => {
    const { azure, first, second } = both();
    settle(azure, { ...second, deletion: "object" });
    for (const id of [`${internal}/A/api`, `${internal}/A/*.apps`, `${base}/A/api-one`])
      expect(addressOf(azure, id)).toBe("192.168.0.4");
    expect(azure.at(`${short.replace("private-router", "oauth-openshift")}`)).toBeUndefined();
    settle(azure, { ...first, siblings: [sibling({ lives: false, uses: false })] });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test("the OAuth server's record is never missing while its link is being deleted", () => {
    const { azure, first, second } = both();
    settle(azure, { ...second, deletion: "object" });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.5");
    const taken = settle(azure, { ...first, siblings: [] });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
    settle(azure, { ...taken, deletion: "object" });
    expect([...azure.resources.keys()]).toEqual([]);
  });

  test("a link that is deleted leaves a zone that the other uses for another domain", () => {
    const other = sibling({ name: "private-router", uid: "link-uid", baseDomain: "else.com" });
    const { azure, second } = both();
    settle(azure, { ...second, deletion: "object", siblings: [other] });
    expect(addressOf(azure, `${base}/A/api-one`)).toBe("192.168.0.4");
    expect(azure.at(`${internal}/A/api`)).toBeDefined();
  });

  test("the router takes the OAuth server's record back while the other link is still being deleted", () => {
    const { azure, first } = both();
    settle(azure, { ...first, siblings: [sibling({ lives: false, uses: false })] });
    expect(addressOf(azure, `${base}/A/oauth-one`)).toBe("192.168.0.4");
  });

  test.each([
    ["the router first", [0, 1]],
    ["the OAuth server first", [1, 0]],
  ])("both links are deleted with their control plane, and neither hangs: %s", (_order, order) => {
    const { azure, first, second } = both();
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
      if (one) settle(azure, one);
    }
    expect([...azure.resources.keys()]).toEqual([]);
  });
});
