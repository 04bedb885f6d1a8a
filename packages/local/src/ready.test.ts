import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ReadyFile } from "./ready.ts";

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-ready-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "ready.json");
  writeFileSync(file, text);
  return file;
}

test("the ready file of a process that runs stays as it is", () => {
  const text = JSON.stringify({ pid: process.ppid });
  const file = fileWith(text);
  expect(() => new ReadyFile(file)).toThrow(`process ${process.ppid} · stop that process`);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test.each([
  ["of a process that has ended", JSON.stringify({ pid: spawnSync("true").pid })],
  ["that says nothing of a process", "{}"],
  ["that nobody can read", "{"],
  ["with a number that is no process", '{"pid":0}'],
])("a ready file %s goes", (_, text) => {
  const file = fileWith(text);
  new ReadyFile(file);
  expect(existsSync(file)).toBe(false);
});
