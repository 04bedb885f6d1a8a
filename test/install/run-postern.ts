import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../packages/postern/bin/postern.js", import.meta.url));

/** How a command ended. */
export interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs `postern` to its end, with nothing of Azure in its environment. */
export async function runPostern(...args: string[]): Promise<Ended> {
  return await runPosternBy({}, ...args);
}

/** The same with further variables, such as a credential for Azure. */
export async function runPosternBy(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...Object.fromEntries(clean), NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { code: child.exitCode ?? -1, out, err };
}
