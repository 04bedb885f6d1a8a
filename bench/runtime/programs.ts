import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const module = join(import.meta.dirname, "go");

/** The Go programs of the bench, as paths. */
export interface GoPrograms {
  controller: string;
  stub: string;
}

/**
 * Finds the Go programs in the cache, or builds them and keeps them there. The cache is outside the tree and its
 * folder is named by what they are made from, so that nothing in it is ever stale.
 */
export async function findOrBuildGo(tell: (line: string) => void): Promise<GoPrograms> {
  const hash = createHash("sha256");
  for (const file of globSync("**/*.{go,mod,sum}", { cwd: module }).toSorted())
    hash.update(`${file}\0`).update(await readFile(join(module, file)));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "postern");
  const folder = join(cache, `bench-runtime-${hash.digest("hex").slice(0, 16)}`);
  const programs = { controller: join(folder, "controller"), stub: join(folder, "stub") };
  const built = await stat(programs.stub).catch(() => undefined);
  if (built) return programs;

  tell(`building the Go programs of the bench into ${folder}, once, for some minutes`);
  await mkdir(cache, { recursive: true });
  // Built beside the place and moved there whole: a killed build leaves nothing that looks finished.
  const building = await mkdtemp(`${folder}.building-`);
  try {
    await go(["build", "-trimpath", "-o", `${building}/`, "./controller", "./stub"]);
    // Another run may have been faster; its programs are the same.
    await rename(building, folder).catch(() => undefined);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return programs;
}

function go(args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("go", args, { cwd: module, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", (cause) =>
      reject(new Error("Go is needed to build what we compare with", { cause })),
    );
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`go build failed: exit ${code}`)),
    );
  });
}
