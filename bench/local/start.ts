import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ready } from "@postern/local/ready.ts";

const root = join(import.meta.dirname, "../..");

/** Start local mode and wait until everything in it is available. */
export async function startLocal(
  folder: string,
  ...args: readonly string[]
): Promise<{ child: ChildProcess; ready: Ready }> {
  const readyFile = join(folder, "ready.json");
  const bin = join(root, "packages/postern/bin/postern.js");
  const places = ["--port-base", "0", "--ready-file", readyFile];
  const child = spawn(process.execPath, [bin, "local", ...places, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  while (!text.includes("Everything is available")) {
    if (child.exitCode !== null) throw new Error(`local mode ended with ${child.exitCode}`);
    await sleep(100);
  }
  if (!existsSync(readyFile)) throw new Error("there is no ready file");
  return { child, ready: JSON.parse(readFileSync(readyFile, "utf8")) as Ready };
}
