import type { Failure } from "@postern/core/failure.ts";
import { expect, test } from "vitest";
import { KubeError } from "./errors.ts";
import { tryRead, tryReadNow } from "./try-read.ts";

const refused = new KubeError("Forbidden", "may not be read", { status: 403 });
const throttled = new KubeError("TooManyRequests", "too many requests", { status: 429 });

function refuse(error: Error): never {
  throw error;
}

test("a read that is refused is reported, and recorded: a dry run must not say that nothing would change", async () => {
  const reconcile = { failedReads: [] as Failure[] };
  const failed = expect.objectContaining({ reason: "Forbidden" });
  expect(await tryRead(reconcile, async () => refuse(refused))).toEqual({ failed });
  expect(tryReadNow(reconcile, () => refuse(refused))).toEqual({ failed });
  expect(reconcile.failedReads).toEqual([failed, failed]);
});

test("a transient failure of a read is thrown, except where it may last", async () => {
  const reconcile = { failedReads: [] as Failure[] };
  await expect(tryRead(reconcile, async () => refuse(throttled))).rejects.toBe(throttled);
  expect(() => tryReadNow(reconcile, () => refuse(throttled))).toThrow(throttled);
  expect(reconcile.failedReads).toEqual([]);
  const lasting = { reportsTransient: true } as const;
  expect(await tryRead(reconcile, async () => refuse(throttled), lasting)).toHaveProperty("failed");
  expect(reconcile.failedReads).toHaveLength(1);
});

test("a bug in a read is thrown", async () => {
  const reconcile = { failedReads: [] as Failure[] };
  const bug = new TypeError("undefined is not an object");
  await expect(tryRead(reconcile, async () => refuse(bug))).rejects.toBe(bug);
});
