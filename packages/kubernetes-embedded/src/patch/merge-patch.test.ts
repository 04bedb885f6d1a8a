import { describe, expect, test } from "vitest";
import type { Stored } from "../resource.ts";
import { mergePatch } from "./merge-patch.ts";

const object: Stored = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  data: { a: "1", b: "2" },
};

function patched(patch: unknown): unknown {
  const result = mergePatch(object, patch);
  if ("refused" in result) throw new Error(result.refused.message);
  return result.object;
}

describe("a merge patch", () => {
  test("merges objects, replaces all else and removes what is null", () => {
    expect(
      patched({ data: { a: null, c: ["x"] }, metadata: { labels: { l: "1", m: null } } }),
    ).toEqual({
      ...object,
      metadata: { ...object.metadata, labels: { l: "1" } },
      data: { b: "2", c: ["x"] },
    });
  });

  test("replaces a value by an object", () => {
    expect(patched({ data: { a: { deep: { x: 1, y: null } } } })).toMatchObject({
      data: { a: { deep: { x: 1 } } },
    });
  });

  test("leaves the object that it was given as it is", () => {
    const before = structuredClone(object);
    patched({ data: { a: "9" }, metadata: { labels: {} } });
    expect(object).toEqual(before);
  });

  test("does not reach a prototype", () => {
    patched(
      JSON.parse(
        '{"__proto__":{"polluted":1},"data":{"constructor":{"prototype":{"polluted":1}}}}',
      ),
    );
    expect({}).not.toHaveProperty("polluted");
  });

  test("is refused with 400 where it is no object", () => {
    expect(mergePatch(object, [])).toMatchObject({ refused: { code: 400, reason: "BadRequest" } });
  });
});
