// Makes dist/ for the published package, or the folder that is named: the sources without their types. Node runs TypeScript as it is,
// but not below node_modules: https://nodejs.org/api/typescript.html#type-stripping-in-dependencies
// Beside them go the types of what programs may import, the library postern/appliance. The agent's main has all that it
// imports in one file: its start is counted, and eighty files cost more than one.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

const [dist = "dist"] = process.argv.slice(2);
rmSync(dist, { recursive: true, force: true });
for (const file of globSync("**/*.ts", { cwd: "src" })) {
  if (/\.(test|d)\.ts$/.test(file)) continue;
  const made = join(dist, file.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(made), { recursive: true });
  writeFileSync(made, withoutTypes(readFileSync(join("src", file), "utf8")));
}

const agent = await rolldown({ input: "src/agent/main.ts", platform: "node", tsconfig: false });
const { output } = await agent.generate({ format: "esm", codeSplitting: false, comments: false });
await agent.close();
const [bundle, ...rest] = output;
if (rest.length > 0)
  throw new Error(`the agent is more than one file: ${rest.map(({ fileName }) => fileName)}`);
writeFileSync(join(dist, "agent/main.js"), withFewReads(bundle.code));

const declare = "--declaration --emitDeclarationOnly --noEmit false --rootDir src --outDir";
const settings =
  "--target es2024 --module nodenext --lib es2024 --types node --strict --exactOptionalPropertyTypes --skipLibCheck --allowImportingTsExtensions";
const words = [...declare.split(" "), dist, ...settings.split(" "), "--ignoreConfig"];
execFileSync("node_modules/.bin/tsc", [...words, "src/appliance/index.ts"], { stdio: "inherit" });
for (const file of globSync(join(dist, "**/*.d.ts")))
  writeFileSync(file, withJsImports(readFileSync(file, "utf8")));

function withoutTypes(source: string): string {
  return withJsImports(stripTypeScriptTypes(source));
}

/** An import of a module of Node reads every name in it, and some of them load more. This reads those that are wanted. */
function withFewReads(code: string): string {
  return code.replace(
    /^import (\{[^}]*\}) from "(node:[\w/]+)";$/gm,
    (_, names: string, from: string) =>
      `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule("${from}");`,
  );
}

function withJsImports(source: string): string {
  return source.replace(/\b((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g, '$1.js"');
}
