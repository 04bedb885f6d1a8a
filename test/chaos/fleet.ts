import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Guard } from "../setup/guard.ts";

/** As the guides recommend: by default the heap grows by tens of MB before anything is collected, which would hide a leak. */
const memoryFlags = ["--max-semi-space-size=2", "--heap-growing-percent=20"];

/** A program that the storm runs as a process of its own. */
export interface Program {
  name: string;
  /** The file, as JavaScript. */
  file: string;
  given: object;
  env?: Record<string, string>;
  /** The codes with which it may end by itself, because systemd would start it again. */
  mayEndWith?: readonly number[];
}

/** One life of a program. */
interface Life {
  child: ChildProcess;
  startedAt: number;
  frozen: boolean;
  /** When the storm ended it. */
  killedAt?: number;
  /** What it used when it had settled. */
  first?: Usage;
}

/** What a process uses. */
export interface Usage {
  rssMB: number;
  descriptors: number;
}

/** A time in which a program could not work, because it was dead or frozen. */
export interface Absence {
  name: string;
  from: number;
  to: number;
}

const page = 4096;

/** The processes of a storm: starts them, ends and freezes them, and notices what ends by itself or logs a bug. */
export class Fleet {
  readonly #programs = new Map<string, Program>();
  readonly #lives = new Map<string, Life>();
  readonly #folder: string;
  readonly #guard: Guard;
  readonly absences: Absence[] = [];
  /** What went wrong that nobody did to them. */
  readonly faults: string[] = [];
  kills = 0;
  freezes = 0;
  #closing = false;

  constructor(folder: string, guard: Guard) {
    this.#folder = folder;
    this.#guard = guard;
  }

  get names(): string[] {
    return [...this.#programs.keys()];
  }

  start(program: Program): void {
    if (this.#closing) return;
    this.#programs.set(program.name, program);
    this.#begin(program);
  }

  #begin(program: Program): void {
    const { name, file, given, env, mayEndWith = [] } = program;
    const clean = Object.entries(process.env).filter(([key]) => !/^(AZURE_|KUBE)/.test(key));
    const child = spawn(process.execPath, [...memoryFlags, file, JSON.stringify(given)], {
      env: { ...Object.fromEntries(clean), ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const life: Life = { child, startedAt: Date.now(), frozen: false };
    this.#lives.set(name, life);
    this.#guard.watch(this.#pids());
    const log = createWriteStream(join(this.#folder, `${name}.log`), { flags: "a" });
    const last: string[] = [];
    if (child.stderr)
      createInterface({ input: child.stderr }).on("line", (line) => {
        log.write(`${line}\n`);
        last.push(line);
        if (last.length > 15) last.shift();
        if (isBug(line)) this.faults.push(`${name} logged a bug: ${line.slice(0, 600)}`);
      });
    child.once("exit", (code, signal) => {
      log.end();
      if (this.#closing || life.killedAt !== undefined) return;
      if (code === null || !mayEndWith.includes(code))
        this.faults.push(
          `${name} ended by itself (${signal ?? code}) at ${new Date().toISOString()}\n    ${last.slice(-8).join("\n    ").slice(0, 2_000)}`,
        );
      this.#beginAgain(program, life, 500); // as systemd or Kubernetes would
    });
  }

  /** Start a program whose life has ended, unless it has been retired or started by then. */
  #beginAgain(program: Program, ended: Life, afterMs: number): void {
    setTimeout(() => {
      if (this.#closing || this.#lives.get(program.name) !== ended) return;
      if (ended.killedAt !== undefined)
        this.absences.push({ name: program.name, from: ended.killedAt, to: Date.now() });
      this.#begin(program);
    }, afterMs).unref();
  }

  /** End a process at once, as `kill -9` does; it is started again a while later. */
  kill(name: string, startAgainMs: number): void {
    const life = this.#lives.get(name);
    const program = this.#programs.get(name);
    if (!life || !program || life.killedAt !== undefined) return;
    this.kills++;
    life.killedAt = Date.now();
    life.child.kill("SIGKILL");
    this.#beginAgain(program, life, startAgainMs);
  }

  /** Stop a process where it is, and let it go on a while later. */
  freeze(name: string, forMs: number): void {
    const life = this.#lives.get(name);
    if (!life || life.killedAt !== undefined || life.frozen) return;
    this.freezes++;
    life.frozen = true;
    life.child.kill("SIGSTOP");
    const from = Date.now();
    setTimeout(() => {
      life.frozen = false;
      life.child.kill("SIGCONT");
      this.absences.push({ name, from, to: Date.now() });
    }, forMs);
  }

  /** End a process of a machine that is gone, and forget it. */
  async retire(name: string): Promise<void> {
    const life = this.#lives.get(name);
    this.#programs.delete(name);
    this.#lives.delete(name);
    if (life) await this.#end(life);
  }

  /** Whether all are alive and none is frozen. */
  get whole(): boolean {
    return [...this.#lives.values()].every(
      ({ child, frozen, killedAt }) => !frozen && killedAt === undefined && child.exitCode === null,
    );
  }

  /** Remember what each process uses now, for those that have not been asked yet. */
  noteUsage(): void {
    for (const life of this.#lives.values())
      if (!life.first && life.child.pid) life.first = usageOf(life.child.pid);
  }

  /** What each process used first and uses now. */
  usage(): { name: string; first: Usage; now: Usage }[] {
    return [...this.#lives].flatMap(([name, { child, first }]) =>
      child.pid && child.exitCode === null && first
        ? [{ name, first, now: usageOf(child.pid) }]
        : [],
    );
  }

  /** End them all. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#lives.values()].map((life) => this.#end(life)));
  }

  async #end(life: Life): Promise<void> {
    life.killedAt ??= Date.now();
    const { child } = life;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  #pids(): number[] {
    return [...this.#lives.values()].flatMap(({ child }) =>
      child.pid !== undefined && child.exitCode === null && child.signalCode === null
        ? [child.pid]
        : [],
    );
  }
}

/** Whether a log line reports an error that nobody threw on purpose. The API server and Azure give the reason InternalError too. */
export function isBug(line: string): boolean {
  if (!line.includes('"reason":"InternalError"')) return false;
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { type?: string } };
  return msg === "reconcile failed" && !["KubeError", "AzureError"].includes(err?.type ?? "");
}

function usageOf(pid: number): Usage {
  const [, resident = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
  return {
    rssMB: (Number(resident) * page) / 1e6,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}
