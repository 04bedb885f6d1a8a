// Makes dist/ for the published package: the sources without their types. Node runs TypeScript as it is,
// but not below node_modules: https://nodejs.org/api/typescript.html#type-stripping-in-dependencies
// Beside them go the types of what programs may import, the library postern/appliance.
import { execFileSync } from "node:child_process";
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

const declare = "--declaration --emitDeclarationOnly --noEmit false --outDir dist --rootDir src";
const settings =
  "--target es2024 --module nodenext --lib es2024 --types node --strict --exactOptionalPropertyTypes --skipLibCheck --allowImportingTsExtensions";
const words = [...declare.split(" "), ...settings.split(" "), "--ignoreConfig"];
execFileSync("node_modules/.bin/tsc", [...words, "src/appliance/index.ts"], { stdio: "inherit" });
for (const file of globSync("dist/**/*.d.ts"))
  writeFileSync(file, withJsImports(readFileSync(file, "utf8")));

function withoutTypes(source: string): string {
  return withJsImports(stripTypeScriptTypes(source));
}

function withJsImports(source: string): string {
  return source.replace(/\b((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g, '$1.js"');
}
