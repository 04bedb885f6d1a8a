import { expect, test } from "vitest";
import { stormOf } from "./plan.ts";

const strength = { seconds: 1200, faults: true };
const seeds = Array.from({ length: 50 }, (_, n) => n + 1);

test("a seed is always the same storm", () => {
  for (const seed of seeds) expect(stormOf(seed, strength)).toEqual(stormOf(seed, strength));
  expect(stormOf(1, strength).entries).not.toEqual(stormOf(2, strength).entries);
});

test("entries are numbered from 1 in the order of their times", () => {
  for (const seed of seeds) {
    const { entries, seconds } = stormOf(seed, strength);
    expect(entries.map(({ n }) => n)).toEqual(entries.map((_, n) => n + 1));
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).sort((a, b) => a - b));
    expect(entries.every(({ at }) => at >= 0 && at <= seconds)).toBe(true);
  }
});

test("every kind of deed and both layouts are in the storms of fifty seeds", () => {
  const storms = seeds.map((seed) => stormOf(seed, strength));
  expect([...new Set(storms.map(({ layout }) => layout))].sort()).toEqual(["all", "split"]);
  const done = new Set(storms.flatMap(({ entries }) => entries.map((entry) => entry.do)));
  expect([...done].sort()).toEqual([
    "Azure fails",
    "change",
    "create",
    "cut watches",
    "delete",
    "delete all",
    "drop",
    "evict",
    "failing API server",
    "freeze leader",
    "kill API server",
    "kill agent",
    "kill follower",
    "kill leader",
    "machine event",
    "modify",
    "pause",
    "refuse tokens",
    "retag",
    "revoke",
    "slow API server",
    "stranger",
    "unpause",
  ]);
});

test("one request to Azure in ten fails", () => {
  const { entries } = stormOf(1, strength);
  const shares = entries.flatMap((entry) =>
    entry.do === "Azure fails" && !entry.writes ? entry.share : [],
  );
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeGreaterThanOrEqual(0.1);
});
