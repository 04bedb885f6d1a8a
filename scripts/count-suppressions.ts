// Prints how many times the linter or the compiler is told to look away. Zero is the aim.
import { globSync, readFileSync } from "node:fs";

const mark = /\bbiome-ignore(?:-all|-start)?\s|@ts-(?:ignore|expect-error|nocheck)\b/g;
const files = globSync("{packages/*/{src,bin},test,scripts,bench}/**/*.{ts,tsx,js}");
const found = files
  .filter((file) => file !== "scripts/count-suppressions.ts")
  .flatMap((file) => readFileSync(file, "utf8").match(mark) ?? []);
console.log(`lint suppressions: ${found.length}`);
