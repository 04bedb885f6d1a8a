import { globSync } from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripTypes } from "../scripts/strip-types.ts";

const root = join(import.meta.dirname, "..");

/**
 * A program of a bench as it would be shipped: JavaScript, as `scripts/build-package.ts` makes it. Stripping the types at
 * start costs 30 MB and 0.2 s that no user pays.
 */
export async function shipped(program: string): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "postern-bench-"));
  const sources = ["packages/*/src/**/*.ts", "bench/**/*.ts", "test/**/*.ts", "scripts/*.ts"];
  for (const file of globSync(sources, { cwd: root })) {
    if (/\.(test|d)\.ts$/.test(file)) continue;
    const made = join(folder, builtOf(file));
    await mkdir(dirname(made), { recursive: true });
    await writeFile(made, stripTypes(await readFile(join(root, file), "utf8")));
  }
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await linkModules(folder);
  return {
    path: join(folder, builtOf(program)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The packages are found under their names, as npm would link them: those that were built here, the others in the checkout. */
async function linkModules(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@postern"), { recursive: true });
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "postern" && name !== "@postern")
      await symlink(join(root, "node_modules", name), join(modules, name));
  for (const manifest of globSync("packages/*/package.json", { cwd: root })) {
    const { name } = JSON.parse(await readFile(join(root, manifest), "utf8")) as { name: string };
    await mkdir(dirname(join(folder, manifest)), { recursive: true });
    await copyFile(join(root, manifest), join(folder, manifest));
    await symlink(join(folder, dirname(manifest)), join(modules, name));
  }
}

function builtOf(file: string): string {
  return file.replace(/^(packages\/[^/]+\/)src\//, "$1dist/").replace(/\.ts$/, ".js");
}
