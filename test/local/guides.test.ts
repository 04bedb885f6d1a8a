import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { findOrBuildKubectl } from "../setup/binaries.ts";
import { folder, type Running, startLocal, untilAvailable } from "./running.ts";

/** In this order on one local mode: the last one takes it apart. */
const guides = ["try-it", "when-something-is-wrong", "remove-it"];

/** Answers that are no failure: `plan` would change something, or a look found something. */
const answers: Record<string, number> = { plan: 2, tree: 3, doctor: 3 };

/** The commands of a guide in blocks that are marked to be run, a line each. */
function commandsOf(guide: string): string[] {
  const text = readFileSync(join(root, `docs/guides/${guide}.md`), "utf8");
  const blocks = [...text.matchAll(/^```bash\n([\s\S]*?)^```/gm)];
  return blocks.flatMap(([, block = ""]) => block.trim().split("\n"));
}

/** A folder with the tools that a person has on the path: kubectl, and what npx finds in the checkout. */
function tools(kubectl: string): string {
  const path = join(folder(), "bin");
  mkdirSync(path);
  symlinkSync(kubectl, join(path, "kubectl"));
  const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, "bin/postern.js")}" "$@"\n`;
  writeFileSync(join(path, "npx"), npx, { mode: 0o755 });
  return path;
}

interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

function run(command: string, { ready }: Running, path: string, cwd: string): Promise<Ended> {
  const here = command.replaceAll("http://127.0.0.1:7440", ready.dashboard.url);
  const env = {
    ...process.env,
    PATH: `${path}:${process.env.PATH}`,
    KUBECONFIG: ready.kubeconfig,
    NO_COLOR: "1",
  };
  return new Promise((resolve) => {
    execFile("bash", ["-c", here], { env, cwd }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test("every command of the guides works in this order on local mode", async ({ skip }) => {
  const found = await findOrBuildKubectl((line) => console.log(line));
  if ("missing" in found) return skip(found.missing);
  const local = await startLocal("--speed", "100");
  await untilAvailable(local);
  const path = tools(found.kubectl);
  const cwd = folder();
  const said: Record<string, string> = {};
  for (const guide of guides) {
    const commands = commandsOf(guide);
    expect(commands.length, guide).toBeGreaterThan(0);
    for (const command of commands) {
      const { exitCode, stdout, stderr } = await run(command, local, path, cwd);
      const [, program = ""] = /^npx postern (\w+)/.exec(command) ?? [];
      const all = `${command}\n${stdout}\n${stderr}`;
      expect([0, answers[program] ?? 0], all).toContain(exitCode);
      expect(stdout, all).not.toBe("");
      said[command] = stdout;
    }
  }
  expect(said["npx postern cluster destroy clusters/blue"]).toContain("clusters/blue is gone");
  const clusters = await local.kube<{ items: { metadata: { name: string } }[] }>(
    "GET",
    "/apis/hypershift.openshift.io/v1beta1/hostedclusters",
  );
  expect(clusters.body.items.map(({ metadata }) => metadata.name)).toEqual(["green"]);
  const azureClusters = await local.kube(
    "GET",
    "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org/azureclusters/amber",
  );
  expect(azureClusters.status).toBe(404);
}, 600_000);
