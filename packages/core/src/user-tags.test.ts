import { expect, test } from "vitest";
import { parseUserTags, userTagsTag, withUserTags } from "./user-tags.ts";

test("tags are read from pairs", () => {
  expect(parseUserTags(" team=blue, cost-center = 42 ,, note=a=b")).toEqual({
    tags: { team: "blue", "cost-center": "42", note: "a=b" },
  });
  expect(parseUserTags("")).toEqual({ tags: {} });
});

test.each([
  "postern_owner=a/b",
  "Postern_Owner=a/b",
  "postern_user_6f1a0d5e=x",
  "postern_left_by=a/b",
  "postern_installation=0f0f0f0f",
  "postern_tags=team=blue",
  "kubernetes.io_cluster_two=owned",
  "KUBERNETES.IO_cluster_two=owned",
  "hypershift.openshift.io_resource-type=vnet-link",
  "sigs.k8s.io_cluster-api-provider-azure_cluster_x=owned",
  "k8s-azure-service=x",
  "microsoft.x=y",
  "Azure=y",
  "windows-x=y",
  "hidden-link=y",
])("attack: the tag %s is rejected", (text) => {
  expect(parseUserTags(text)).toEqual({ wrong: expect.stringContaining("are reserved") });
});

test.each([
  ["no pair", "team", "is not name=value"],
  ["no name", "=blue", "is not name=value"],
  ["a name that Azure refuses", "a/b=c", "is not name=value"],
  ["a name of another script", "tеam=c", "is not name=value"],
  ["a value with a line break", "a=b\nc", "printable ASCII"],
  ["a name twice, in another case", "team=a,Team=b", "twice"],
  ["too many", "a=1,b=1,c=1,d=1,e=1,f=1", "more than 5"],
  ["a long value", `a=${"x".repeat(255)}`, "longer than 256"],
  ["long names", `${"x".repeat(200)}=1,${"y".repeat(200)}=2`, "longer than 256"],
  ["a long text", `a=b,${",".repeat(2_000_000)}`, "longer than 256"],
])("%s is rejected", (_, text, wrong) => {
  expect(parseUserTags(text)).toEqual({ wrong: expect.stringContaining(wrong) });
});

const otherTags = { x: "y", postern_owner: "a/b" };

test("tags that are asked for are written once, changed and removed, and those of others stay", () => {
  const first = withUserTags(otherTags, { team: "blue", a: "1" });
  expect(first).toEqual({ ...otherTags, team: "blue", a: "1", [userTagsTag]: "a=1,team=blue" });
  expect(withUserTags(first, { a: "1", team: "blue" })).toBe(first);
  const second = withUserTags(first, { team: "red" });
  expect(second).toEqual({ ...otherTags, team: "red", [userTagsTag]: "team=red" });
  expect(withUserTags(second, {})).toEqual(otherTags);
  expect(withUserTags(otherTags, {})).toBe(otherTags);
});

test("a value that somebody changes stays, and is not removed with the tag that was asked for", () => {
  const changed = { ...withUserTags(otherTags, { team: "blue" }), team: "of a policy" };
  expect(withUserTags(changed, { team: "blue" })).toBe(changed);
  expect(withUserTags(changed, {})).toEqual({ ...otherTags, team: "of a policy" });
  expect(withUserTags(changed, { team: "red" })).toMatchObject({ team: "red" });
});

test("a tag in another case is the same tag", () => {
  expect(withUserTags({ Team: "x" }, { team: "blue" })).toEqual({
    team: "blue",
    [userTagsTag]: "team=blue",
  });
});

test("nothing changes while it is not known what is asked for", () => {
  const tags = withUserTags(otherTags, { team: "blue" });
  expect(withUserTags(tags, undefined)).toBe(tags);
});

test("attack: a forged list has the tags of the owner removed", () => {
  const forged = { ...otherTags, [userTagsTag]: "postern_owner=a/b,x=y" };
  expect(withUserTags(forged, { team: "blue" })).toEqual({
    ...otherTags,
    team: "blue",
    [userTagsTag]: "team=blue",
  });
});

test("a resource with no room for more tags stays as it is", () => {
  const full = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`t${at}`, "x"]));
  expect(withUserTags(full, { team: "blue" })).toBe(full);
});
