import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { onTestFinished, vi } from "vitest";

/** A client that runs as a process of its own, as a test reads it. */
export interface Running {
  /** The lines that it has written so far. */
  lines(): string[];
  /** Waits for a line, however wide its columns are; the process's last words are in the error. */
  saying(line: string): Promise<void>;
  /** Ends it as a person would, and waits until it is gone. */
  end(): Promise<void>;
}

/** Starts a program and ends it with the test. */
export function start(program: string, args: string[]): Running {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-4_000);
  });
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = () => out.split("\n").slice(0, -1);
  return {
    lines,
    saying: (line) =>
      vi.waitFor(
        () => {
          if (lines().some((each) => each.replace(/ +/g, " ") === line)) return;
          throw new Error(`it does not say ${line}: ${JSON.stringify(lines())}\n${errors}`);
        },
        { timeout: 25_000, interval: 50 },
      ),
    end: async () => {
      child.kill("SIGTERM");
      if (!ended()) await once(child, "exit");
    },
  };
}
