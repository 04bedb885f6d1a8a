import { describe, expect, test } from "vitest";
import { clusterID, ids, oneWorld, service, zoneOf } from "../../test/cli/one-world.ts";
import { mayGo } from "../cli/orphans.ts";
import { type Known, orphansIn } from "./orphans.ts";
import type { AzureWorld } from "./world.ts";

const another = "aaaaaaaa-2c1b-4c55-9d0a-0c8f5d3a7e11";
const known: Known = {
  uids: new Set(["u-link", "u-plane"]),
  places: new Set(["org/amber"]),
  clusterIDs: new Set([clusterID]),
};
const nothing: AzureWorld = {
  ...{
    networks: [],
    loadBalancers: [],
    linkServices: [],
    endpoints: [],
    interfaces: [],
    zones: [],
  },
};
/** What becomes of a link service with these tags. */
const judged = (tags: Record<string, string>) =>
  orphansIn({ ...nothing, linkServices: [{ ...service(), tags }] }, known).map(
    ({ elsewhere }) => elsewhere,
  );

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
  ])("%s", (_what, tags) => {
    expect(judged(tags)).toEqual([]);
  });
});

describe("an orphan", () => {
  test("whose cluster is here may go", () => {
    expect(judged({ postern_owner: `${clusterID}/gone` })).toEqual([[]]);
    expect(mayGo({ elsewhere: [] })).toBe(true);
  });

  test("whose cluster is not here may be another management cluster's: it goes only by name", () => {
    const [elsewhere = []] = judged({ postern_owner: `${another}/x` });
    expect(elsewhere).toEqual([another]);
    expect(mayGo({ elsewhere })).toBe(false);
    expect(mayGo({ elsewhere }, [another.toUpperCase()])).toBe(true);
  });

  test("that a cluster here and one elsewhere used goes only when that one is named too", () => {
    const [elsewhere = []] = judged({
      [`postern_user_${clusterID}`]: "gone",
      [`postern_user_${another}`]: "x",
    });
    expect(elsewhere).toEqual([another]);
    expect(mayGo({ elsewhere }, [clusterID])).toBe(false);
  });

  test("of Cluster API is called by the whole name of its cluster, not by its namespace", () => {
    const [elsewhere = []] = judged({ postern_owner: "org/blue" });
    expect(elsewhere).toEqual(["org/blue"]);
    expect(mayGo({ elsewhere }, ["org"])).toBe(false);
    expect(judged({ postern_owner: "mc.org.blue/uid" })).toEqual([["mc.org.blue"]]);
  });
});

test("orphans come in the order in which Azure lets them be deleted", () => {
  const tags = { postern_owner: `${clusterID}/gone` };
  const { zone, links, records } = zoneOf(ids.zone, [ids.guest], { api: "10.0.0.1" });
  const { azure } = oneWorld();
  const found = orphansIn(
    {
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
    },
    known,
  );
  expect(found.map(({ what }) => what)).toEqual([
    ...["record", "zone link", "zone", "endpoint", "link service"],
  ]);
});
