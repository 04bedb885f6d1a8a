import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { realWorld } from "./run-agent.ts";

const root = join(import.meta.dirname, "../..");
const example = join(root, "examples/appliance/main.mts");
const source = join(root, "packages/postern/src/appliance/index.ts");

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "postern-library-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test("the example program is on one page, and holds to the types of the library", async () => {
  const { compilerOptions } = JSON.parse(readConfig()) as { compilerOptions: object };
  const config = join(folder(), "tsconfig.json");
  const paths = {
    "postern/appliance": [source],
    "@postern/core/*.ts": [`${root}/packages/core/src/*.ts`],
  };
  const typeRoots = [join(root, "node_modules/@types")];
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions: { ...compilerOptions, paths, typeRoots }, files: [example] }),
  );
  await promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["-p", config]);
  expect(readFileSync(example, "utf8").split("\n").length).toBeLessThan(80);
}, 120_000);

/** Lets a program of the checkout import the library as one does that has installed the package. */
const hooks = `import { registerHooks } from "node:module";
registerHooks({ resolve: (name, context, next) =>
  next(name === "postern/appliance" ? ${JSON.stringify(`file://${source}`)} : name, context) });`;

async function runExample(env: Record<string, string>) {
  const file = join(folder(), "hooks.mjs");
  writeFileSync(file, hooks);
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  const child = spawn(process.execPath, ["--import", file, example], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...Object.fromEntries(clean), HEALTH_PORT: "0", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("the example program joins the pool of the simulator by the machine's identity, and leaves on SIGTERM", async () => {
  const world = await realWorld({ intervalInSeconds: 5 });
  const imds = await world.simulator.machines.find(world.machine("fw"));
  const child = await runExample({
    IMDS_HOST: imds?.url ?? "",
    RESOURCE_MANAGER: world.simulator.url,
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += String(chunk);
  });
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/^joined inspect by address/m);
  expect(world.members()).toHaveLength(1);
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(world.members()).toEqual([]);
  expect(printed).toMatch(/^left: stopped$/m);
}, 120_000);

test("the example program prints the code and the status of an error, and ends with 1", async () => {
  const world = await realWorld();
  const imds = await world.simulator.machines.find(world.machine("fw"));
  const child = await runExample({
    IMDS_HOST: imds?.url ?? "",
    RESOURCE_MANAGER: world.simulator.url,
    AZURE_CLIENT_SECRET: "without a tenant",
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(printed).toMatch(/^CredentialMissing \(status 0\): \S/m);
  expect(code).toBe(1);
}, 120_000);

function readConfig(): string {
  return readFileSync(join(root, "tsconfig.json"), "utf8");
}
