// How much of two files of different features is the same: the share of their runs of five tokens that both have, imports and
// comments left out. `node scripts/measure-overlap.ts` prints the pairs that have most in common.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Two files, and what share of the runs of five tokens of both they have in common. */
export interface Overlap {
  files: [string, string];
  share: number;
}

/** From here on two files should share code instead of having it twice. */
export const mostOverlap = 0.15;

const runLength = 5;
/** A shorter file is little more than the signature of its room. */
const fewestRuns = 30;
const folders = ["hosted", "cluster-api", "private-link", "private-dns"];
const source = "packages/postern/src";

/** The overlaps of all pairs of files of different features and domain folders, the largest first. */
export function overlaps(root: string): Overlap[] {
  const pattern = `${source}/{${folders.join(",")}}/**/*.ts`;
  const files = globSync(pattern, { cwd: root, exclude: ["**/*.test.ts", "**/testing.ts"] });
  const features = files
    .filter((file) => file.endsWith("/feature.ts"))
    .map((file) => dirname(file));
  const read = files
    .map((file) => ({
      file,
      feature: featureOf(file, features),
      runs: runsOf(readFileSync(join(root, file), "utf8")),
    }))
    .filter(({ runs }) => runs.size >= fewestRuns);
  const found: Overlap[] = [];
  for (const [at, one] of read.entries())
    for (const other of read.slice(at + 1))
      if (one.feature !== other.feature)
        found.push({ files: [one.file, other.file], share: shareOf(one.runs, other.runs) });
  return found.toSorted((a, b) => b.share - a.share);
}

/** The folder of a feature, such as cluster-api/endpoints/workload; else that of an Azure thing, or of what features share. */
function featureOf(file: string, features: readonly string[]): string {
  const feature = features.find((folder) => file.startsWith(`${folder}/`));
  return (
    feature ??
    file
      .slice(source.length + 1)
      .split("/")
      .slice(0, -1)
      .slice(0, 2)
      .join("/")
  );
}

/** All runs of five tokens in a source text. */
export function runsOf(text: string): Set<string> {
  const code = text.replace(/^import\s[^;]*;$/gm, "").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const tokens = code.match(/"(?:\\.|[^"\\])*"|[\w$]+|[^\s\w$]/g) ?? [];
  return new Set(
    tokens
      .slice(0, Math.max(0, tokens.length - runLength + 1))
      .map((_, at) => tokens.slice(at, at + runLength).join(" ")),
  );
}

/** The Jaccard index: what both have, of what either has. */
export function shareOf(one: Set<string>, other: Set<string>): number {
  const both = [...one].filter((run) => other.has(run)).length;
  return both === 0 ? 0 : both / (one.size + other.size - both);
}

if (import.meta.main)
  for (const { files, share } of overlaps(process.cwd()).slice(0, 25))
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${files.join("  ")}`);
