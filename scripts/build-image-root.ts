// Fills a folder with what the image has below /app: the published package, and the dependencies that it needs, as npm ci
// installed and verified them. The Dockerfile runs it; it needs no network. Usage: build-image-root.ts FOLDER
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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
  const packed = pack();
  try {
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
      const tarball = packed.tarballs.get(name);
      if (tarball === undefined)
        cpSync(from, to, { recursive: true, dereference: true, filter: isNeeded });
      else {
        mkdirSync(to, { recursive: true });
        execFileSync("tar", ["-xzf", tarball, "-C", to, "--strip-components=1"]);
        for (const each of ["docs", "examples", "CHANGELOG.md", "README.md"])
          rmSync(join(to, each), { recursive: true, force: true });
      }
      for (const each of Object.keys(dependencies)) {
        const found = resolve(each, from);
        // Beside the package where it lies beside it in the checkout, and at the top elsewhere.
        const nested = found.startsWith(join(from, "node_modules"));
        pending.push([found, nested ? join(to, "node_modules", each) : join(modules, each)]);
      }
    }
  } finally {
    packed.remove();
  }
}

/** Our own packages, as they are published. */
function pack(): { tarballs: Map<string, string>; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "postern-image-"));
  const workspaces = ["core", "dashboard", "postern"].flatMap((name) => ["-w", `packages/${name}`]);
  const args = ["pack", "--json", "--pack-destination", folder, ...workspaces];
  const text = execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  const packed = JSON.parse(text) as { name: string; filename: string }[];
  return {
    tarballs: new Map(packed.map(({ name, filename }) => [name, join(folder, filename)])),
    remove: () => rmSync(folder, { recursive: true }),
  };
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
