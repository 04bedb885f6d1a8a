import { expect, test } from "vitest";
import { clockFinding } from "./doctor-cluster.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [0, "ok", "the same time"],
  [900, "ok", "the same time"],
  [-20_000, "ok", "19 s apart"],
  [45_000, "warning", "44 s apart"],
  [-3_600_000, "wrong", "3599 s apart"],
])("a clock that is %i ms off is %s", (offMs, verdict, found) => {
  const told = clockFinding("Azure", now + offMs, now);
  expect(told).toMatchObject({ check: "clock skew", about: "Azure", verdict, found });
  expect(told.remedy === undefined).toBe(verdict === "ok");
});
