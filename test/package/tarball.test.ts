import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { startKubernetes } from "@postern/kubernetes-embedded/server.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Packed, packAll } from "./packed.ts";
import { namingEachLoad, root, runBin } from "./run-bin.ts";

const run = promisify(execFile);

let packed: Packed;
beforeAll(async () => {
  packed = await packAll();
}, 240_000);
afterAll(() => packed.remove());

const names = readdirSync(join(root, "packages")).map(
  (folder) => manifestOf(join(root, "packages", folder)).name,
);

function manifestOf(folder: string): { name: string; version: string } & Dependencies {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

interface Dependencies {
  dependencies?: Record<string, string>;
}

/** Starts a program where its package is installed. */
function start(bin: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...Object.fromEntries(clean), ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill("SIGTERM");
  const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
  return code;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Runs a program in TypeScript where packages are installed, and holds it to their types. Gives what it printed. */
async function runTyped(folder: string, program: string): Promise<string> {
  const file = join(folder, "program.mts");
  writeFileSync(file, program);
  const { stdout } = await run(process.execPath, [file], { cwd: folder });
  await checkTypes(folder, file);
  return stdout;
}

async function checkTypes(folder: string, file: string): Promise<void> {
  const types = join(folder, "node_modules/@types");
  if (!existsSync(types)) symlinkSync(join(root, "node_modules/@types"), types);
  const settings = "--noEmit --strict --module nodenext --types node --ignoreConfig".split(" ");
  await run(join(root, "node_modules/.bin/tsc"), [...settings, file], { cwd: folder });
}

/** The program that the README of a package shows. */
function exampleOf(folder: string): string {
  const text = readFileSync(join(root, "packages", folder, "README.md"), "utf8");
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
  return example;
}

describe.each(names)("the package %s", (name) => {
  test("holds the licence and no source, test or tool", () => {
    const files = packed.files[name] ?? [];
    expect(files).toContain("LICENSE");
    expect(files.some((path) => /^dist\/.*\.js$/.test(path))).toBe(true);
    expect(
      files.filter((path) => /(?<!\.d)\.tsx?$|\.test\.|^(src|test|scripts|bench)\//.test(path)),
    ).toEqual([]);
  });

  test("holds every page and example that help and messages point to", async () => {
    const folder = await packed.install(name);
    const files = packed.files[name] ?? [];
    const named = files
      .filter((path) => /^(dist|bin)\/.*\.js$/.test(path))
      .flatMap((path) => {
        const text = readFileSync(join(folder, "node_modules", name, path), "utf8");
        return text.match(/(?<![\w/])(?:docs|examples)\/[\w/-]+\.(?:md|yaml)/g) ?? [];
      });
    if (name === "@postern/azure-simulator")
      expect(named).toContain("examples/simulator/world.yaml");
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
  });

  test("is of the version of all others, and wants them in exactly this one", () => {
    const folder = join(root, "packages", name.replace("@postern/", ""));
    const { version, dependencies = {} } = manifestOf(folder);
    expect(version).toBe(manifestOf(join(root, "packages/core")).version);
    const ours = Object.entries(dependencies).filter(([each]) => names.includes(each));
    expect(ours.filter(([, wanted]) => wanted !== version)).toEqual([]);
  });
});

describe("postern, installed alone", () => {
  let folder: string;
  let bin: string;
  beforeAll(async () => {
    folder = await packed.install("postern");
    bin = join(folder, "node_modules/postern/bin/postern.js");
  });

  test("runs below node_modules", async () => {
    const here = await runBin(["version", "--help"]);
    expect(await runBin(["version", "--help"], { bin })).toEqual(here);
    expect(here.exitCode).toBe(0);
  });

  test("has the agent in one file, which says the same as the sources", async () => {
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
    const printed = await runTyped(
      folder,
      `import { apply, queryIMDS, type GWLBConfig } from "postern/appliance";
      export const names: string[] = [apply.name, queryIMDS.name];
      export const pool = (config: GWLBConfig): string => config.backendPoolName;
      // @ts-expect-error a pool's name is no number
      export const wrong = (config: GWLBConfig): number => config.backendPoolName;
      console.log(names.join());`,
    );
    expect(printed).toBe("apply,queryIMDS\n");
  });

  test("holds the example program of the library, which holds to its published types", async () => {
    const file = join(folder, "node_modules/postern/examples/appliance/main.mts");
    const here = join(folder, "main.mts");
    writeFileSync(here, readFileSync(file, "utf8"));
    await checkTypes(folder, here);
  });

  test("brings no test bed, and nothing that only they need", () => {
    const ours = readdirSync(join(folder, "node_modules/@postern")).sort();
    expect(ours).toEqual(["core", "dashboard"]);
    for (const name of ["@marcbachmann/cel-js", "rfc6902"])
      expect(existsSync(join(folder, "node_modules", name))).toBe(false);
  });

  test("runs the operator and serves the dashboard", async () => {
    const kubernetes = await startKubernetes();
    onTestFinished(() => kubernetes.stop());
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubernetes.kubeconfig);
    const [health, dashboard] = [await freePort(), await freePort()];
    const child = start(
      bin,
      [
        ...["operator", "--role", "management", "--kubeconfig", kubeconfig],
        ...["--listen", `127.0.0.1:${health}`, "--dashboard", `127.0.0.1:${dashboard}`],
        ...["--leader-elect-resource-namespace", "default", "--log-level", "error"],
      ],
      {
        AZURE_SUBSCRIPTION_ID: "11111111-1111-4111-8111-111111111111",
        AZURE_RESOURCE_GROUP: "management",
      },
    );
    const status = async (url: string) => (await fetch(url).catch(() => undefined))?.status;
    await vi.waitFor(
      async () => expect(await status(`http://127.0.0.1:${health}/healthz`)).toBe(200),
      { timeout: 20_000 },
    );
    const page = await (await fetch(`http://127.0.0.1:${dashboard}/`)).text();
    expect(page).toContain("<!doctype html>");
    expect(await status(`http://127.0.0.1:${dashboard}/app.js`)).toBe(200);
    expect(await stop(child)).toBe(0);
  });

  test.each([
    ["local", "@postern/local"],
    ["simulator", "@postern/azure-simulator"],
  ])("says in one line how to install what postern %s needs", async (program, name) => {
    const { version } = manifestOf(join(folder, "node_modules/postern"));
    expect(await runBin([program, "--help"], { bin })).toMatchObject({
      exitCode: 64,
      stdout: "",
      stderr: `postern: this program is in a separate package: install it with npm install ${name}@${version}\n`,
    });
  });

  test("completes its commands without them", async () => {
    const { exitCode, stdout } = await runBin(["completion", "bash"], { bin });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("'postern local') words=\"--help\"");
    expect(stdout).toContain("'postern operator') words=\"--kubeconfig");
  });
});

describe("the simulator, installed alone", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await packed.install("@postern/azure-simulator");
  });

  test("brings core and nothing else of ours", () => {
    expect(readdirSync(join(folder, "node_modules/@postern")).sort()).toEqual([
      "azure-simulator",
      "core",
    ]);
    expect(existsSync(join(folder, "node_modules/postern"))).toBe(false);
  });

  test("is a program", async () => {
    const bin = join(folder, "node_modules/@postern/azure-simulator/bin/azure-simulator.js");
    const readyFile = join(folder, "ready.json");
    const world = join(
      folder,
      "node_modules/@postern/azure-simulator/examples/simulator/world.yaml",
    );
    const child = start(bin, [
      ...["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"],
      ...["--seed", world, "--ready-file", readyFile],
    ]);
    await vi.waitUntil(() => existsSync(readyFile), { timeout: 20_000 });
    const ready = JSON.parse(readFileSync(readyFile, "utf8")) as {
      resourceManagerHttp: string;
      identities: { token: string }[];
    };
    const answer = await fetch(
      `${ready.resourceManagerHttp}/subscriptions?api-version=2022-12-01`,
      {
        headers: { authorization: `Bearer ${ready.identities[0]?.token}` },
      },
    );
    expect(answer.status).toBe(200);
    expect(await stop(child)).toBe(0);
    expect(await runBin(["--sede", "x"], { bin })).toMatchObject({
      exitCode: 64,
      stderr:
        "postern: unknown option '--sede': did you mean '--seed'? (see azure-simulator --help)\n",
    });
  });

  test("is a typed function for anybody's tests", async () => {
    const printed = await runTyped(
      folder,
      `import { startSimulator, type Simulator } from "@postern/azure-simulator";
      const azure: Simulator = await startSimulator();
      const answer = await fetch(azure.url + "/subscriptions?api-version=2022-12-01");
      // @ts-expect-error an address is no number
      export const wrong: number = azure.url;
      console.log(answer.status);
      await azure.close();`,
    );
    expect(printed).toBe("401\n");
  });

  test("does what its README shows", async () => {
    const printed = await runTyped(folder, exampleOf("azure-simulator"));
    expect(printed).toMatch(/^PUT .*\/resourceGroups\/rg 201\nPUT .*\/virtualNetworks\/v 201\n$/);
  });
});

