import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { EndReporter } from "./test/setup/reporter.ts";

// A checkout strips types whenever a program starts: kept, that halves the CPU of every command that a test runs.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compile");

/** Whether suites that run on both API servers do so, and the random ones take all their runs: in CI, and by `npm run test:all`. */
const everything = process.env.CI === "true" || process.env.POSTERN_TEST_ALL === "true";
process.env.POSTERN_ATTACKS ??= everything ? "250" : "50";

/** The suites that run on the embedded API and say the same there as on the real one. */
const alike = globSync("test/{kubernetes,system}/**/*.test.ts", {
  cwd: import.meta.dirname,
}).filter(
  (file) =>
    !file.endsWith("same-verdict.test.ts") &&
    !/\b(testOnReal|differs)\(/.test(readFileSync(join(import.meta.dirname, file), "utf8")),
);

/** What is waited for comes in milliseconds, but a busy machine may take its time. */
const patient = { poll: { timeout: 15_000 } };

/** Test files share nothing that changes, so one worker loads the code once for many of them: it halves the CPU of a run. */
const shared = { isolate: false };

export default defineConfig({
  test: {
    reporters: ["default", new EndReporter()],
    // Tests wait half of the time, for servers and for clocks: as many workers as cores would leave the cores idle.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
          testTimeout: 30_000,
          expect: patient,
        },
      },
      {
        test: {
          ...shared,
          name: "chaos",
          include: ["test/chaos/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: "package",
          include: ["test/package/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: "simulator",
          include: ["test/simulator/**/*.test.ts"],
          exclude: process.env.POSTERN_TERRAFORM ? [] : ["test/simulator/terraform.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          ...shared,
          name: "appliance",
          include: ["test/appliance/**/*.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          ...shared,
          name: "local",
          include: ["test/local/**/*.test.ts", "test/cli/**/*.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          ...shared,
          name: "isolation",
          include: ["test/isolation/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: "ui",
          include: ["test/ui/**/*.test.ts"],
          testTimeout: 120_000,
          expect: patient,
        },
      },
      {
        test: {
          ...shared,
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/chaos/**",
            "test/package/**",
            "test/simulator/**",
            "test/appliance/**",
            "test/local/**",
            "test/ui/**",
            "test/cli/**",
            "test/isolation/**",
            ...(everything ? [] : alike),
          ],
          globalSetup: ["test/setup/global.ts"],
          testTimeout: 30_000,
          expect: patient,
        },
      },
      {
        // The same suites, on the embedded API instead of the real kube-apiserver.
        test: {
          ...shared,
          name: "embedded",
          include: ["test/kubernetes/**/*.test.ts", "test/system/**/*.test.ts"],
          // It compares the two API servers by itself.
          exclude: ["test/kubernetes/same-verdict.test.ts"],
          globalSetup: ["test/setup/global-embedded.ts"],
          testTimeout: 30_000,
          expect: patient,
        },
      },
    ],
  },
});
