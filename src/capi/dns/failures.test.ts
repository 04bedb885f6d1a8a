import { expect, test } from "vitest";
import { AzureError } from "../../azure/errors.ts";
import { isExplained } from "../../model/failure.ts";
import { Failures } from "./failures.ts";

const forbidden = () =>
  new AzureError({ code: "AuthorizationFailed", what: "write it", status: 403, said: "no" });
const explained = (error: unknown) => (isExplained(error) ? error.explain() : undefined);

test("what failed for the first time is looked at again at once, so that it can be told", () => {
  const failures = new Failures();
  expect(explained(failures.note("a/b", forbidden()))).toMatchObject({
    reason: "AuthorizationFailed",
    requeueAfterMs: 1_000,
  });
  expect(failures.take("a/b")).toMatchObject([{ reason: "AuthorizationFailed" }]);
});

test("what was told already is looked at again in its own time", () => {
  const failures = new Failures();
  failures.note("a/b", forbidden());
  failures.take("a/b");
  expect(explained(failures.note("a/b", forbidden()))).toMatchObject({ requeueAfterMs: 600_000 });
});

test("what passes by itself is not told", () => {
  const failures = new Failures();
  const changed = new AzureError({ code: "PreconditionFailed", what: "write it", status: 412 });
  expect(failures.note("a/b", changed)).toBe(changed);
  expect(failures.take("a/b")).toEqual([]);
});

test("each key has its own", () => {
  const failures = new Failures();
  failures.note("a/b", forbidden());
  expect(failures.take("a/c")).toEqual([]);
  expect(failures.take("a/b")).toHaveLength(1);
  expect(failures.take("a/b")).toEqual([]);
});
