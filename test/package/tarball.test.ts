import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { namingEachLoad, root, runBin } from "./run-bin.ts";

const run = promisify(execFile);

describe("the published package", () => {
  let folder: string;
  let files: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "postern-pack-"));
    const args = ["pack", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", args, { cwd: root });
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    files = packed.files.map((file) => file.path);
    await installed(packed.filename);
  }, 60_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  /** As npm would, but with the dependencies of this checkout, so that nothing is downloaded. */
  async function installed(tarball: string): Promise<void> {
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "postern"), { recursive: true });
    const into = ["-C", join(modules, "postern"), "--strip-components=1"];
    await run("tar", ["-xzf", join(folder, tarball), ...into]);
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
  }

  test("runs where it is installed, below node_modules", async () => {
    const bin = join(folder, "node_modules/postern/bin/postern.js");
    const here = await runBin(["version", "--help"]);
    expect(await runBin(["version", "--help"], { bin })).toEqual(here);
    expect(here.exitCode).toBe(0);
  });

  test("has the agent in one file, which says the same as the sources", async () => {
    const bin = join(folder, "node_modules/postern/bin/postern.js");
    for (const args of [
      ["agent", "run", "--help"],
      ["agent", "status", "--pol", "inspect"],
    ])
      expect(await runBin(args, { bin })).toEqual(await runBin(args));
    const { stderr } = await runBin(["agent", "--help"], { bin, node: namingEachLoad });
    const loaded = stderr.match(/^file:.*/gm)?.map((url) => url.replace(/.*\/postern\//, ""));
    expect(loaded).toEqual(["bin/postern.js", "dist/agent/main.js"]);
  });

  test("is a library of typed functions for programs that embed the agent", async () => {
    const program = `import { apply, queryIMDS, type GWLBConfig } from "postern/appliance";
      export const names: string[] = [apply.name, queryIMDS.name];
      export const pool = (config: GWLBConfig): string => config.backendPoolName;
      // @ts-expect-error a pool's name is no number
      export const wrong = (config: GWLBConfig): number => config.backendPoolName;
      console.log(names.join());`;
    const file = join(folder, "program.mts");
    writeFileSync(file, program);
    symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe("apply,queryIMDS\n");
    const settings = "--noEmit --strict --module nodenext --types node --ignoreConfig".split(" ");
    const tsc = join(root, "node_modules/.bin/tsc");
    await run(tsc, [...settings, file], { cwd: folder });
  });

  test("holds every page and example that help and messages point to", () => {
    const code = files.filter((path) => /^(dist|bin)\/.*\.js$/.test(path));
    const named = code.flatMap((path) => {
      const text = readFileSync(join(folder, "node_modules/postern", path), "utf8");
      return text.match(/(?<![\w/])(?:docs|examples)\/[\w/-]+\.(?:md|yaml)/g) ?? [];
    });
    expect(named).toContain("examples/simulator/world.yaml");
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
  });

  test("holds the licence and no source, test or tool", () => {
    expect(files).toContain("LICENSE");
    expect(files).toContain("dist/main.js");
    expect(
      files.filter((path) => /(?<!\.d)\.ts$|\.test\.|^(src|test|scripts|bench)\//.test(path)),
    ).toEqual([]);
  });
});
