import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "./run-bin.ts";

const run = promisify(execFile);

/** The packages as `npm pack` makes them. */
export interface Packed {
  /** What is in each, by the name of the package. */
  files: Readonly<Record<string, readonly string[]>>;
  /** Installs some of them, and those of ours that they depend on, into an empty folder. Gives the folder. */
  install(...names: string[]): Promise<string>;
  remove(): void;
}

/** Packs every package of the workspace. */
export async function packAll(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), "postern-pack-"));
  const args = ["pack", "--workspaces", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const packed = JSON.parse(stdout) as {
    name: string;
    filename: string;
    files: { path: string }[];
  }[];
  const tarballs = new Map(packed.map((each) => [each.name, join(folder, each.filename)]));
  return {
    files: Object.fromEntries(
      packed.map(({ name, files }) => [name, files.map(({ path }) => path)]),
    ),
    install: (...names) => install(names, tarballs, mkdtempSync(join(folder, "installed-"))),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** As npm would, but with the dependencies of this checkout, so that nothing is downloaded: those that are declared, and no other. */
async function install(
  names: readonly string[],
  tarballs: ReadonlyMap<string, string>,
  folder: string,
): Promise<string> {
  const modules = join(folder, "node_modules");
  const wanted = new Set(names);
  for (const name of wanted) {
    const place = join(modules, name);
    mkdirSync(dirname(place), { recursive: true });
    const tarball = tarballs.get(name);
    if (tarball === undefined) {
      symlinkSync(join(root, "node_modules", name), place);
      continue;
    }
    mkdirSync(place);
    await run("tar", ["-xzf", tarball, "-C", place, "--strip-components=1"]);
    const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const each of Object.keys(manifest.dependencies ?? {})) wanted.add(each);
  }
  return folder;
}
