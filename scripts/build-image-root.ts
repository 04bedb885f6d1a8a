// Fills a folder with what the image has below /app: the published package, and the dependencies that it needs, as npm ci
// installed and verified them. The Dockerfile runs it; it needs no network. Usage: build-image-root.ts FOLDER
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

/** Fill a folder. What was in it is deleted. */
export function buildImageRoot(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const modules = join(folder, "node_modules");
  mkdirSync(modules, { recursive: true });
  // Where a dependency lies, and where it goes: nested ones stay nested.
  const pending: [from: string, to: string][] = [
    [join(root, "packages/postern"), join(modules, "postern")],
  ];
  const done = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [from, to] = next;
    if (done.has(to)) continue;
    done.add(to);
    const { name, dependencies = {} } = manifestIn(from);
    const own = /^(?:@postern\/)?(postern|core|dashboard)$/.exec(name)?.[1];
    if (own !== undefined) copyOwn(own, to);
    else cpSync(from, to, { recursive: true, dereference: true, filter: isNeeded });
    for (const each of Object.keys(dependencies)) {
      const found = resolve(each, from);
      const nested = found.startsWith(join(from, "node_modules"));
      pending.push([found, nested ? join(to, "node_modules", each) : join(modules, each)]);
    }
  }
}

/** One of our own packages, as it is published, without pages and types. */
function copyOwn(name: string, to: string): void {
  const folder = join(root, "packages", name);
  mkdirSync(to, { recursive: true });
  cpSync(join(folder, "package.json"), join(to, "package.json"));
  cpSync(join(root, "LICENSE"), join(to, "LICENSE"));
  // npm ci has built the dashboard.
  if (name === "dashboard") cpSync(join(folder, "dist"), join(to, "dist"), { recursive: true });
  else {
    const script = join(root, "scripts/build-package.ts");
    const flags = ["--disable-warning=ExperimentalWarning", script, "--into", join(to, "dist")];
    execFileSync(process.execPath, flags, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    for (const file of globSync("dist/**/*.d.ts", { cwd: to })) rmSync(join(to, file));
  }
  if (name !== "postern") return;
  cpSync(join(folder, "bin"), join(to, "bin"), { recursive: true });
  cpSync(join(root, "manifests"), join(to, "manifests"), { recursive: true });
}

/** Where Node finds a dependency of a package. */
function resolve(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return place;
    if (relative(root, folder) === "")
      throw new Error(`${name}, which ${from} needs, is not installed`);
  }
}

/** What runs: no types, source maps or pages. Folders are not judged by their names: some packages have code in doc/. */
function isNeeded(path: string): boolean {
  return !/\.([cm]?ts|map|md|flow)$/.test(path) && basename(path) !== "node_modules";
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("give the folder to fill");
  buildImageRoot(folder);
}
