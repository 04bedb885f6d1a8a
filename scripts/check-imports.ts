// Imports go one way. `npm run check` runs this over src and names every import that goes against it.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const foundations = ["model", "azure", "kube"];
const features = ["hosted", "capi", "appliance"];
const programs = ["view", "operator", "agent", "server", "cli", "local"];

/** What the code in each folder of src may import, beside its own folder. */
const mayImport: Record<string, string[]> = {
  model: [],
  azure: ["model"],
  kube: ["model"],
  simulator: ["model"],
  ...Object.fromEntries(features.map((feature) => [feature, foundations])),
  ...Object.fromEntries(
    ["main.ts", "programs.ts", ...programs].map((program) => [
      program,
      [...foundations, ...features, "simulator", "programs.ts", ...programs],
    ]),
  ),
};

/** Says why a file of src may not import what it does, one line for each such import. */
export function wrongImports(file: string, source: string): string[] {
  const from = folderOf(file);
  if (!(from in mayImport)) {
    return [`${file}: src/${from} is not in the table of scripts/check-imports.ts`];
  }
  return relativeImports(source).flatMap((specifier) => {
    const target = join(dirname(file), specifier);
    const outside = !target.startsWith("src/");
    if (outside && /\.test\.ts$/.test(file) && target.startsWith("test/")) return [];
    if (outside) return [`${file} imports ${target}: src imports nothing outside src`];
    const to = folderOf(target);
    if (to === from || mayImport[from]?.includes(to)) return [];
    return [`${file} imports ${target}: ${from} may import ${listed(mayImport[from] ?? [])}`];
  });
}

function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function relativeImports(source: string): string[] {
  const statement = /\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']/g;
  return Array.from(source.matchAll(statement), (match) => match[1] ?? "");
}

function listed(folders: string[]): string {
  return folders.length === 0 ? "no other folder" : `only ${folders.join(", ")}`;
}

if (import.meta.main) {
  const files = globSync("src/**/*.ts");
  const wrong = files.flatMap((file) => wrongImports(file, readFileSync(file, "utf8")));
  for (const line of wrong) console.error(line);
  console.log(`imports: ${files.length} files, ${wrong.length} wrong`);
  if (wrong.length > 0) process.exitCode = 1;
}
