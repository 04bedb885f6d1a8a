// Imports go one way, between the packages and within `postern`. `npm run check` runs this over the packages and names every
// import that goes against it, every dependency that is imported and not declared, and every one that nobody imports.
import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";

/** Which packages of ours each package may import. Their unit tests keep to it too. */
const mayImportPackages: Record<string, string[]> = {
  core: [],
  dashboard: ["core"],
  postern: ["core", "dashboard"],
  "azure-simulator": ["core"],
  "kubernetes-embedded": ["core"],
  local: ["core", "postern", "azure-simulator", "kubernetes-embedded"],
};

/** What a file may load where it is installed, by `import()` and without declaring it. */
const mayLoad: Record<string, string[]> = {
  "packages/postern/src/programs.ts": ["local", "azure-simulator"],
};

const foundations = ["azure", "kube"];
const domain = ["private-link", "private-dns"];
const features = ["hosted", "cluster-api", "appliance"];
const below = [...foundations, ...domain];
const shared = [...below, ...features, "view"];

/** Which folders of `postern` each of its folders may import. */
const mayImportFolders: Record<string, string[]> = {
  azure: [],
  kube: [],
  "private-link": foundations,
  "private-dns": foundations,
  hosted: below,
  "cluster-api": below,
  appliance: below,
  view: [...below, ...features],
  server: shared,
  operator: [...shared, "server"],
  agent: [...foundations, "appliance"],
  cli: [...shared, "operator"],
  install: [...shared, "cli"],
  "programs.ts": ["agent", "cli", "install", "operator"],
  "main.ts": ["cli", "programs.ts"],
};

/** An import as it is written. */
interface Import {
  specifier: string;
  /** `import()`: nothing is loaded before it is needed. */
  lazy: boolean;
}

/** Says why a file of a package may not import what it does, one line for each such import. */
export function wrongImports(file: string, source: string): string[] {
  const owner = packageOf(file);
  if (!(owner in mayImportPackages))
    return [`${file}: packages/${owner} is not in the table of scripts/check-imports.ts`];
  const folder = folderOf(file);
  if (owner === "postern" && !(folder in mayImportFolders))
    return [`${file}: the folder ${folder} is not in the table of scripts/check-imports.ts`];
  return importsOf(source).flatMap((each) => {
    const { specifier } = each;
    const why = specifier.startsWith(".")
      ? whyNotFile(file, join(dirname(file), specifier))
      : whyNotPackage(file, each);
    return why === undefined ? [] : [`${file} imports ${specifier}: ${why}`];
  });
}

function whyNotFile(file: string, target: string): string | undefined {
  const owner = packageOf(file);
  if (!target.startsWith(`packages/${owner}/src/`)) {
    if (isTest(file) && target.startsWith("test/")) return undefined;
    return "a relative import stays in its package";
  }
  const [from, to] = [folderOf(file), folderOf(target)];
  const allowed = mayImportFolders[from] ?? [];
  if (owner !== "postern" || from === to || allowed.includes(to)) return undefined;
  return `${from} may import ${listed(allowed, "folder")}`;
}

function whyNotPackage(file: string, { specifier, lazy }: Import): string | undefined {
  if (isBuiltin(specifier)) return undefined;
  const owner = packageOf(file);
  const [, name = ""] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];
  const ours = /^(?:@postern\/(.+)|(postern))$/.exec(name);
  const called = ours?.[1] ?? ours?.[2];
  if (called !== undefined) {
    if (lazy && mayLoad[file]?.includes(called)) return undefined;
    const allowed = mayImportPackages[owner] ?? [];
    if (!allowed.includes(called)) return `${owner} may import ${listed(allowed, "package")}`;
  }
  if (declaredBy(`packages/${owner}`, isTest(file)).includes(name)) return undefined;
  return `packages/${owner}/package.json does not declare ${name}`;
}

/** What a package declares. The dashboard is bundled, so that nobody who installs it needs what it is made of. */
function declaredBy(folder: string, forTest: boolean): string[] {
  const { dependencies, devDependencies } = manifestOf(folder);
  const bundled = folder === "packages/dashboard";
  return [
    ...Object.keys(dependencies ?? {}),
    ...(bundled ? Object.keys(devDependencies ?? {}) : []),
    ...(forTest ? Object.keys(manifestOf(".").devDependencies ?? {}) : []),
  ];
}

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const root = join(import.meta.dirname, "..");
const manifests = new Map<string, Manifest>();

function manifestOf(folder: string): Manifest {
  const known = manifests.get(folder);
  if (known !== undefined) return known;
  const read = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
  manifests.set(folder, read);
  return read;
}

/** The dependencies of a package that none of its sources imports. */
export function unusedDependencies(owner: string, sources: readonly string[]): string[] {
  const imported = sources.flatMap(importsOf).map(({ specifier }) => specifier);
  const uses = (name: string) =>
    imported.some((each) => each === name || each.startsWith(`${name}/`)) ||
    sources.some((source) => source.includes(`.resolve("${name}/`));
  return declaredBy(`packages/${owner}`, false)
    .filter((name) => !uses(name))
    .map((name) => `packages/${owner}/package.json declares ${name}, and nothing imports it`);
}

function packageOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function folderOf(file: string): string {
  return file.split("/")[3] ?? "";
}

function isTest(file: string): boolean {
  return /\.test\.ts$/.test(file);
}

function importsOf(source: string): Import[] {
  const statement = /(?<![.\w])(?:from\s*|import\s*(\()?\s*)["'](@?[\w.][\w./:@-]*)["']/g;
  return Array.from(source.matchAll(statement), ([, bracket, specifier = ""]) => ({
    specifier,
    lazy: bracket !== undefined,
  }));
}

function listed(names: string[], kind: string): string {
  return names.length === 0 ? `no other ${kind}` : `only ${names.join(", ")}`;
}

if (import.meta.main) {
  const files = globSync("packages/*/src/**/*.{ts,tsx}");
  const sources = files.map((file) => ({ file, source: readFileSync(file, "utf8") }));
  const wrong = sources.flatMap(({ file, source }) => wrongImports(file, source));
  for (const owner of Object.keys(mayImportPackages)) {
    const own = sources.filter(({ file }) => packageOf(file) === owner && !isTest(file));
    wrong.push(
      ...unusedDependencies(
        owner,
        own.map(({ source }) => source),
      ),
    );
  }
  for (const line of wrong) console.error(line);
  console.log(`imports: ${files.length} files, ${wrong.length} wrong`);
  if (wrong.length > 0) process.exitCode = 1;
}
