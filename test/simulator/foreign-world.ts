import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment, exportLines } from "@postern/azure-simulator/command/env.ts";
import { readyOf } from "@postern/azure-simulator/command/ready.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { readSeed } from "@postern/azure-simulator/state/seed-file.ts";
import { onTestFinished } from "vitest";
import { startChecked } from "./start.ts";

const run = promisify(execFile);

export const tenant = "7e4a4700-0000-4000-8000-000000000001";
export const subscription = "50b5c21b-0000-4000-8000-000000000001";
export const federated = { issuer: "https://cluster.example", subject: "system:sa:ns:operator" };
export const group = `/subscriptions/${subscription}/resourceGroups/rg`;

/** A world with an owner and a resource group. */
export const seed = `
tenants: [{ id: ${tenant} }]
subscriptions: [{ id: ${subscription}, tenant: ${tenant}, name: Simulated }]
applications:
  - name: owner
    tenant: ${tenant}
    clientId: c1111111-1111-4111-8111-111111111111
    secret: a-secret-of-this-test
    federatedCredentials: [{ name: cluster, issuer: "${federated.issuer}", subject: "${federated.subject}" }]
roleAssignments:
  - { principal: owner, role: Owner, scope: /subscriptions/${subscription} }
resources:
  - { id: ${group}, location: westeurope }
`;

/** A folder for one test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-foreign-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A simulator over TLS, and the ready file that its program would write. */
export async function foreignWorld(): Promise<{ simulator: Simulator; readyFile: string }> {
  const simulator = await startChecked({
    https: true,
    world: readSeed(seed, "the test"),
    retryAfterSeconds: 1,
  });
  const file = join(scratch(), "ready.json");
  writeFileSync(`${file}.ca.pem`, simulator.ca ?? "");
  writeFileSync(file, JSON.stringify(await readyOf(simulator, "0.0.0", `${file}.ca.pem`)));
  return { simulator, readyFile: file };
}

/** The environment of a shell that has evaluated `postern simulator env`. */
export async function shellEnvironment(readyFile: string): Promise<Record<string, string>> {
  const { stdout } = await run("sh", ["-c", `${exportLines(environment(readyFile))}env -0`]);
  const lines = stdout.split("\0").filter((line) => line.includes("="));
  const variables = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  return { ...variables, AZURE_CORE_COLLECT_TELEMETRY: "false", AZURE_CORE_NO_COLOR: "true" };
}