describe("the embedded Kubernetes API, installed alone", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await packed.install("@postern/kubernetes-embedded");
  });

  test("does what its README shows", async () => {
    expect(await runTyped(folder, exampleOf("kubernetes-embedded"))).toBe("{}\n");
    expect(readFileSync(join(folder, "kubeconfig"), "utf8")).toContain("current-context");
  });

  test("is a typed function for anybody's tests", async () => {
    expect(readdirSync(join(folder, "node_modules/@postern")).sort()).toEqual([
      "core",
      "kubernetes-embedded",
    ]);
    const printed = await runTyped(
      folder,
      `import { request } from "node:https";
      import { startKubernetes, type Kubernetes } from "@postern/kubernetes-embedded";
      const kubernetes: Kubernetes = await startKubernetes();
      // @ts-expect-error a token is no number
      export const wrong: number = kubernetes.token;
      const { url, ca, token } = kubernetes;
      const headers = { authorization: "Bearer " + token };
      const asked = request(url + "/api/v1/namespaces/default", { ca, headers }, (answer) => {
        console.log(answer.statusCode);
        answer.resume().on("end", () => kubernetes.stop());
      });
      asked.end();`,
    );
    expect(printed).toBe("200\n");
  });
});

describe("local mode, installed alone", () => {
  test("brings everything, and postern runs it", async () => {
    const folder = await packed.install("@postern/local");
    const readyFile = join(folder, "ready.json");
    const child = start(join(folder, "node_modules/postern/bin/postern.js"), [
      ...["local", "--port-base", "0", "--speed", "100", "--ready-file", readyFile],
    ]);
    await vi.waitUntil(() => existsSync(readyFile), { timeout: 60_000 });
    const { dashboard } = JSON.parse(readFileSync(readyFile, "utf8")) as {
      dashboard: { url: string };
    };
    expect(await (await fetch(dashboard.url)).text()).toContain("<!doctype html>");
    expect(await stop(child)).toBe(0);
  }, 90_000);
});
