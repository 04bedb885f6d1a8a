// Fills a package of the workspace with what `npm pack` takes: dist/, which is its sources without their types (Node strips none
// below node_modules: https://nodejs.org/api/typescript.html#type-stripping-in-dependencies), the types of what programs may
// import, and copies of what lies at the root of the checkout. npm runs it in the folder of the package, and with --clean after
// packing, which removes all of it. `--into FOLDER` makes dist there and nothing else.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { stripTypes, withJsImports } from "./strip-types.ts";

/** What a package has beside its sources. */
interface Contents {
  /** The sources whose types are published, by glob below src; with them those of all that they import. */
  types?: string;
  /** What is copied from the root, beside the licence. */
  copies: readonly string[];
}

const packages: Readonly<Record<string, Contents>> = {
  core: { types: "**/*.ts", copies: [] },
  postern: {
    types: "appliance/index.ts",
    copies: [
      ...["CHANGELOG.md", "README.md", "docs"],
      ...["examples/agent", "examples/appliance", "manifests"],
    ],
  },
  "azure-simulator": {
    types: "index.ts",
    copies: [
      "docs/reference/simulator.md",
      "docs/reference/simulator-control.md",
      "examples/simulator",
    ],
  },
  "kubernetes-embedded": { types: "index.ts", copies: ["docs/reference/local-kubernetes.md"] },
  local: { copies: ["examples/local"] },
  dashboard: { copies: [] },
};

const { values } = parseArgs({ options: { clean: { type: "boolean" }, into: { type: "string" } } });
const root = join(import.meta.dirname, "..");
const name = basename(process.cwd());
const contents = packages[name];
if (contents === undefined)
  throw new Error(`${name} is no package of scripts/build-package.ts: run it in the folder of one`);
const { types, copies } = contents;

if (values.clean) clean();
else if (name === "dashboard") {
  await import("./build-dashboard.ts");
  copy();
} else {
  const dist = values.into ?? "dist";
  rmSync(dist, { recursive: true, force: true });
  makeSources(dist);
  if (name === "postern") await makeAgent(dist);
  if (types !== undefined) makeTypes(types, dist);
  if (values.into === undefined) copy();
}

function makeSources(dist: string): void {
  for (const file of globSync("**/*.ts", { cwd: "src" })) {
    if (/\.(test|d)\.ts$/.test(file)) continue;
    const made = join(dist, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(made), { recursive: true });
    writeFileSync(made, stripTypes(readFileSync(join("src", file), "utf8")));
  }
}

/** The agent's main has all that it imports in one file: its start is counted, and eighty files cost more than one. */
async function makeAgent(dist: string): Promise<void> {
  const agent = await rolldown({ input: "src/agent/main.ts", platform: "node", tsconfig: false });
  const { output } = await agent.generate({ format: "esm", codeSplitting: false, comments: false });
  await agent.close();
  const [bundle, ...rest] = output;
  if (rest.length > 0)
    throw new Error(`the agent is more than one file: ${rest.map(({ fileName }) => fileName)}`);
  writeFileSync(join(dist, "agent/main.js"), withFewReads(bundle.code));
}

/** An import of a module of Node reads every name in it, and some of them load more. This reads those that are wanted. */
function withFewReads(code: string): string {
  return code.replace(
    /^import (\{[^}]*\}) from "(node:[\w/]+)";$/gm,
    (_, names: string, from: string) =>
      `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule("${from}");`,
  );
}

/** The compiler follows imports into the other packages, which publish their own types: only those of this one are taken. */
function makeTypes(pattern: string, dist: string): void {
  const entries = globSync(pattern, { cwd: "src" }).filter((file) => !/\.(test|d)\.ts$/.test(file));
  const folder = mkdtempSync(join(tmpdir(), "postern-types-"));
  const declare = "--declaration --emitDeclarationOnly --noEmit false --rootDir .. --outDir";
  const settings =
    "--target es2024 --module nodenext --lib es2024 --types node --strict --exactOptionalPropertyTypes --skipLibCheck --allowImportingTsExtensions";
  const words = [...declare.split(" "), folder, ...settings.split(" "), "--ignoreConfig"];
  try {
    execFileSync(
      join(root, "node_modules/.bin/tsc"),
      [...words, ...entries.map((file) => join("src", file))],
      { stdio: "inherit" },
    );
    const made = join(folder, name, "src");
    for (const file of globSync("**/*.d.ts", { cwd: made })) {
      const types = join(dist, file);
      mkdirSync(dirname(types), { recursive: true });
      writeFileSync(types, withJsImports(readFileSync(join(made, file), "utf8")));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function copy(): void {
  for (const each of ["LICENSE", ...copies]) cpSync(join(root, each), each, { recursive: true });
}

function clean(): void {
  const tops = ["LICENSE", ...copies].map((each) => each.split("/")[0] ?? each);
  // The dashboard of a checkout is served from its dist.
  if (name !== "dashboard") tops.push("dist");
  for (const each of tops) rmSync(each, { recursive: true, force: true });
}
