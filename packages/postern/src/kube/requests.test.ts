import { expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Requests } from "./requests.ts";

test("the annotation that is there at the start is no request, and a new value is one", () => {
  const clock = new ManualClock();
  const requests = new Requests(clock);
  requests.observe("a/b", "1");
  expect(requests.since("a/b")).toBeUndefined();
  requests.observe("a/b", "1");
  expect(requests.since("a/b")).toBeUndefined();
  requests.observe("a/b", "2");
  expect(requests.since("a/b")).toBe(clock.now());
});

test("an annotation that is removed is no request", () => {
  const requests = new Requests(new ManualClock());
  requests.observe("a/b", "1");
  requests.observe("a/b", undefined);
  expect(requests.since("a/b")).toBeUndefined();
});

test("one request a minute counts, however often the annotation changes", async () => {
  const clock = new ManualClock();
  const requests = new Requests(clock);
  requests.observe("a/b", undefined);
  requests.observe("a/b", "1");
  const first = requests.since("a/b");
  await clock.move(59_000);
  requests.observe("a/b", "2");
  expect(requests.add("a/b")).toBe(false);
  expect(requests.since("a/b")).toBe(first);
  await clock.move(1_000);
  expect(requests.add("a/b")).toBe(true);
  expect(requests.since("a/b")).toBe(clock.now());
});

test("a value that comes too soon counts when the minute is over", async () => {
  const clock = new ManualClock();
  const requests = new Requests(clock);
  requests.observe("a/b", undefined);
  requests.observe("a/b", "1");
  await clock.move(20_000);
  requests.observe("a/b", "2");
  expect(requests.dueMs("a/b")).toBe(40_000);
  await clock.move(40_000);
  expect(requests.since("a/b")).toBe(clock.now());
  expect(requests.dueMs("a/b")).toBeUndefined();
});

test("objects do not share their requests, and one that is deleted is forgotten", () => {
  const requests = new Requests(new ManualClock());
  expect(requests.add("a/b")).toBe(true);
  expect(requests.add("a/c")).toBe(true);
  requests.delete("a/b");
  expect(requests.since("a/b")).toBeUndefined();
});
