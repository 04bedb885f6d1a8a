import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { oldNode, root, runBin } from "./run-bin.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A checkout that has our bin and nothing else but the given program. */
function checkoutOf(main: string): { folder: string; bin: string } {
  const folder = mkdtempSync(join(tmpdir(), "postern-bin-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const postern = join(folder, "packages/postern");
  mkdirSync(join(postern, "src"), { recursive: true });
  writeFileSync(join(postern, "src/main.ts"), main);
  cpSync(join(root, "packages/postern/bin"), join(postern, "bin"), { recursive: true });
  return { folder, bin: join(postern, "bin/postern.js") };
}

test("an older Node runs it by the newer one that npm installed", async () => {
  const { exitCode, stdout, stderr } = await runBin(["versoin", "a b"], { node: oldNode });
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toMatch(/^postern: unknown command 'versoin'/);
});

test.each(["postern", "core"])("the engines of package %s are what its program needs", (name) => {
  const bin = readFileSync(join(root, "packages/postern/bin/postern.js"), "utf8");
  const needed = /needed = (\d+);/.exec(bin)?.[1];
  // A published package brings no Node of its own, as a checkout does.
  const manifest = readFileSync(join(root, "packages", name, "package.json"), "utf8");
  expect(JSON.parse(manifest).engines).toEqual({ node: `>=${needed}` });
});

test("an older Node passes arguments, signals and the exit code on", async () => {
  const { folder, bin } = checkoutOf(`
    export async function main(args: string[]): Promise<number> {
      const stopped = new Promise((resolve) => process.once("SIGTERM", resolve));
      const waiting = setTimeout(() => undefined, 60_000);
      console.log(JSON.stringify({ args, node: process.versions.node.split(".")[0] }));
      await stopped;
      clearTimeout(waiting);
      console.log("stopped in order");
      return 7;
    }
  `);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const ended = await runBin(["a b", "--c"], {
    bin,
    node: oldNode,
    onOutput: (pid) => process.kill(pid, "SIGTERM"),
  });
  expect(ended.stdout).toBe('{"args":["a b","--c"],"node":"24"}\nstopped in order\n');
  expect(ended).toMatchObject({ exitCode: 7, signal: null, stderr: "" });
});

test("an older Node dies of the signal that ended the newer one", async () => {
  const { folder, bin } = checkoutOf(`
    export function main(): Promise<number> {
      process.kill(process.pid, "SIGTERM");
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    }
  `);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  expect(await runBin([], { bin, node: oldNode })).toMatchObject({ signal: "SIGTERM" });
});

test("where an older Node is killed, the newer one stops in order by itself", async () => {
  const { folder, bin } = checkoutOf(`
    export async function main(): Promise<number> {
      const stopped = new Promise((resolve) => process.once("SIGTERM", () => resolve("in order")));
      const tired = new Promise((resolve) => setTimeout(resolve, 5000, "too late").unref());
      const waiting = setTimeout(() => undefined, 60_000);
      console.log("ready");
      console.log("stopped", await Promise.race([stopped, tired]));
      clearTimeout(waiting);
      return 0;
    }
  `);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const ended = await runBin([], {
    bin,
    node: oldNode,
    onOutput: (pid) => process.kill(pid, "SIGKILL"),
  });
  expect(ended).toMatchObject({
    signal: "SIGKILL",
    stdout: "ready\nstopped in order\n",
    stderr: "",
  });
});

test("an older Node keeps no program that has ended", async () => {
  const { folder, bin } = checkoutOf("export async function main() { return 3; }");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  expect(await runBin([], { bin, node: oldNode })).toMatchObject({ exitCode: 3, stderr: "" });
});

test("an older Node alone says which version is needed and how to get it", async () => {
  const { bin } = checkoutOf("");
  const { exitCode, stdout, stderr } = await runBin(["version"], { bin, node: oldNode });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(
    /^postern: this is Node 20\.1\.0, and Postern needs Node 24 or later; .*\n$/,
  );
});

describe("after npm ci by an older Node", () => {
  /** A checkout in which npm has installed these packages, and has linked none of their bins. */
  function checkoutWith(packages: Record<string, string>): { bin: string; link: string } {
    const { folder } = checkoutOf("");
    cpSync(join(root, "tools"), join(folder, "tools"), { recursive: true });
    mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
    for (const [name, version] of Object.entries(packages)) {
      const place = join(folder, "node_modules", name);
      mkdirSync(join(place, "bin"), { recursive: true });
      writeFileSync(join(place, "bin/node"), name);
      const manifest = { name, version, bin: { node: "bin/node" } };
      writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
    }
    return {
      bin: join(folder, "node_modules/.bin/node"),
      link: join(folder, "tools/node/link.js"),
    };
  }
  const prefix = `${process.platform}-${process.arch}` === "darwin-arm64" ? "node-bin" : "node";
  const own = `${prefix}-${process.platform}-${process.arch}`;

  test("npm scripts find the Node of this platform, where npm 10 has not linked it", async () => {
    const { bin, link } = checkoutWith({ "node-sunos-sparc": "24.1.0", [own]: "v24.0.0" });
    expect(await runBin([], { bin: link, node: oldNode })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(bin, "utf8")).toBe(own);
    expect(await runBin([], { bin: link, node: oldNode })).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["none for this platform", { "node-sunos-sparc": "24.1.0" }],
    ["one that is too old", { [own]: "22.0.0" }],
  ])("npm ci fails and says why where there is %s", async (_what, packages) => {
    const { bin, link } = checkoutWith(packages);
    const { exitCode, stderr } = await runBin([], { bin: link, node: oldNode });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^postern: no Node 24 was installed · .* · run npm ci without /);
    expect(existsSync(bin)).toBe(false);
  });
});
