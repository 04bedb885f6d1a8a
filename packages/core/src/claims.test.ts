import { expect, test } from "vitest";
import { claimsIn, isClaimedBy, lastUserIn, withClaim, withoutClaim } from "./claims.ts";

const a = { clusterID: "aaaa", uid: "1" };
const b = { clusterID: "bbbb", uid: "2" };

test("each cluster that uses a resource has a claim of its own, beside the tags of others", () => {
  const both = withClaim(withClaim({ team: "x" }, a), b);
  expect(claimsIn(both)).toEqual([a, b]);
  expect(withoutClaim(both, a)).toEqual({ team: "x", postern_user_bbbb: "2" });
});

test("a claim is found whatever the case of its tag, and only with the right uid", () => {
  const tags = { POSTERN_USER_AAAA: "1" };
  expect(isClaimedBy(tags, a)).toBe(true);
  expect(isClaimedBy(tags, { ...a, uid: "9" })).toBe(false);
  expect(withClaim(tags, a)).toBe(tags);
  expect(claimsIn(withoutClaim(tags, a))).toEqual([]);
});

test("the last claim leaves a note of who used the resource, until the next cluster claims it", () => {
  const both = withClaim(withClaim({ team: "x" }, a), b);
  expect(lastUserIn(both)).toBeUndefined();
  expect(lastUserIn(withoutClaim(both, a))).toBeUndefined();
  const remaining = withoutClaim(withoutClaim(both, a), b);
  expect(remaining).toEqual({ team: "x", postern_left_by: "bbbb/2" });
  expect(lastUserIn(remaining)).toEqual(b);
  expect(withClaim(remaining, a)).toEqual({ team: "x", postern_user_aaaa: "1" });
  expect(lastUserIn({ ...remaining, POSTERN_USER_AAAA: "1" })).toBeUndefined();
  expect(lastUserIn({ postern_left_by: "nonsense" })).toBeUndefined();
});

test("nothing is changed where there is nothing to change", () => {
  const tags = { team: "x" };
  expect(claimsIn(tags)).toEqual([]);
  expect(claimsIn(undefined)).toEqual([]);
  expect(withoutClaim(tags, a)).toBe(tags);
});
