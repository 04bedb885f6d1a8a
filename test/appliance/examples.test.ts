import { readFileSync } from "node:fs";
import { join } from "node:path";
import { options, optionsOf } from "postern/agent/options.ts";
import { readOptions } from "postern/agent/read-options.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { agentActions, interfaceActions } from "./gateway-world.ts";
import { lineOf, realWorld, start, wordsFor } from "./run-agent.ts";

const example = (file: string) =>
  readFileSync(join(import.meta.dirname, "../../examples/agent", file), "utf8");

/** The sections of a unit, with their settings in order. */
function unitIn(text: string): Record<string, Record<string, string>> {
  const unit: Record<string, Record<string, string>> = {};
  let section: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const name = /^\[(\w+)\]$/.exec(line)?.[1];
    const setting = /^(\w+)=(.+)$/.exec(line);
    if (name !== undefined) {
      section = {};
      unit[name] = section;
    } else if (setting?.[1] !== undefined) section[setting[1]] = setting[2] ?? "";
    else throw new Error(`this is no line of a unit: ${line}`);
  }
  return unit;
}

const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/appliances.md"), "utf8");

test("the guide names the actions with which every test of the agent runs, and no other", () => {
  const named = guide.match(/^Microsoft\.\S+$/gm) ?? [];
  expect(named.sort()).toEqual([...agentActions, ...interfaceActions].sort());
});

test("the guide names only options that the agent knows", () => {
  const known = Object.keys(options).map((name) => `--${name}`);
  for (const option of guide.match(/--[a-z][a-z-]*/g) ?? []) expect(known).toContain(option);
});

const service = unitIn(example("postern-agent.service")).Service ?? {};

test("the unit starts the agent with options that it knows", () => {
  const [, program, ...words] = (service.ExecStart ?? "").split(" ");
  expect([program, words[0], words[1]]).toEqual(["postern", "agent", "run"]);
  const known = optionsOf("run").map(([name]) => `--${name}`);
  for (const word of words.filter((each) => each.startsWith("--"))) expect(known).toContain(word);
});

test("the unit waits for readiness, hears systemd-notify, and gives the agent the time to leave", () => {
  expect(service).toMatchObject({ Type: "notify", NotifyAccess: "all", Restart: "on-failure" });
  expect(Number(service.WatchdogSec)).toBeGreaterThan(0);
  expect(Number(service.TimeoutStartSec)).toBeGreaterThanOrEqual(240);
  // Twice `--leave-within`, because leaving is tried again after it failed for an event.
  expect(Number(service.TimeoutStopSec)).toBeGreaterThanOrEqual(45);
  expect(service.KillMode).toBe("mixed");
});

const cloudInit = parse(example("cloud-init.yaml")) as {
  write_files: { path: string; content: string }[];
  runcmd: string[][];
};

/** The variables that cloud-init writes for the unit. */
function environment(): Record<string, string> {
  const file = cloudInit.write_files.find(({ path }) => path === service.EnvironmentFile);
  const lines = (file?.content ?? "").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** The words of the unit's command as systemd gives them to the agent, with their variables. */
function wordsOfUnit(variables: Record<string, string>): string[] {
  const words = (service.ExecStart ?? "").split(" ").slice(3);
  return words.map((word) => word.replace(/\$\{(\w+)\}/g, (_, name) => variables[name] ?? ""));
}

test("cloud-init writes the file that the unit reads, with every variable of it and one that the agent knows, and starts it", () => {
  expect(example("cloud-init.yaml")).toMatch(/^#cloud-config\n/);
  const variables = environment();
  expect(variables).toHaveProperty(optionsOf("run").find(([, { env }]) => env)?.[1].env ?? "");
  for (const [, name = ""] of (service.ExecStart ?? "").matchAll(/\$\{(\w+)\}/g))
    expect(variables).toHaveProperty(name);
  expect(cloudInit.runcmd.at(-1)).toEqual([
    "systemctl",
    "enable",
    "--now",
    "postern-agent.service",
  ]);
});

test("the unit is not started again for a mistake in its command", () => {
  expect(service.RestartPreventExitStatus).toBe("64");
});

test("the command of the unit, with the variables of cloud-init, says when the appliance is healthy and joins", async () => {
  const world = await realWorld({ port: 8080 });
  const variables = environment();
  const words = await wordsFor(world, world.machine("fw"));
  const [run = "", ...given] = wordsOfUnit(variables);
  expect(readOptions("run", given, variables)).toMatchObject({
    pool: "inspect",
    healthTarget: new URL(variables.POSTERN_HEALTH_TARGET ?? ""),
  });
  // What a machine of a test cannot have: the port of the probe, a tunnel, and files below /etc.
  const at = given.indexOf("--ingress-device-env-file");
  const here = given.toSpliced(at, 2).map((word) => word.replace(/:9469$/, ":0"));
  const listen = ["--health-listen", "127.0.0.1:0", "--tunnel", "none"];
  const child = start([run, ...here, ...words, ...listen], { env: variables });
  expect(await lineOf(child)).toMatchObject({ event: "joined" });
  expect(world.members()).toHaveLength(1);
});
