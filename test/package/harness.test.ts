import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findOrBuild, findOrBuildKubectl } from "../setup/binaries.ts";
import { root } from "./run-bin.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postern-harness-"));
  vi.stubEnv("XDG_CACHE_HOME", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const silent = () => undefined;

/** A `go` that counts its builds and leaves what a build leaves, unless it is told to break in the middle. */
function putGoOnPath({ breaks = false } = {}): { builds(): number } {
  const log = join(folder, "builds");
  const script = `#!/bin/sh
    [ "$1" = version ] && exit 0
    echo build >> ${log}
    while [ "$1" != -o ]; do shift; done
    sleep 0.1
    echo etcd > $2/etcd
    echo client > $2/kubectl
    ${breaks ? "exit 1" : "echo server > $2/kube-apiserver"}`;
  writeFileSync(join(folder, "go"), script);
  chmodSync(join(folder, "go"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
  return { builds: () => readFileSync(log, "utf8").trim().split("\n").length };
}

describe("the programs of the control plane", () => {
  test("cannot be had without Go, and the reason says so", async () => {
    vi.stubEnv("PATH", folder);
    expect(await findOrBuild(silent)).toEqual({
      missing: "Go is not on the PATH, and it builds the kube-apiserver of these tests",
    });
  });

  test("are built once, also when two runs begin at the same time", async () => {
    const go = putGoOnPath();
    const [one, other] = await Promise.all([findOrBuild(silent), findOrBuild(silent)]);
    expect(one).toEqual(other);
    expect(await findOrBuild(silent)).toEqual(one);
    expect(go.builds()).toBe(1);
    expect("binaries" in one && existsSync(one.binaries["kube-apiserver"])).toBe(true);
  });

  test("are built again when what they are made from has changed", async () => {
    const go = putGoOnPath();
    const found = await findOrBuild(silent);
    if (!("binaries" in found)) throw new Error(found.missing);
    writeFileSync(join(found.binaries.etcd, "../stamp"), "made from something else");
    await findOrBuild(silent);
    expect(go.builds()).toBe(2);
    expect(readdirSync(join(folder, "postern"))).toEqual([`apiserver-${found.binaries.version}`]);
  });

  test("are not there after a build that broke in the middle, and the next build is a whole one", async () => {
    putGoOnPath({ breaks: true });
    await expect(findOrBuild(silent)).rejects.toThrow("go build of test/apiserver failed: exit 1");
    const go = putGoOnPath();
    expect(await findOrBuild(silent)).toHaveProperty("binaries");
    expect(go.builds()).toBe(2);
  });

  test("are built without kubectl, which is built when a suite asks for it", async () => {
    const go = putGoOnPath();
    const found = await findOrBuildKubectl(silent);
    if (!("kubectl" in found)) throw new Error(found.missing);
    expect(readFileSync(found.kubectl, "utf8")).toBe("client\n");
    expect(readdirSync(join(folder, "postern"))).toEqual([`kubectl-${found.version}`]);
    const servers = await findOrBuild(silent);
    expect("binaries" in servers && servers.binaries.version).toBe(found.version);
    expect(go.builds()).toBe(2);
  });
});

test.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)(
  "the guard ends the processes of a run that %s ended, and removes their folder",
  async (signal) => {
    const guarded = mkdtempSync(join(folder, "guarded-"));
    const guard = JSON.stringify(join(root, "test/setup/guard.ts"));
    const script = `
      import { spawn } from "node:child_process";
      import { startGuard } from ${guard};
      const child = spawn("sleep", ["60"]);
      startGuard(${JSON.stringify(guarded)}).watch([child.pid]);
      console.log(child.pid);
    `;
    const run = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = await once(run.stdout, "data");
    const sleeper = Number(printed);
    expect(isAlive(sleeper)).toBe(true);
    run.kill(signal);
    await vi.waitFor(() => {
      expect(isAlive(sleeper)).toBe(false);
      expect(existsSync(guarded)).toBe(false);
    }, 5_000);
  },
);

/** A process that has ended but that nobody has waited for is still there for `kill`, so its state is asked too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
  return !state.includes(") Z ");
}
