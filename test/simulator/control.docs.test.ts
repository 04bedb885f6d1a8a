import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { smallWorld } from "./small-world.ts";

const page = readFileSync(join(root, "docs/reference/simulator-control.md"), "utf8");

test("every example of the page runs as it stands there, in its order", async () => {
  const [begin = "", ...blocks] = Array.from(
    page.matchAll(/```sh\n([\s\S]*?)```/g),
    ([, block = ""]) => block,
  );
  expect(blocks.length).toBeGreaterThan(5);
  const cwd = await started(begin);
  const trap = `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`;
  const ended = await run([trap, ...blocks].join("\n"), cwd);
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  expect(ended.stdout).toContain('"now":"2036-01-01T00:00:00.000Z"');
  expect(ended.stdout).toContain('{"path":"top.tags","to":{"team":"edge"}}');
});

test("the page names every page that there is, and no other", async () => {
  const { control } = await smallWorld();
  const { error } = (await control("GET", "nothing")).body as { error: { message: string } };
  const known = [...error.message.matchAll(/(GET|POST|PUT|DELETE) (\w+)/g)].map(
    ([, method, name]) => `${method} ${name}`,
  );
  const told = [...page.matchAll(/curl -s\w* (?:-X (\w+) )?"\$CONTROL\/(\w+)/g)].map(
    ([, method = "GET", name]) => `${method} ${name}`,
  );
  expect(known.slice(1).filter((each) => !told.includes(each))).toEqual([]);
  expect(told.filter((each) => !known.includes(each))).toEqual([]);
});

/** Start a simulator as the page says, but on free ports; gives the folder in which its ready file is. */
async function started(line: string): Promise<string> {
  const [npx, program, ...args] = line.trim().split(" ");
  expect(`${npx} ${program}`).toBe("npx postern");
  const cwd = mkdtempSync(join(tmpdir(), "st-docs-"));
  symlinkSync(join(root, "examples"), join(cwd, "examples"));
  const free = ["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"];
  const child = spawn(
    process.execPath,
    [join(root, "packages/postern/bin/postern.js"), ...args, ...free],
    {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.kill()) await ended;
    rmSync(cwd, { recursive: true });
  });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return cwd;
}

async function run(script: string, cwd: string) {
  // With a socket as its input bash believes that it was called over the network, and reads what is for persons.
  const child = spawn("bash", ["--norc", "-Eeuo", "pipefail", "-c", script], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once("close", resolve)),
  ]);
  return { stdout, stderr, status };
}
