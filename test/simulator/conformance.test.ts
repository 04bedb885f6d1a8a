import { expect, test } from "vitest";
import { describeWithData } from "../setup/needs.ts";
import { watchAnswers } from "./answers.ts";
import { replayAll } from "./conformance.ts";
import { knownMismatches } from "./known-mismatches.ts";

describeWithData("arm-recordings", "the simulator and the recordings of Azure", (folder) => {
  test("answers as Azure did, but for what is listed with its reason", {
    timeout: 120_000,
  }, async () => {
    const answers = watchAnswers();
    const { recorded, matched, mismatches } = await replayAll(folder, answers?.answered);
    expect(answers?.wrong ?? []).toEqual([]);
    const unknown = mismatches.filter((each) => each.reason === undefined);
    expect(unknown).toEqual([]);
    const found = mismatches.map((each) => `${each.recording}#${each.id}`);
    expect(Object.keys(knownMismatches).filter((each) => !found.includes(each))).toEqual([]);
    expect(recorded).toBe(311);
    expect(matched / recorded).toBeGreaterThanOrEqual(0.95);
  });
});
