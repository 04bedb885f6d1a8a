import { describe, expect, test } from "vitest";
import type { Stored } from "../resource.ts";
import { jsonPatch } from "./json-patch.ts";

const object: Stored = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  data: { a: "1", "b/c": "2" },
  list: ["x", "y", "z"],
};

function patched(...operations: unknown[]): Record<string, unknown> {
  const result = jsonPatch(object, operations);
  if ("refused" in result) throw new Error(result.refused.message);
  return result.object;
}

describe("a JSON patch", () => {
  test("adds, replaces, removes, moves and copies", () => {
    expect(
      patched(
        { op: "add", path: "/data/n", value: "3" },
        { op: "replace", path: "/data/b~1c", value: "4" },
        { op: "remove", path: "/list/0" },
        { op: "move", from: "/data/a", path: "/data/moved" },
        { op: "copy", from: "/list", path: "/data/copied" },
        { op: "test", path: "/data/moved", value: "1" },
        { op: "add", path: "/list/-", value: "end" },
      ),
    ).toMatchObject({
      data: { n: "3", "b/c": "4", moved: "1", copied: ["y", "z"] },
      list: ["y", "z", "end"],
    });
  });

  test("leaves the object that it was given as it is", () => {
    const before = structuredClone(object);
    patched({ op: "remove", path: "/data/a" }, { op: "add", path: "/list/0", value: "w" });
    expect(object).toEqual(before);
  });

  test("takes the liberties that kube-apiserver takes", () => {
    expect(patched({ op: "replace", path: "/data/new", value: "1" })).toMatchObject({
      data: { new: "1" },
    });
    expect(patched({ op: "remove", path: "/list/-1" }).list).toEqual(["x", "y"]);
    expect(patched({ op: "add", path: "/list/-1", value: "e" }).list).toEqual(["x", "y", "z", "e"]);
    expect(patched({ op: "test", path: "/data/none", value: null }).list).toEqual(object.list);
    expect(patched({ op: "copy", from: "/data/none", path: "/list/0" }).list).toEqual([
      null,
      "x",
      "y",
      "z",
    ]);
  });

  test.each([
    ["a test that fails", { op: "test", path: "/data/a", value: "2" }],
    ["a test of what is absent", { op: "test", path: "/data/none", value: "2" }],
    ["removing what is absent", { op: "remove", path: "/data/none" }],
    ["adding below what is absent", { op: "add", path: "/none/a", value: 1 }],
    ["an index that is none", { op: "replace", path: "/list/one", value: 1 }],
    ["an index behind the end", { op: "copy", from: "/data/a", path: "/list/7" }],
    ["moving to behind the end of what is left", { op: "move", from: "/list/0", path: "/list/3" }],
    ["moving into its own child", { op: "move", from: "/data", path: "/data/a" }],
    ["an operation that does not exist", { op: "merge", path: "/data", value: {} }],
    ["a path that is none", { op: "add", path: "data", value: {} }],
    ["a member that objects inherit", { op: "remove", path: "/data/toString" }],
    ["making a list of the object", { op: "replace", path: "", value: [] }],
  ])("is refused with 422 for %s", (_, operation) => {
    expect(jsonPatch(object, [operation])).toMatchObject({
      refused: { code: 422, reason: "Invalid" },
    });
  });

  test.each(["/__proto__/polluted", "/data/constructor/prototype/polluted", "/data/__proto__"])(
    "does not reach a prototype by %s",
    (path) => {
      const result = jsonPatch(object, [{ op: "add", path, value: { polluted: 1 } }]);
      expect(result).toMatchObject({ refused: { code: 422 } });
      expect({}).not.toHaveProperty("polluted");
    },
  );

  test("is refused with 400 where it is no list of operations", () => {
    expect(jsonPatch(object, { op: "add" })).toMatchObject({ refused: { code: 400 } });
    expect(jsonPatch(object, ["add"])).toMatchObject({ refused: { code: 400 } });
  });

  test("is refused with 413 for more than ten thousand operations", () => {
    const operation = { op: "test", path: "/kind", value: "ConfigMap" };
    expect(jsonPatch(object, Array(10_001).fill(operation))).toMatchObject({
      refused: { code: 413, reason: "RequestEntityTooLarge" },
    });
  });
});
