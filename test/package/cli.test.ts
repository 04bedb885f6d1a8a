import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { programs } from "postern/programs.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { namingEachLoad, root, runBin } from "./run-bin.ts";

const manifest = JSON.parse(readFileSync(join(root, "packages/postern/package.json"), "utf8"));

describe("help", () => {
  test("without a program says what there is, and that is no error", async () => {
    const [nothing, asked] = [await runBin([]), await runBin(["--help"])];
    expect(nothing).toEqual(asked);
    expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
    expect(asked.stdout).toMatch(/^Usage: postern <command> \[options\]\n/);
  });

  test("of every program has its usage and an example", async () => {
    const { stdout } = await runBin(["--help"]);
    const listed = Array.from(stdout.matchAll(/^ {2}([a-z]+) {2}/gm), (match) => match[1] ?? "");
    expect(listed).toEqual(Object.keys(programs));
    for (const program of listed) {
      const { exitCode, stdout } = await runBin([program, "--help"]);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: postern ${program} `));
      expect(stdout).toMatch(new RegExp(`\\$ .*postern ${program}`));
      expect(await runBin(["help", program])).toMatchObject({ exitCode: 0, stdout });
    }
  });

  test("imports no dependency, so that it is instant", async () => {
    const { stderr } = await runBin(["--help"], { node: namingEachLoad });
    expect(stderr).toContain("/src/main.ts\n");
    expect(stderr).not.toContain("node_modules");
  });
});

test.each([["version"], ["-V"], ["--version"]])("%s prints the version alone", async (asked) => {
  const printed = { exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" };
  expect(await runBin([asked])).toMatchObject(printed);
});

describe("a mistake is one line that says what would be right, and exit code 64", () => {
  test.each([
    ["versoin", "unknown command 'versoin': did you mean 'version'? (see postern --help)"],
    ["--vresion", "unknown option '--vresion': did you mean '--version'? (see postern --help)"],
    ["oprator", "unknown command 'oprator': did you mean 'operator'? (see postern --help)"],
    [
      "operator --kubeconfg a",
      "unknown option '--kubeconfg': did you mean '--kubeconfig'? (see postern operator --help)",
    ],
    [
      "operator --log-level loud",
      "option '--log-level <level>' argument 'loud' is invalid. Allowed choices are debug, info, warn, error (see postern operator --help)",
    ],
    [
      "operator --kubeconfig",
      "option '--kubeconfig <file>' argument missing (see postern operator --help)",
    ],
    [
      "operator --listen :8081",
      "option '--listen <host:port>' argument ':8081' is invalid. use HOST:PORT, such as 127.0.0.1:8081 or [::1]:8081; 0.0.0.0:8081 for every address of this machine (see postern operator --help)",
    ],
    ["version --frob", "unknown option '--frob' (see postern version --help)"],
    [
      "version --hlep",
      "unknown option '--hlep': did you mean '--help'? (see postern version --help)",
    ],
    [
      "version now",
      "too many arguments. Expected 0 arguments but got 1: now (see postern version --help)",
    ],
  ])("postern %s", async (typed, line) => {
    const ended = await runBin(typed.split(" "));
    expect(ended).toMatchObject({ exitCode: 64, stdout: "", stderr: `postern: ${line}\n` });
  });

  test("and names every program where nothing is near", async () => {
    const { exitCode, stderr } = await runBin(["toString"]);
    expect(exitCode).toBe(64);
    expect(stderr).toMatch(
      /^postern: unknown command 'toString': use one of local, operator, .*, version, help .*\n$/,
    );
  });
});

test("a reader that closes the pipe ends it without a word", async () => {
  const child = spawn(process.execPath, [join(root, "packages/postern/bin/postern.js"), "--help"]);
  child.stdout.destroy();
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
});

test.runIf(existsSync("/dev/full"))(
  "an output that cannot be written is told in one line, and is no bug",
  async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const child = spawn(
      process.execPath,
      [join(root, "packages/postern/bin/postern.js"), "--help"],
      {
        stdio: ["ignore", full, "pipe"],
      },
    );
    const [stderr, [exitCode]] = await Promise.all([
      text(child.stderr ?? Readable.from([])),
      once(child, "close"),
    ]);
    expect(stderr).toBe(
      "postern: the output cannot be written: ENOSPC: no space left on device. Free some space, or redirect the output.\n",
    );
    expect(exitCode).toBe(1);
  },
);

test.runIf(existsSync("/dev/full"))(
  "where nobody reads what it has to tell, it ends with the exit code of what went wrong",
  async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const toFull = spawn(
      process.execPath,
      [join(root, "packages/postern/bin/postern.js"), "nonsense"],
      {
        stdio: ["ignore", "ignore", full],
      },
    );
    const toNobody = spawn(process.execPath, [
      join(root, "packages/postern/bin/postern.js"),
      "nonsense",
    ]);
    toNobody.stderr.destroy();
    const ended = [toFull, toNobody].map((child) => once(child, "close"));
    expect(await Promise.all(ended)).toEqual([
      [64, null],
      [64, null],
    ]);
  },
);
