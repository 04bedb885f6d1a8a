import { type SpawnOptions, spawn } from "node:child_process";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Something that tests need and that takes minutes to install. */
export interface Installed {
  /** The name of its folder, with its version. */
  name: string;
  /** Changes when anything changes that it is installed from. */
  stamp: string;
  /** What a person reads while it is installed, such as "building helm v4.2.4". */
  what: string;
  tell: (line: string) => void;
  /** What the machine lacks to install it. */
  missing(): Promise<string | undefined>;
  /** Installs it in the folder, and writes the stamp there last. */
  install(folder: string): Promise<void>;
}

/**
 * Finds something in the cache, or installs it there, once for all runs that want it at the same time.
 * The cache is outside of the tree, so a fresh clone of the same version installs nothing.
 */
export async function findOrInstall({
  name,
  stamp,
  what,
  tell,
  missing,
  install,
}: Installed): Promise<{ folder: string } | { missing: string }> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "postern");
  const folder = join(cache, name);
  if (await isInstalled(folder, stamp)) return { folder };
  const lacks = await missing();
  if (lacks !== undefined) return { missing: lacks };
  await mkdir(cache, { recursive: true });
  await withLock(`${folder}.lock`, async () => {
    if (await isInstalled(folder, stamp)) return;
    tell(`${what} into ${folder}, once, for some minutes`);
    await install(folder);
  });
  return { folder };
}

async function isInstalled(folder: string, stamp: string): Promise<boolean> {
  const found = await readFile(join(folder, "stamp"), "utf8").catch(() => "");
  return found === stamp;
}

/**
 * Runs `work` while no other run does. The owner touches the lock as long as it lives; one that is
 * no longer touched belonged to a run that was killed, and is taken over.
 */
async function withLock(lock: string, work: () => Promise<void>): Promise<void> {
  const abandonedAfterMs = 20_000;
  while (!(await take(lock))) {
    const touched = await stat(lock).catch(() => undefined);
    if (touched && Date.now() - touched.mtimeMs > abandonedAfterMs) await rm(lock, { force: true });
    else await sleep(500);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => undefined);
  }, abandonedAfterMs / 8);
  try {
    await work();
  } finally {
    clearInterval(touch);
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Runs a program to its end, and says how it ended. */
export function run(
  command: string,
  args: string[],
  options: SpawnOptions,
): Promise<{ ok: true } | { ok: false; why: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    child.once("error", (error) => resolve({ ok: false, why: error.message }));
    child.once("exit", (code, signal) => {
      resolve(code === 0 ? { ok: true } : { ok: false, why: `exit ${code ?? signal}` });
    });
  });
}
