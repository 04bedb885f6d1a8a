import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");

/**
 * A program of a bench as it would be shipped: JavaScript, as `scripts/build-dist.ts` makes it. Stripping the types at
 * start costs 30 MB and 0.2 s that no user pays.
 */
export async function shipped(program: string): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "postern-bench-"));
  for (const file of globSync(["src/**/*.ts", "bench/**/*.ts", "test/**/*.ts"], { cwd: root })) {
    if (/\.(test|d)\.ts$/.test(file)) continue;
    const made = join(folder, file.replace(/\.ts$/, ".js"));
    await mkdir(dirname(made), { recursive: true });
    await writeFile(made, withoutTypes(await readFile(join(root, file), "utf8")));
  }
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    path: join(folder, program.replace(/\.ts$/, ".js")),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function withoutTypes(source: string): string {
  return stripTypeScriptTypes(source).replace(
    /\b((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g,
    '$1.js"',
  );
}
