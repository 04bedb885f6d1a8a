import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { root } from "./run-bin.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs Vitest with our reporter over the given test files, and gives its exit code and last lines. */
async function run(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<{ exitCode: number; lines: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "postern-reporter-"));
  folders.push(folder);
  const reporter = JSON.stringify(join(root, "test/setup/reporter.ts"));
  writeFileSync(
    join(folder, "vitest.config.mjs"),
    `import { EndReporter } from ${reporter};
     export default { test: { globals: true, reporters: ["default", new EndReporter()] } };`,
  );
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, "run", "--root", folder],
      { env: { ...process.env, CI: "", NO_COLOR: "1", POSTERN_FAILED_FILES: "", ...env } },
      (error, stdout) => {
        const exitCode = error ? Number(error.code) : 0;
        resolve({ exitCode, lines: stdout.trimEnd().split("\n") });
      },
    );
  });
}

const passing = 'test("passes", () => undefined);';
const skipping = `
  import { describeWhere } from ${JSON.stringify(join(root, "test/setup/needs.ts"))};
  describeWhere("there is no Go", "the cluster", () => {
    test("one", () => undefined);
    test("two", () => undefined);
  });
`;

test("a good run ends with the counts alone", async () => {
  const { exitCode, lines } = await run({ "a.test.ts": passing, "b.test.ts": passing });
  expect(lines.slice(-2)).toEqual(["", "2 passed, 0 failed"]);
  expect(exitCode).toBe(0);
});

test("failed are a test, a file that does not load, each test below a broken hook, a lost error", async () => {
  const { exitCode, lines } = await run({
    "a.test.ts": passing,
    "b.test.ts": `${passing} test("fails", () => expect(1).toBe(2));`,
    "c.test.ts": 'import "./absent.ts";',
    "d.test.ts": `describe("s", () => { beforeAll(() => { throw new Error("no"); }); ${passing} });`,
    "e.test.ts": `${passing} afterAll(() => { throw new Error("no"); });`,
    "f.test.ts": `test("loses", () => { Promise.reject(new Error("lost")); });`,
  });
  expect(lines.filter((line) => line.startsWith("failed: ")).sort()).toEqual([
    "failed: b.test.ts > fails (expected 1 to be 2 // Object.is equality)",
    expect.stringMatching(/^failed: c\.test\.ts \(.*absent\.ts/),
    "failed: d.test.ts > s > passes (no)",
    "failed: e.test.ts (no)",
    "failed: outside of a test (lost)",
  ]);
  expect(lines.at(-1)).toBe("4 passed, 5 failed");
  expect(exitCode).toBe(1);
});

test("the files that failed are listed where they are all that failed", async () => {
  const list = join(mkdtempSync(join(tmpdir(), "postern-failed-")), "list");
  folders.push(dirname(list));
  const failing = 'test("fails", () => expect(1).toBe(2));';
  const files = {
    "a.test.ts": passing,
    "b.test.ts": failing,
    "c.test.ts": 'import "./absent.ts";',
  };
  const env = { POSTERN_FAILED_FILES: list };
  expect((await run(files, env)).exitCode).toBe(1);
  expect(readFileSync(list, "utf8").split("\n").sort()).toEqual(["", "b.test.ts", "c.test.ts"]);
  rmSync(list);
  const losing = `test("loses", () => { Promise.reject(new Error("lost")); });`;
  expect((await run({ ...files, "d.test.ts": losing }, env)).exitCode).toBe(1);
  expect(existsSync(list)).toBe(false);
});

test("a skipped suite is named with its reason", async () => {
  const { exitCode, lines } = await run({ "a.test.ts": passing, "b.test.ts": skipping });
  expect(lines.slice(-2)).toEqual([
    "skipped: b.test.ts > the cluster (there is no Go)",
    "1 passed, 0 failed, 2 skipped",
  ]);
  expect(exitCode).toBe(0);
});

test("with CI=true a skipped suite fails the run", async () => {
  const files = { "a.test.ts": passing, "b.test.ts": skipping };
  const { exitCode, lines } = await run(files, { CI: "true" });
  expect(lines.slice(-2)).toEqual([
    "CI=true, where nothing may be skipped: the run has failed",
    "1 passed, 0 failed, 2 skipped",
  ]);
  expect(exitCode).toBe(1);
});

test("a test that is not for the embedded API is named and fails no run", async () => {
  const differing = `${passing} test.skip("rights", { meta: { differs: "no roles" } }, () => {});`;
  const { exitCode, lines } = await run({ "a.test.ts": differing }, { CI: "true" });
  expect(lines.slice(-2)).toEqual([
    "not on the embedded API: a.test.ts > rights (no roles)",
    "1 passed, 0 failed",
  ]);
  expect(exitCode).toBe(0);
});

test("a run without a test has failed", async () => {
  const { exitCode, lines } = await run({});
  expect(lines.slice(-2)).toEqual(["no test ran to its end", "0 passed, 1 failed"]);
  expect(exitCode).toBe(1);
});
