import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";

const root = join(import.meta.dirname, "../..");

// Missed targets do not count here: for two clusters they say nothing.
describeOnCluster("a bench of the operator", () => {
  test.each([
    ["hosted", "2 clusters: time to all Available"],
    ["cluster-api", "2 clusters: time to every endpoint and name"],
  ])(
    "%s comes to its end, and its memory is measured",
    { timeout: 120_000 },
    async (bench, row) => {
      const words = [join(root, `bench/${bench}.ts`), "--clusters", "2"];
      const printed = await new Promise<string>((resolve) =>
        execFile(process.execPath, words, { cwd: root }, (_, stdout, stderr) =>
          resolve(stdout + stderr),
        ),
      );
      expect(printed).toContain(row);
      const [, memory] = /2 clusters: memory +([\d,.]+) MB/.exec(printed) ?? [];
      expect(Number(memory?.replace(",", ""))).toBeGreaterThan(10);
    },
  );
});
