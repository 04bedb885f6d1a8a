import { expect, test } from "vitest";
import { ZoneTurns, zoneTurns } from "./zone-turns.ts";

test.each(["whole", "links"] as const)(
  "some zones of an identity are read in five minutes (%s), and as many of each other identity",
  (what) => {
    const turns = new ZoneTurns();
    const [one, other] = [{}, {}];
    const granted = Array.from({ length: 100 }, (_, n) => turns.take(what, one, n * 1_000));
    expect(granted.filter(Boolean)).toHaveLength(zoneTurns[what]);
    expect(turns.take(what, other, 100_000)).toBe(true);
    expect(turns.take(what, one, 299_999)).toBe(false);
    expect(turns.take(what, one, 300_001)).toBe(true);
  },
);
