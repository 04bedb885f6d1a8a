// Writes docs/reference/api and schemas/ from packages/core/src/kinds; with --check it only compares.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { definitions } from "@postern/core/definitions.ts";
import { indexPage, kindPage, pageOf } from "./api-reference/pages.ts";
import { editorSchemas } from "./api-reference/schemas.ts";

const root = join(import.meta.dirname, "..");
const pages = "docs/reference/api";
const schemas = "schemas";

/** Every generated file: path in the repository → text. */
export function wantedFiles(): Map<string, string> {
  return new Map([
    [`${pages}/README.md`, indexPage(definitions)],
    ...definitions.map((each) => [`${pages}/${pageOf(each)}`, kindPage(each)] as const),
    ...[...editorSchemas(definitions)].map(([file, text]) => [`${schemas}/${file}`, text] as const),
  ]);
}

/** The generated files that are missing, out of date, or of no kind. */
export function outOfStep(): string[] {
  const wanted = wantedFiles();
  const stale = [...wanted].filter(([file, text]) => read(file) !== text).map(([file]) => file);
  return [...stale, ...present().filter((file) => !wanted.has(file))];
}

function present(): string[] {
  return globSync([`${pages}/*.md`, `${schemas}/**/*.json`], { cwd: root });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    return undefined;
  }
}

function writeAll(): void {
  const wanted = wantedFiles();
  for (const file of present()) if (!wanted.has(file)) rmSync(join(root, file));
  for (const [file, text] of wanted) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const files = outOfStep();
    for (const file of files) console.error(`${file} is behind: run npm run generate`);
    process.exitCode = files.length > 0 ? 1 : 0;
  } else writeAll();
}
