import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { dateBy } from "@postern/core/clock.ts";
import { expect, test } from "vitest";
import { fastClock } from "./fast-clock.ts";

test("time goes by faster, and waits are as much shorter", () => {
  const real = new ManualClock(1_000);
  const fast = fastClock(10, real);
  const calls: number[] = [];
  fast.after(5_000, () => calls.push(fast.now()));
  real.moveTo(1_499);
  expect(calls).toEqual([]);
  real.moveTo(1_500);
  expect(calls).toEqual([6_000]);
});

test("what bounds the work of others keeps its length", () => {
  const real = new ManualClock(0);
  const calls: string[] = [];
  fastClock(10, real).after(5_000, () => calls.push("late"), { limit: true });
  real.moveTo(4_999);
  expect(calls).toEqual([]);
  real.moveTo(5_000);
  expect(calls).toEqual(["late"]);
});

test("the time of day stays that of the machine", () => {
  const real = new ManualClock(0);
  const fast = fastClock(10, real);
  real.moveTo(60_000);
  expect(fast.now()).toBe(600_000);
  expect(dateBy(fast)).toEqual(new Date(60_000));
  expect(dateBy(real)).toEqual(new Date(60_000));
});
