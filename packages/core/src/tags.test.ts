import { describe, expect, test } from "vitest";
import { isExplained } from "./failure.ts";
import { checkedTags, TagError, type Tags, tagOf, withTags } from "./tags.ts";

describe("a tag", () => {
  const refused: [what: string, tags: Tags, why: string][] = [
    ["has no name", { "": "x" }, 'Azure refuses the tag "": its name is empty'],
    ["has a slash in its name", { "a/b": "x" }, 'Azure refuses the tag "a/b": its name holds /'],
    ["has a long value", { a: "x".repeat(257) }, "its value is longer than 256 characters"],
    ["has a long name", { ["a".repeat(513)]: "x" }, "its name is longer than 512 characters"],
    ...["<", ">", "%", "&", "\\", "?"].map((c): [string, Tags, string] => [
      `has ${c} in its name`,
      { [`a${c}`]: "" },
      `its name holds ${c}`,
    ]),
  ];

  test.each(refused)("that %s is refused", (_what, tags, why) => {
    expect(() => checkedTags(tags)).toThrow(why);
  });

  test("at every limit is accepted", () => {
    const tags = { ["a".repeat(512)]: "x".repeat(256), "kubernetes.io_cluster_x": "<%&\\?/>" };
    expect(checkedTags(tags)).toBe(tags);
  });

  test("that is refused is explained to the user", () => {
    const error = new TagError("a", "its name is odd");
    expect(isExplained(error)).toBe(true);
    expect(error.explain().reason).toBe("InvalidTag");
  });

  test("is found whatever the case of its name", () => {
    expect(tagOf({ Postern_Owner: "x" }, "postern_owner")).toBe("x");
    expect(tagOf({ other: "x" }, "postern_owner")).toBeUndefined();
    expect(tagOf(null, "postern_owner")).toBeUndefined();
  });
});

describe("tags with ours among them", () => {
  test("keep everybody else's", () => {
    expect(withTags({ team: "net" }, { a: "1" })).toEqual({ team: "net", a: "1" });
  });

  test("replace a value of ours, also under another case", () => {
    expect(withTags({ A: "0", team: "net" }, { a: "1" })).toEqual({ team: "net", a: "1" });
  });

  test("are the same object where nothing differs", () => {
    const existing = { A: "1", team: "net" };
    expect(withTags(existing, { a: "1" })).toBe(existing);
  });
});
