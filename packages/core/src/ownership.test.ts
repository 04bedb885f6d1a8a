import { describe, expect, test } from "vitest";
import {
  isOrphaned,
  isOwnedBy,
  isSameCluster,
  ownedTags,
  ownerIn,
  ownerKey,
  ownership,
} from "./ownership.ts";

const us = { clusterID: "c1", uid: "u1" };

test("what we make carries HyperShift's tags and our owner", () => {
  expect(ownedTags("blue", "private-link-service", us)).toEqual({
    "kubernetes.io_cluster_blue": "owned",
    "hypershift.openshift.io_resource-type": "private-link-service",
    postern_owner: "c1/u1",
  });
});

test("a cluster whose name cannot stand in a tag is refused before Azure refuses it", () => {
  expect(() => ownedTags("a/b", "vnet-link", us)).toThrow("its name holds /");
  expect(() => ownedTags("blue", "vnet-link", { ...us, uid: "u".repeat(300) })).toThrow(
    "its value is longer than 256 characters",
  );
});

test("a cluster id in another case is the same cluster, and an unknown one is none", () => {
  expect(isSameCluster({ clusterID: "c1" }, { clusterID: "C1" })).toBe(true);
  expect(isSameCluster({ clusterID: "c1" }, { clusterID: "c2" })).toBe(false);
  expect(isSameCluster({ clusterID: undefined }, { clusterID: undefined })).toBe(false);
  expect(isSameCluster({ clusterID: "" }, { clusterID: "" })).toBe(false);
  expect(isOwnedBy({ postern_owner: "C1/u1" }, ownerKey("c1", "u1"))).toBe(true);
  expect(isOwnedBy({ postern_owner: "c1/U1" }, ownerKey("c1", "u1"))).toBe(false);
});

test("the owner is read back from what was written", () => {
  expect(ownerIn(ownedTags("blue", "vnet-link", us))).toEqual(us);
  expect(ownerIn({})).toBeUndefined();
});

describe("a resource is", () => {
  test.each([
    ["ours by the tag that we write", { postern_owner: "c1/u1" }, { is: "ours" }],
    ["ours under another case of the tag's name", { POSTERN_OWNER: "c1/u1" }, { is: "ours" }],
    ["nobody's without tags", undefined, { is: "nobody" }],
    ["nobody's with other tags only", { team: "net" }, { is: "nobody" }],
    [
      "nobody's yet, and HyperShift's for a cluster",
      { "kubernetes.io_cluster_blue": "owned" },
      { is: "nobody", hostedCluster: "blue" },
    ],
    [
      "nobody's where two clusters are named",
      { "kubernetes.io_cluster_blue": "owned", "kubernetes.io_cluster_red": "owned" },
      { is: "nobody" },
    ],
    [
      "nobody's where a cluster shares it",
      { "kubernetes.io_cluster_blue": "shared" },
      { is: "nobody" },
    ],
    [
      "another cluster's",
      { postern_owner: "c2/u1" },
      { is: "another", described: "another cluster", owner: { clusterID: "c2", uid: "u1" } },
    ],
    [
      "another object's of our cluster",
      { postern_owner: "c1/u2" },
      {
        is: "another",
        described: "object u2 of the same cluster",
        owner: { clusterID: "c1", uid: "u2" },
      },
    ],
    [
      "ours where the cluster id is written in another case",
      { postern_owner: "C1/u1" },
      { is: "ours" },
    ],
    [
      "another object's where the uid is written in another case",
      { postern_owner: "C1/U1" },
      {
        is: "another",
        described: "object U1 of the same cluster",
        owner: { clusterID: "C1", uid: "U1" },
      },
    ],
    [
      "another's where the owner cannot be read",
      { postern_owner: "somebody" },
      {
        is: "another",
        described: "whoever wrote its tag postern_owner, in a form that is not ours",
      },
    ],
  ])("%s", (_what, tags, found) => {
    expect(ownership(tags, us)).toEqual(found);
  });
});

test.each([
  ["of our cluster, by an object that is gone", "c-1/uid-0", true],
  ["of our cluster, in another case, by an object that is gone", "C-1/uid-0", true],
  ["of our cluster, by an object that exists", "c-1/uid-2", false],
  ["of another cluster, by an object that nobody knows", "c-2/uid-0", false],
  ["that is ours", "c-1/uid-1", false],
  ["with a tag that says nothing", "c-1", false],
])("whether a resource %s was left behind is reported by its tag", (_what, tag, left) => {
  const made = { clusterID: "c-1", uid: "uid-1" };
  const exists = (uid: string) => uid === "uid-2";
  expect(isOrphaned({ postern_owner: tag }, made, exists)).toBe(left);
  expect(isOrphaned({ postern_owner: tag }, { ...made, clusterID: undefined }, exists)).toBe(false);
});
