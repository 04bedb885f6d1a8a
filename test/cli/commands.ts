import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Effect, FaultMatch } from "@postern/azure-simulator/control/fault-rule.ts";
import type { LocalExtension } from "postern/operator/local-extension.ts";
import { afterAll, beforeAll } from "vitest";
import { folder, type Running, startLocalUntil, untilAvailable } from "../local/running.ts";
import { type Ended, root } from "../package/run-bin.ts";

export const guests = "/subscriptions/bbbbbbbb-0000-4000-8000-000000000000/resourceGroups";
export const management = "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups";

/** A request that Azure was sent. */
export interface Asked {
  sequence: number;
  method: string;
  path: string;
  identity: string;
  userAgent?: string;
}

/** Runs commands against a local mode that the whole file shares. */
export interface Commands {
  local: Running;
  /** A folder for files of the commands. */
  files: string;
  run(...args: string[]): Promise<Ended>;
  /** The same with another kubeconfig, or other words in the environment. */
  runWith(env: Record<string, string>, ...args: string[]): Promise<Ended>;
  /** A kubeconfig by which commands act in Azure as an application of the scenario. */
  as(application: string): string;
  /** A kubeconfig in which the local mode that it leads to says something else of itself. */
  saying(name: string, change: (extension: LocalExtension) => void): string;
  /** What commands sent to Azure since a request, without questions for tokens. Local mode itself reads as the same person. */
  asked(since: number): Promise<Asked[]>;
  /** The number of the last request. */
  last(): Promise<number>;
  /** Let Azure fail at an action, until the returned function is called. */
  refuse(action: string): Promise<() => Promise<void>>;
  /** Let Azure answer the person at the keyboard in an hour, until the returned function is called; to this action only. */
  slowDown(action?: string): Promise<() => Promise<void>>;
  /** Change a resource behind everybody's back; without a body it is dropped. */
  change(id: string, body?: object): Promise<void>;
}

/** Start local mode with the demo, and one application more that may do nothing. */
export function useCommands(): Commands {
  const undo: (() => void)[] = [];
  const commands = {} as Commands;
  beforeAll(async () => {
    const files = folder((each) => undo.push(each));
    const local = await startLocalUntil(
      (each) => undo.push(each),
      ...["--speed", "100", "--scenario", scenarioIn(files)],
    );
    Object.assign(commands, commandsOf(local, files));
    await untilAvailable(local);
  }, 300_000);
  afterAll(() => {
    for (const each of undo.reverse()) each();
  });
  return commands;
}

/** A subscription that no object names. */
export const unnamed = "dddddddd-0000-4000-8000-000000000000";

/** The demo, somebody without any right, somebody who may only read, and a subscription of yours in which no cluster is. */
function scenarioIn(files: string): string {
  const demo = readFileSync(join(root, "examples/local/demo.yaml"), "utf8");
  const tenant = "cccccccc-0000-4000-8000-000000000000";
  const connect = "PrivateEndpointConnectionsApproval/action";
  const more = demo
    .replace("  subscriptions:\n", `$&    - { id: ${unnamed}, tenant: ${tenant} }\n`)
    .replace(
      "  applications:\n",
      `$&    - { name: nobody, tenant: ${tenant}, secret: nothing }
    - { name: reader, tenant: ${tenant}, secret: nothing }\n`,
    )
    .replace(
      "  roleAssignments:\n",
      `$&    - { principal: you, role: Owner, scope: /subscriptions/${unnamed} }
    - { principal: reader, role: Reader, scope: ${guests}/blue }\n`,
    )
    // Who may only connect is to see that this is all.
    .replaceAll(`${connect}]`, `${connect}, Microsoft.Authorization/permissions/read]`);
  const file = join(files, "demo.yaml");
  writeFileSync(file, more);
  return file;
}

function commandsOf(local: Running, files: string): Commands {
  const { azure, kubeconfig } = local.ready;
  const control = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${azure?.control}/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    const body = await answer.text();
    return (body === "" ? {} : JSON.parse(body)) as { value: Asked[]; last: number };
  };
  const fault = async (match: FaultMatch, effect: Effect) => {
    await control("faults", { method: "POST", body: JSON.stringify({ match, effect }) });
    return async () => void (await control("faults", { method: "DELETE" }));
  };
  const runWith: Commands["runWith"] = (env, ...args) =>
    runPostern(args, { KUBECONFIG: kubeconfig, ...env }, files);
  const saying: Commands["saying"] = (name, change) => {
    const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as {
      clusters: { cluster: { extensions: { extension: LocalExtension }[] } }[];
    };
    for (const { cluster } of config.clusters)
      for (const { extension } of cluster.extensions) change(extension);
    const file = join(files, `${name}.kubeconfig`);
    writeFileSync(file, JSON.stringify(config));
    return file;
  };
  return {
    local,
    files,
    runWith,
    run: (...args) => runWith({}, ...args),
    saying,
    as(application) {
      const who = azure?.identities.find(({ name }) => name === application);
      return saying(application, ({ environment = {} }) =>
        Object.assign(environment, {
          AZURE_CLIENT_ID: who?.clientId,
          AZURE_CLIENT_SECRET: who?.secret,
        }),
      );
    },
    async asked(since) {
      const you = azure?.identities.find(({ name }) => name === "you");
      const { value } = await control(`requests?since=${since}&limit=10000`);
      return value.filter(
        ({ path, identity, userAgent }) =>
          path.startsWith("/subscriptions/") &&
          identity === you?.objectId &&
          userAgent?.startsWith("postern/"),
      );
    },
    last: async () => (await control("requests?limit=1")).last,
    refuse: (action) => fault({ action }, { kind: "answer", status: 503 }),
    slowDown: (action) => {
      const you = azure?.identities.find(({ name }) => name === "you");
      return fault(
        { identity: you?.objectId ?? "", ...(action && { action }) },
        { kind: "slow", ms: 3_600_000 },
      );
    },
    change: async (id, body) => {
      const page = body === undefined ? "resources/drop" : "resources/change";
      await control(page, { method: "POST", body: JSON.stringify({ id, body }) });
    },
  };
}

/** Run the real bin to its end. */
export async function runPostern(
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Promise<Ended> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
  const child = spawn(process.execPath, [join(root, "packages/postern/bin/postern.js"), ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Object.fromEntries(clean), ...env },
  });
  if (!child.stdout || !child.stderr) throw new Error("it has no output");
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { exitCode, signal, stdout, stderr };
}

/** A text in which what is different every time has a word in its place. */
export function golden(output: string): string {
  const words = new Map<string, string>();
  const word = (kind: string) => (found: string) => {
    const held = words.get(found) ?? `{${kind}-${words.size + 1}}`;
    words.set(found, held);
    return held;
  };
  return output
    .replace(/\b(?![a-e]{8}-0000)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, word("id"))
    .replace(/\b10\.\d+\.\d+\.\d+\b/g, "{address}")
    .replace(/\bChecked at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "Checked at {time}")
    .replace(/\bfor \d+ (s|min|h|d)\b/g, "for {duration}")
    .replace(/"observedAt":"[^"]*",/, "")
    .replace(/https?:\/\/127\.0\.0\.1:\d+|127\.0\.0\.1:\d+/g, "{server}");
}
