import { expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import { DueHeap } from "./due-heap.ts";

test("gives what is due, earliest first, one entry for a key, the earlier time holding", () => {
  const command = fc.oneof(
    fc.record({ do: fc.constant("set" as const), key: fc.nat(20).map(String), at: fc.nat(1000) }),
    fc.record({ do: fc.constant("remove" as const), key: fc.nat(20).map(String) }),
    fc.record({ do: fc.constant("take" as const), now: fc.nat(1000) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
      const heap = new DueHeap<number>();
      const model = new Map<string, number>();
      for (const each of commands) {
        if (each.do === "set") {
          heap.set(each.key, each.at, each.at);
          model.set(each.key, Math.min(each.at, model.get(each.key) ?? Number.POSITIVE_INFINITY));
        } else if (each.do === "remove") {
          heap.remove(each.key);
          model.delete(each.key);
        } else {
          const due = [...model].filter(([, at]) => at <= each.now);
          const taken = [...heap.takeUntil(each.now)];
          expect(taken.map((one) => one.value)).toEqual(
            due.map(([, at]) => at).sort((a, b) => a - b),
          );
          expect(new Set(taken.map((one) => one.key))).toEqual(new Set(due.map(([key]) => key)));
          for (const [key] of due) model.delete(key);
        }
        expect(heap.size).toBe(model.size);
        const least = Math.min(...model.values());
        expect(heap.earliest).toBe(model.size === 0 ? undefined : least);
      }
    }),
  );
});
