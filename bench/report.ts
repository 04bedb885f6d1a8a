import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** One figure of a bench. Without a target it is only told, and is `ok` in any case. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  target: string | null;
  ok: boolean;
}

/** What every bench of this project writes: its figures, and where and of what they were taken. */
export interface Report {
  bench: string;
  commit: string;
  node: string;
  cores: number;
  at: string;
  rows: Row[];
  /** For each target that was missed: by how much, and why. */
  notes: string[];
}

/** A figure that must be this high. */
export function atLeast(name: string, value: number, unit: string, target: number): Row {
  return { name, value: rounded(value), unit, target: `>= ${target}`, ok: value >= target };
}

/** A figure that must not be higher. */
export function atMost(name: string, value: number, unit: string, target: number): Row {
  return { name, value: rounded(value), unit, target: `<= ${target}`, ok: value <= target };
}

/** A figure without a target. */
export function told(name: string, value: number, unit: string): Row {
  return { name, value: rounded(value), unit, target: null, ok: true };
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half];
  if (upper === undefined) throw new Error("a median of nothing");
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

/**
 * Put the figures together. `whyMissed` has a sentence for a target that is known to be hard; a row whose value is
 * not a number is a fault of the bench and not a figure.
 */
export function makeReport(
  bench: string,
  rows: readonly Row[],
  whyMissed: Record<string, string> = {},
): Report {
  const broken = rows.find((row) => !Number.isFinite(row.value));
  if (broken) throw new Error(`"${broken.name}" has no value`);
  const notes = rows
    .filter((row) => !row.ok)
    .map((row) => `${row.name}: ${missedBy(row)} · ${whyMissed[row.name] ?? "not explained yet"}`);
  return {
    bench,
    commit: commit(),
    node: process.version,
    cores: availableParallelism(),
    at: new Date().toISOString(),
    rows: [...rows],
    notes,
  };
}

/** The report for people. */
export function asTable(report: Report): string {
  const { bench, commit, node, cores, rows, notes } = report;
  const width = Math.max(...rows.map((row) => row.name.length));
  const lines = rows.map((row) => {
    const value = `${row.value} ${row.unit}`.padStart(16);
    const verdict =
      row.target === null ? "" : `${row.target}`.padEnd(10) + (row.ok ? "ok" : "MISSED");
    return `${row.name.padEnd(width)} ${value}   ${verdict}`.trimEnd();
  });
  const head = `${bench} · commit ${commit} · Node ${node} · ${cores} cores`;
  return [head, "", ...lines, ...(notes.length > 0 ? ["", ...notes] : []), ""].join("\n");
}

/** Print the report, and write it as JSON where a file is named. */
export function publish(report: Report, file: string | undefined): void {
  process.stdout.write(`\n${asTable(report)}`);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
}

function missedBy(row: Row): string {
  const target = Number(row.target?.split(" ")[1]);
  if (target === 0) return `missed by ${row.value} ${row.unit}`;
  return `missed by ${Math.abs(Math.round((row.value / target - 1) * 1000) / 10)} %`;
}

/** Three digits that count, which is more than a shared machine can give. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** What was measured; with a plus where the tree had changes that no commit has. */
function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
    const changed =
      git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench") !== "";
    return git("rev-parse", "--short", "HEAD") + (changed ? "+" : "");
  } catch {
    return "unknown";
  }
}
