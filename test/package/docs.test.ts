import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { root, runBin } from "./run-bin.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const pages = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"];
const readme = read("README.md");

/** Every command in the shell blocks of a page, without its comment. */
function commands(page: string): string[] {
  const blocks = Array.from(page.matchAll(/```sh\n([\s\S]*?)```/g), (match) => match[1] ?? "");
  const lines = blocks.flatMap((block) => block.trim().split("\n"));
  return lines.flatMap((line) => line.replace(/\s+#.*/, "").split(" && "));
}

/** Runs a program that goes on until it is stopped, where it can leave what it writes, and on any free ports. */
async function tried(args: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), "postern-docs-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  symlinkSync(join(root, "examples"), join(cwd, "examples"));
  return runBin([...args, "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"], {
    cwd,
    onOutput: (pid) => process.kill(pid, "SIGTERM"),
  });
}

describe("the README", () => {
  test("fits 120 lines", () => {
    expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  });

  test("opens with the two commands that do all the set-up", () => {
    const [start, tests] = readme.match(/^npm ci && npm \S+/gm) ?? [];
    expect([start, tests]).toEqual(["npm ci && npm start", "npm ci && npm test"]);
  });

  test.each(commands(readme))("names a command that exists: %s", async (command) => {
    const [tool, ...words] = command.split(" ");
    switch (tool) {
      case "npm": {
        const script = words[0] === "run" ? words[1] : words[0];
        const { scripts } = JSON.parse(read("package.json"));
        expect(["ci", ...Object.keys(scripts)]).toContain(script);
        break;
      }
      case "npx": {
        expect(words[0]).toBe("postern");
        const ended =
          words[1] === "simulator" ? await tried(words.slice(1)) : await runBin(words.slice(1));
        expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
        break;
      }
      case "bash":
        expect(existsSync(join(root, words[0] ?? ""))).toBe(true);
        break;
      default:
        throw new Error(`the test knows no way to try ${tool}`);
    }
  });
});

describe.each(pages)("%s", (page) => {
  const text = read(page);

  test("links only to files that are there", () => {
    const links = Array.from(
      text.matchAll(/\]\((?!https?:|#)([^)#]+)/g),
      (match) => match[1] ?? "",
    );
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  test("names only paths that are there", () => {
    const inBlocks = /```[\s\S]*?```/g;
    const path = /`((?:packages|test|scripts|bench|docs|examples|manifests)\/[\w./-]*)`/g;
    const named = Array.from(text.replace(inBlocks, "").matchAll(path), (match) => match[1] ?? "");
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
