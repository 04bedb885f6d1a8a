import { expect, test } from "vitest";
import { OwnWrites } from "./own-writes.ts";

/** A write during which these versions arrive, and how often another's change is reported. */
async function reported(arriving: readonly (string | undefined)[], write: () => Promise<string[]>) {
  const own = new OwnWrites();
  let anothers = 0;
  const writing = own.during(
    "a/b",
    async () => {
      for (const version of arriving) own.isAnothers("a/b", version);
      return write();
    },
    () => anothers++,
  );
  await writing.catch(() => undefined);
  return anothers;
}

const succeeds = async () => ["2"];
const fails = async () => {
  throw new Error("the API server is gone");
};

test("the echo of a write that arrives before its answer is not another's change", async () => {
  expect(await reported(["2"], succeeds)).toBe(0);
});

test("another's change that arrives during a write is reported", async () => {
  expect(await reported(["3", "2"], succeeds)).toBe(1);
  expect(await reported([undefined], succeeds)).toBe(1);
});

test("another's change that arrives during a write that fails is reported", async () => {
  expect(await reported(["3"], fails)).toBe(1);
  expect(await reported([], fails)).toBe(0);
});
