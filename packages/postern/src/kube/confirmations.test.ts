import { expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Confirmations } from "./confirmations.ts";

function confirmations() {
  const clock = new ManualClock();
  return { clock, made: new Confirmations({ staleReadsMs: 60_000, clock }) };
}

test("a deletion is confirmed by what is read a minute after it was first observed", () => {
  const { clock, made } = confirmations();
  expect(made.wait("a/b")).toBe(60_000);
  clock.moveTo(clock.now() + 40_000);
  expect(made.wait("a/b")).toBe(20_000);
  expect(made.freshSince("a/b")).toBeUndefined();
  clock.moveTo(clock.now() + 20_000);
  expect(made.freshSince("a/b")).toBe(clock.now());
  const since = clock.now();
  clock.moveTo(clock.now() + 5_000);
  expect(made.freshSince("a/b")).toBe(since);
});

test("what does not wait is confirmed by nothing", () => {
  const { clock, made } = confirmations();
  expect(made.freshSince("a/b")).toBeUndefined();
  made.wait("a/b");
  clock.moveTo(clock.now() + 60_000);
  made.delete("a/b");
  expect(made.freshSince("a/b")).toBeUndefined();
  expect(made.wait("a/b")).toBe(60_000);
});

test("an object that was created again under the same name waits anew", () => {
  const { clock, made } = confirmations();
  made.wait("a/b", "first");
  clock.moveTo(clock.now() + 60_000);
  expect(made.wait("a/b", "second")).toBe(60_000);
  expect(made.freshSince("a/b")).toBeUndefined();
});
