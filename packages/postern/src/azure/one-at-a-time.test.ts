import { expect, test } from "vitest";
import { OneAtATime } from "./one-at-a-time.ts";

test("work on one id is done in order, in any case of letters, also after a failure", async () => {
  const turns = new OneAtATime();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.run("/A", async () => {
    await gate.promise;
    done.push("first");
    throw new Error("no");
  });
  const second = turns.run("/a", async () => done.push("second"));
  await turns.run("/b", async () => done.push("other"));
  gate.resolve();
  await expect(first).rejects.toThrow("no");
  await second;
  expect(done).toEqual(["other", "first", "second"]);
});
