import { expect, test } from "vitest";
import { asStale, doubtOf } from "./stale.ts";
import type { Picture } from "./types.ts";

const fine = { isConnected: true, failures: 0, failure: undefined, ageMs: 1_000 };

test.each([
  ["that reads is believed", {}, undefined],
  ["of which one read failed is believed", { failures: 1, failure: "no" }, undefined],
  ["of which two reads failed is not", { failures: 2, failure: "no" }, "NotReadable"],
  ["that read nothing for minutes is not", { ageMs: 180_000 }, "Outdated"],
  ["without its server is not", { isConnected: false, failures: 5 }, "NoConnection"],
])("a page %s", (_what, over, reason) => {
  expect(doubtOf({ ...fine, ...over })?.reason).toBe(reason);
});

test("a doubted picture calls every cluster Unknown, says why and how it was, and keeps the causes", () => {
  const cause = { health: "Degraded", reason: "Slow", message: "It is slow." };
  const picture = {
    observedAt: "2026-01-01T00:00:00Z",
    clusters: [{ key: "a/b", health: "Degraded", causes: [cause] }],
  } as unknown as Picture;
  const doubt = doubtOf({ ...fine, failures: 2, failure: "Azure is away · ask it again" });
  const [cluster] = doubt ? asStale(picture, doubt).clusters : [];
  expect(cluster?.health).toBe("Unknown");
  expect(cluster?.causes.map(({ message }) => message)).toEqual([
    "The clusters cannot be read: Azure is away; ask it again. It was Degraded before.",
    "It is slow.",
  ]);
});
