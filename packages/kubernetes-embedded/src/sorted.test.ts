import { expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import { Sorted } from "./sorted.ts";

const keys = fc.constantFrom("a/x", "a/y", "a-b/x", "ab/x", "b/x", "b/y", "c/z");

test("values are listed by their keys, of one namespace or of all, from a key on", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("set", "delete", "list"), keys), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(steps, keys, (all, from) => {
      const sorted = new Sorted<string>();
      const plain = new Map<string, string>();
      for (const [what, key] of all) {
        if (what === "list") sorted.range();
        else if (what === "delete") {
          sorted.delete(key);
          plain.delete(key);
        } else {
          sorted.set(key, `the ${key}`);
          plain.set(key, `the ${key}`);
        }
      }
      const expected = [...plain].sort(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted.range()).toEqual(expected.map(([, value]) => value));
      expect(sorted.range("a", from)).toEqual(
        expected.filter(([key]) => key.startsWith("a/") && key >= from).map(([, value]) => value),
      );
      expect(sorted.size).toBe(plain.size);
    }),
  );
});
