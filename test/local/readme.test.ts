import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { findOrBuildKubectl } from "../setup/binaries.ts";
import { folder, startLocal, untilAvailable } from "./running.ts";

const run = promisify(execFile);
const readme = readFileSync(join(root, "README.md"), "utf8");
const [, section = ""] = /## Five things to try\n([\s\S]*?)\n## /.exec(readme) ?? [];
const blocks = Array.from(section.matchAll(/```bash\n([\s\S]*?)```/g), (match) => match[1] ?? "");

/** Exit codes that are no failure: after the operator was killed, `doctor` finds that none is running. */
const answers: Record<number, number> = { 3: 3 };

/** What each of them shows. */
const shows = [
  ["cluster clusters/blue", "No changes."],
  ["hostedcluster.hypershift.openshift.io/blue", "AzurePrivateLinkServiceAvailable"],
  ["From network blue: reachable"],
  ["The operator was stopped. Another one starts in 5 seconds.", "Kubernetes API"],
  ["clusters/blue was deleted.", "No orphaned resources found."],
];

test("the five things to try do what the README says", async ({ skip }) => {
  expect(blocks.length).toBe(5);
  const found = await findOrBuildKubectl((line) => console.log(line));
  if ("missing" in found) return skip(found.missing);
  const local = await startLocal("--speed", "100");
  await untilAvailable(local);
  const tools = join(folder(), "bin");
  mkdirSync(tools);
  symlinkSync(found.kubectl, join(tools, "kubectl"));
  // What npx finds in the checkout.
  writeFileSync(
    join(tools, "npx"),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, "packages/postern/bin/postern.js")}" "$@"\n`,
    { mode: 0o755 },
  );
  for (const [at, block] of blocks.entries()) {
    const here = block.replaceAll("http://127.0.0.1:7440", local.ready.dashboard.url);
    const { stdout } = await run("bash", ["-e", "-c", here], {
      env: {
        ...process.env,
        PATH: `${tools}:${process.env.PATH}`,
        KUBECONFIG: local.ready.kubeconfig,
        NO_COLOR: "1",
      },
    }).catch((error: { code: number; stdout: string }) => {
      if (error.code !== answers[at]) throw error;
      return error;
    });
    for (const text of shows[at] ?? []) expect(stdout, here).toContain(text);
  }
}, 300_000);
