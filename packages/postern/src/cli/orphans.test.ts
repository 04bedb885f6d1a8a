import { idKey } from "@postern/core/resource-id.ts";
import { describe, expect, test } from "vitest";
import { clusterID, ids, oneWorld, service, zoneOf } from "../../../../test/cli/one-world.ts";
import { unreadIn } from "../view/gather.ts";
import { type Known, orphansIn } from "../view/orphans.ts";
import type { AzureWorld } from "../view/world.ts";
import { deletableOrphans, mayDelete } from "./run-orphans.ts";

const another = "aaaaaaaa-2c1b-4c55-9d0a-0c8f5d3a7e11";
const known: Known = {
  uids: new Set(["u-link", "u-plane"]),
  places: new Set(["org/amber"]),
  clusterIDs: new Set([clusterID.toLowerCase()]),
  named: new Set(),
  computed: { ids: new Set(), names: new Set(), links: new Set(), usesSharedSubnets: false },
};
const nothing: AzureWorld = {
  networks: [],
  loadBalancers: [],
  linkServices: [],
  endpoints: [],
  interfaces: [],
  zones: [],
};
const orphans = (azure: AzureWorld) => orphansIn({ azure, unread: [] }, known);
/** What becomes of a link service with these tags. */
const judged = (tags: Record<string, string>) =>
  orphans({ ...nothing, linkServices: [{ ...service(), tags }] }).map(({ elsewhere }) => elsewhere);

describe("no orphan is", () => {
  test.each([
    ["what carries no tag of ours", { team: "red" }],
    ["what belongs to an object that is here", { postern_owner: `${clusterID}/u-link` }],
    [
      "what one of several clusters still uses",
      { [`postern_user_${another}`]: "gone", [`postern_user_${clusterID}`]: "u-plane" },
    ],
    [
      "what is used by somebody here, whoever owned it",
      { postern_owner: `${another}/gone`, [`postern_user_${clusterID}`]: "u-plane" },
    ],
    ["a link of a cluster of Cluster API that is here", { postern_owner: "org/amber" }],
    [
      "a name of a cluster of Cluster API, which has another uid since it was moved",
      { postern_owner: "mc.org.amber/other" },
    ],
    ["a tag that says nothing that can be read", { postern_owner: "no-slash" }],
    [
      "what a cluster here has claimed, whose control plane has another uid since a restore",
      { [`postern_user_${clusterID.toUpperCase()}`]: "gone" },
    ],
  ])("%s", (_what, tags) => {
    expect(judged(tags)).toEqual([]);
  });
});

describe("an orphan", () => {
  test("whose cluster is here may go", () => {
    expect(judged({ postern_owner: `${clusterID}/gone` })).toEqual([[]]);
    expect(mayDelete({ elsewhere: [] })).toBe(true);
  });

  test("whose cluster is not here may be another management cluster's: it goes only by name", () => {
    const [elsewhere = []] = judged({ postern_owner: `${another}/x` });
    expect(elsewhere).toEqual([another]);
    expect(mayDelete({ elsewhere })).toBe(false);
    expect(mayDelete({ elsewhere }, [another.toUpperCase()])).toBe(true);
  });

  test("that its last user left behind is that cluster's, until another claims it", () => {
    expect(judged({ postern_left_by: `${another}/x` })).toEqual([[another]]);
    expect(
      judged({ postern_left_by: `${another}/x`, [`postern_user_${clusterID}`]: "u-plane" }),
    ).toEqual([]);
  });

  test("that two clusters elsewhere used goes only when both are named", () => {
    const third = "bbbbbbbb-2c1b-4c55-9d0a-0c8f5d3a7e11";
    const [elsewhere = []] = judged({
      [`postern_user_${third}`]: "gone",
      [`postern_user_${another}`]: "x",
    });
    expect(elsewhere).toEqual([third, another]);
    expect(mayDelete({ elsewhere }, [third])).toBe(false);
    expect(mayDelete({ elsewhere }, [third, another])).toBe(true);
  });

  test("of Cluster API is called by the whole name of its cluster, not by its namespace", () => {
    const [elsewhere = []] = judged({ postern_owner: "org/blue" });
    expect(elsewhere).toEqual(["org/blue"]);
    expect(mayDelete({ elsewhere }, ["org"])).toBe(false);
    expect(judged({ postern_owner: "mc.org.blue/uid" })).toEqual([["mc.org.blue"]]);
  });
});

test("what the status of a link names is in use, whatever its tags say", () => {
  const one = { ...service(), tags: { postern_owner: `${clusterID}/gone` } };
  const named = new Set([idKey(one.id ?? "")]);
  expect(
    orphansIn({ azure: { ...nothing, linkServices: [one] }, unread: [] }, { ...known, named }),
  ).toEqual([]);
});

describe("a zone", () => {
  const tags = { postern_owner: `${another}/gone` };
  const within = (owner: string | undefined, unread = false) => {
    const { zone, records } = zoneOf(ids.zone, [], { shop: "10.0.0.1" });
    const metadata = owner === undefined ? undefined : { postern_owner: owner };
    const marked = records.map((each) => ({
      ...each,
      properties: { ...each.properties, ...(metadata && { metadata }) },
    }));
    return orphansIn(
      {
        azure: { ...nothing, zones: [{ zone: { ...zone, tags }, links: [], records: marked }] },
        unread: unread ? [unreadIn("records", zone.id ?? "", "forbidden")] : [],
      },
      known,
    );
  };

  test("that holds a record of others is no orphan: they would go with it", () => {
    expect(within(undefined)).toEqual([]);
  });

  test("that may not be opened is no orphan: nobody knows what is in it", () => {
    expect(within(`${another}/gone`, true).map(({ what }) => what)).toEqual(["record"]);
  });

  test("goes only together with everything in it", () => {
    const found = within("cccccccc-2c1b-4c55-9d0a-0c8f5d3a7e11/gone");
    expect(found.map(({ what }) => what)).toEqual(["record", "zone"]);
    expect(deletableOrphans(found, [another])).toEqual([]);
    expect(deletableOrphans(within(`${another}/gone`), [another])).toHaveLength(2);
  });
});

test("orphans come in the order in which Azure lets them be deleted", () => {
  const tags = { postern_owner: `${clusterID}/gone` };
  const { zone, links, records } = zoneOf(ids.zone, [ids.guest], { api: "10.0.0.1" });
  const { azure } = oneWorld();
  const found = orphans({
    ...nothing,
    linkServices: [{ ...service(), tags }],
    endpoints: azure.endpoints.map((each) => ({ ...each, tags })),
    zones: [
      {
        zone: { ...zone, tags },
        links: links.map((each) => ({ ...each, tags })),
        records: records.map((each) => ({
          ...each,
          properties: { ...each.properties, metadata: tags },
        })),
      },
    ],
  });
  expect(found.map(({ what }) => what)).toEqual([
    ...["record", "zone link", "zone", "endpoint", "link service"],
  ]);
});
