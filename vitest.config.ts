import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { EndReporter } from "./test/setup/reporter.ts";

/** What is waited for comes in milliseconds, but a busy machine may take its time. */
const patient = { poll: { timeout: 15_000 } };

export default defineConfig({
  test: {
    reporters: ["default", new EndReporter()],
    // Tests mostly wait, for servers and for clocks: on few cores one worker would leave them idle.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          // They share nothing that changes, so that one process may load the code once for all of them.
          isolate: false,
          testTimeout: 30_000,
          expect: patient,
        },
      },
      { test: { name: "chaos", include: ["test/chaos/**/*.test.ts"], testTimeout: 30_000 } },
      { test: { name: "package", include: ["test/package/**/*.test.ts"], testTimeout: 30_000 } },
      {
        test: {
          name: "simulator",
          include: ["test/simulator/**/*.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          name: "appliance",
          include: ["test/appliance/**/*.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          name: "local",
          include: ["test/local/**/*.test.ts", "test/cli/**/*.test.ts"],
          testTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          name: "isolation",
          include: ["test/isolation/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "ui",
          include: ["test/ui/**/*.test.ts"],
          testTimeout: 120_000,
          expect: patient,
        },
      },
      {
        test: {
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
          ],
          globalSetup: ["test/setup/global.ts"],
          testTimeout: 30_000,
          expect: patient,
        },
      },
      {
        // The same suites, on the embedded API instead of the real kube-apiserver.
        test: {
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
