import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOrInstall, run } from "./cache.ts";

const requirements = join(import.meta.dirname, "../azure-python/requirements.txt");
const check = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))";

/** Where the Azure CLI is, and the Python that has it and Azure's SDK. */
export interface AzurePython {
  /** The folder of `az` and of `python`. */
  programs: string;
  python: string;
}

/** Finds the Azure CLI and Azure's SDK for Python in the cache, or installs them; only for suites that ask for them. */
export async function findOrInstallAzurePython(
  tell: (line: string) => void,
): Promise<AzurePython | { missing: string }> {
  const text = await readFile(requirements, "utf8");
  const version = /^azure-cli==(.*)$/m.exec(text)?.[1];
  if (version === undefined) throw new Error(`${requirements} requires no azure-cli`);
  const stamp = createHash("sha256").update(text).digest("hex");
  const found = await findOrInstall({
    name: `azure-python-${version}`,
    stamp,
    what: `installing the Azure CLI ${version}`,
    tell,
    missing: async () =>
      (await run("python3", ["-c", check], { stdio: "ignore" })).ok
        ? undefined
        : "Python 3.10 or later with venv and ensurepip is not on the PATH, and the Azure CLI runs on it",
    install: (folder) => install(folder, stamp),
  });
  if ("missing" in found) return found;
  const programs = join(found.folder, "bin");
  return { programs, python: join(programs, "python") };
}

/** Its programs name its folder, so it cannot be moved there when it is complete: the stamp, which comes last, says that it is. */
async function install(folder: string, stamp: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const pip = join(folder, "bin/pip");
  // Compiling all of it takes longer than installing it; Python compiles what is used.
  const wanted = ["install", "--quiet", "--no-compile", "--no-deps", "-r", requirements];
  for (const [program, args] of [
    ["python3", ["-m", "venv", folder]],
    [pip, wanted],
  ] as const) {
    const ran = await run(program, [...args], { stdio: ["ignore", "inherit", "inherit"] });
    if (!ran.ok) throw new Error(`${program} ${args[0]} failed: ${ran.why}`);
  }
  await writeFile(join(folder, "stamp"), stamp);
}
