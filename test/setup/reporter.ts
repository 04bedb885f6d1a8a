import { writeFileSync, writeSync } from "node:fs";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

declare module "vitest" {
  interface TaskMeta {
    /** Why a suite cannot run on this machine; the reporter names it at the end. */
    whySkipped?: string;
    /** How the embedded API differs, on which a test does therefore not run; it counts as none. */
    differs?: string;
  }
}

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** Each suite of which something was skipped, and why. */
  skippedSuites: Map<string, string>;
  /** Each test that is not for the embedded API, and why. */
  realOnly: Map<string, string>;
  /** Each test or file that failed, with the first line of its error. */
  failures: string[];
  failedFiles: Set<string>;
}

/**
 * Ends a run with what was skipped and why, then the plain line `N passed, N failed`.
 * A run that ran nothing, or that skipped anything where `CI=true`, has failed. The files that failed are written to
 * `POSTERN_FAILED_FILES`, where that names a file and they are all that failed.
 */
export class EndReporter implements Reporter {
  private tally: Tally = emptyTally();
  private partly = false;
  private inFilesOnly = false;

  onInit(vitest: Vitest): void {
    if (vitest.config.watch) return;
    this.partly = vitest.config.testNamePattern !== undefined;
    // At the very end, because Vitest may still have something to say after the last reporter.
    process.once("exit", () => this.end());
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    this.tally = count(modules, this.partly);
    this.tally.failed += errors.length;
    this.inFilesOnly = errors.length === 0;
    this.tally.failures.push(...errors.map((error) => failureLine("outside of a test", [error])));
  }

  private end(): void {
    const { passed, skipped, skippedSuites, realOnly, failures } = this.tally;
    const skippedInCi = skipped > 0 && process.env.CI === "true";
    if (passed === 0 || skippedInCi) process.exitCode ||= 1;
    const failed = this.tally.failed || (process.exitCode && !skippedInCi ? 1 : 0);
    if (failed > 0) process.exitCode ||= 1;
    const { POSTERN_FAILED_FILES: list } = process.env;
    if (list && this.inFilesOnly && !skippedInCi)
      writeFileSync(list, [...this.tally.failedFiles].map((file) => `${file}\n`).join(""));

    const lines = [
      ...[...realOnly].map(([test, why]) => `not on the embedded API: ${test} (${why})`),
      ...[...skippedSuites].map(([suite, why]) => `skipped: ${suite} (${why})`),
      ...failures.map((failure) => `failed: ${failure}`),
    ];
    if (passed === 0 && this.tally.failed === 0) lines.push("no test ran to its end");
    if (skippedInCi) lines.push("CI=true, where nothing may be skipped: the run has failed");
    lines.push(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    writeSync(1, `${lines.join("\n")}\n`);
  }
}

function emptyTally(): Tally {
  return {
    passed: 0,
    failed: 0,
    skipped: 0,
    skippedSuites: new Map(),
    realOnly: new Map(),
    failures: [],
    failedFiles: new Set(),
  };
}

/** Counts what happened; `partly` is a run of some tests by name, where the others do not count. */
function count(modules: readonly TestModule[], partly: boolean): Tally {
  const tally = emptyTally();
  for (const module of modules) {
    let failed = 0;
    for (const test of module.children.allTests()) {
      const { differs } = test.meta();
      if (differs !== undefined && test.result().state === "skipped") {
        tally.realOnly.set(`${test.module.relativeModuleId} > ${test.fullName}`, differs);
        continue;
      }
      const outcome = outcomeOf(test);
      if (outcome.is === "passed") tally.passed++;
      else if (outcome.is === "failed") {
        failed++;
        tally.failures.push(
          failureLine(`${test.module.relativeModuleId} > ${test.fullName}`, outcome.errors),
        );
      } else if (!partly || outcome.why !== unexplained) {
        tally.skipped++;
        tally.skippedSuites.set(suiteOf(test), outcome.why);
      }
    }
    // A file that did not load, or a hook that threw, fails without a failed test.
    if (failed === 0 && !module.ok()) {
      failed = 1;
      tally.failures.push(failureLine(module.relativeModuleId, module.errors()));
    }
    tally.failed += failed;
    if (failed > 0) tally.failedFiles.add(module.relativeModuleId);
  }
  return tally;
}

const unexplained = "no reason given";

type Outcome =
  | { is: "passed" }
  | { is: "failed"; errors: readonly unknown[] }
  | { is: "skipped"; why: string };

function outcomeOf(test: TestCase): Outcome {
  const result = test.result();
  if (result.state === "passed") return { is: "passed" };
  if (result.state !== "skipped") return { is: "failed", errors: result.errors ?? [] }; // also one that never ended
  let why = result.note;
  for (let above = test.parent; above.type === "suite"; above = above.parent) {
    const errors = above.errors();
    if (errors.length > 0) return { is: "failed", errors }; // a hook threw, so its tests did not run
    why ??= above.meta().whySkipped;
  }
  return { is: "skipped", why: why ?? unexplained };
}

/** A failure in one line: what failed, and how its first error begins. */
function failureLine(what: string, errors: readonly unknown[]): string {
  const [error] = errors;
  const message = error instanceof Object && "message" in error ? String(error.message) : undefined;
  return message ? `${what} (${message.split("\n")[0]?.slice(0, 200)})` : what;
}

/** The file and the outermost suite of a test, or its own name where it stands alone. */
function suiteOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName.split(" > ")[0]}`;
}
