import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeWithData } from "../setup/needs.ts";
import { watchAnswers } from "./answers.ts";
import { replayCli } from "./cli-conformance.ts";
import { rowsOf, unexplained } from "./cli-report.ts";
import { replayAll } from "./conformance.ts";
import { cliMismatches, knownMismatches } from "./known-mismatches.ts";

const page = readFileSync(
  new URL("../../docs/reference/simulator.md", import.meta.url),
  "utf8",
).replaceAll("\n", " ");

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
    expect(page).toContain(
      `of ${recorded} interactions of cloud-provider-azure ${matched} are equal`,
    );
    expect(matched / recorded).toBeGreaterThanOrEqual(0.95);
  });
});

describeWithData(
  "azure-cli-recordings",
  "the simulator and the Azure CLI's recordings",
  (folder) => {
    test("answers what it supports as Azure did, but for what is known", {
      timeout: 120_000,
    }, async () => {
      const answers = watchAnswers();
      const replayed = await replayCli(folder, answers?.answered);
      expect(answers?.wrong ?? []).toEqual([]);
      const different = unexplained(replayed);
      expect(different.filter((each) => each.reason === undefined)).toEqual([]);
      const found = new Set(different.map((each) => each.reason));
      expect(cliMismatches.filter(({ reason }) => !found.has(reason))).toEqual([]);
      const all = rowsOf(replayed).at(-1);
      expect(all?.supported).toBeGreaterThanOrEqual(1590);
      expect(page).toContain(
        `of the ${all?.supported} requests of the Azure CLI's tests that the simulator supports ${all?.status} have the recorded status and ${all?.body} the recorded body`,
      );
      expect((all?.status ?? 0) / (all?.supported ?? 1)).toBeGreaterThanOrEqual(0.98);
      expect((all?.body ?? 0) / (all?.supported ?? 1)).toBeGreaterThanOrEqual(0.95);
    });
  },
);
