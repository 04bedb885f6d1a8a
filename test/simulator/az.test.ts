import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment } from "@postern/azure-simulator/command/env.ts";
import { readyOf } from "@postern/azure-simulator/command/ready.ts";
import { readSeed } from "@postern/azure-simulator/state/seed-file.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { startChecked } from "./start.ts";

const run = promisify(execFile);
const page = join(import.meta.dirname, "../../docs/guides/simulator-clients.md");
const seed = `
tenants: [{ id: 7e4a4700-0000-4000-8000-000000000001 }]
subscriptions: [{ id: 50b5c21b-0000-4000-8000-000000000001, tenant: 7e4a4700-0000-4000-8000-000000000001 }]
applications: [{ name: owner, tenant: 7e4a4700-0000-4000-8000-000000000001 }]
roleAssignments:
  - { principal: owner, role: Owner, scope: /subscriptions/50b5c21b-0000-4000-8000-000000000001 }
`;

async function ready(): Promise<string> {
  const simulator = await startChecked({
    https: true,
    world: readSeed(seed, "the test"),
    retryAfterSeconds: 1,
  });
  const folder = mkdtempSync(join(tmpdir(), "az-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "ready.json");
  writeFileSync(`${file}.ca.pem`, simulator.ca ?? "");
  writeFileSync(file, JSON.stringify(await readyOf(simulator, "0.0.0", `${file}.ca.pem`)));
  return file;
}

test("the environment names the simulator and its first identity, in words that a shell takes", async () => {
  const file = await ready();
  const script = `${environment(file)}echo "$POSTERN_RESOURCE_MANAGER $AZURE_TENANT_ID $AZURE_SUBSCRIPTION_ID"`;
  const { stdout } = await run("sh", ["-c", script]);
  expect(stdout.trim()).toMatch(
    /^https:\/\/127\.0\.0\.1:\d+ 7e4a4700-0000-4000-8000-000000000001 50b5c21b-0000-4000-8000-000000000001$/,
  );
  expect(() => environment(`${file}.none`)).toThrow("--ready-file");
});

const az = process.env.POSTERN_AZ;

// It takes a Python environment of 700 MB: `pip install azure-cli`, and POSTERN_AZ names the folder of its programs.
describe.skipIf(az === undefined)("the Azure CLI, where POSTERN_AZ says where it is", () => {
  test("does what the page says", { timeout: 300_000 }, async () => {
    const file = await ready();
    const block = /## The Azure CLI\n+```sh\n([\s\S]*?)```/.exec(readFileSync(page, "utf8"))?.[1];
    const script = `set -e\nPATH=${az}:$PATH\n${environment(file)}${block}az network lb list --query '[].name' -o tsv`;
    const { stdout } = await run("bash", ["-c", script]);
    expect(stdout.trim().split("\n").at(-1)).toBe("lb");
  });
});
