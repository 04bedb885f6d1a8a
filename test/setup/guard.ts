import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Ends processes and removes a folder when this process is gone, however it went: also by SIGKILL,
 * where no handler of ours runs. A small shell waits for the end of its input, which the kernel closes for us.
 */
export interface Guard {
  /** From now on these processes, and no others, are to be ended. */
  watch(pids: number[]): void;
  /** Ends nothing any more, and leaves the folder. */
  dismiss(): void;
}

const script = `
  while read -r line; do pids=$line; done
  [ -n "$pids" ] && kill -9 $pids 2>/dev/null
  rm -rf "$1"
`;

export function startGuard(folder: string): Guard {
  // In a session of its own, so that Ctrl-C in the terminal does not reach it.
  const shell = spawn("sh", ["-c", script, "guard", folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  shell.stdin.on("error", () => undefined);
  return {
    watch: (pids) => void shell.stdin.write(`${pids.join(" ")}\n`),
    dismiss: () => void shell.kill("SIGKILL"),
  };
}
