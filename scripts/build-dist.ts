// Makes dist/ for the published package: the sources without their types. Node runs TypeScript as it is,
// but not below node_modules: https://nodejs.org/api/typescript.html#type-stripping-in-dependencies
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

rmSync("dist", { recursive: true, force: true });
for (const file of globSync("**/*.ts", { cwd: "src" })) {
  if (/\.(test|d)\.ts$/.test(file)) continue;
  const made = join("dist", file.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(made), { recursive: true });
  writeFileSync(made, withoutTypes(readFileSync(join("src", file), "utf8")));
}

function withoutTypes(source: string): string {
  const relativeImport = /\b((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g;
  return stripTypeScriptTypes(source).replace(relativeImport, '$1.js"');
}
