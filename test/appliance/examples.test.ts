import { readFileSync } from "node:fs";
import { join } from "node:path";
import { options, optionsOf } from "postern/agent/options.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { agentActions, interfaceActions } from "./gateway-world.ts";

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
  expect(Number(service.TimeoutStopSec)).toBeGreaterThanOrEqual(80);
  expect(service.KillMode).toBe("mixed");
});

test("cloud-init writes the file that the unit reads, with a variable that the agent knows, and starts it", () => {
  const text = example("cloud-init.yaml");
  expect(text).toMatch(/^#cloud-config\n/);
  const { write_files, runcmd } = parse(text) as {
    write_files: { path: string; content: string }[];
    runcmd: string[][];
  };
  const file = write_files.find(({ path }) => path === service.EnvironmentFile);
  const [variable] = (file?.content ?? "").split("=");
  expect(optionsOf("run").map(([, { env }]) => env)).toContain(variable);
  expect(runcmd.at(-1)).toEqual(["systemctl", "enable", "--now", "postern-agent.service"]);
});
