import { execFile } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findOrBuildAzapi } from "../setup/binaries.ts";
import { describeWhere } from "../setup/needs.ts";
import { findOrInstallAzurePython } from "../setup/python.ts";
import { foreignWorld, scratch, shellEnvironment, subscription } from "./foreign-world.ts";

const run = promisify(execFile);
const tell = (line: string) => process.stderr.write(`${line}\n`);

/** Building Terraform's provider takes minutes: vitest.config.ts includes this file only where it is asked for. */
const terraform = await run("terraform", ["version"]).then(
  () => ({}),
  () => ({ missing: "terraform is not on the PATH" }),
);
const azure = await findOrInstallAzurePython(tell);
const azapi = await findOrBuildAzapi(tell);
const missing = [terraform, azure, azapi].flatMap((each) =>
  "missing" in each ? String(each.missing) : [],
);

describeWhere(missing[0], "Terraform's provider azapi", () => {
  test("applies a link service and an endpoint, then plans nothing, and destroys them", async () => {
    if ("missing" in azapi || "missing" in azure) return;
    const { simulator, readyFile } = await foreignWorld();
    const before = Object.keys(simulator.snapshot().resources);
    const variables = await shellEnvironment(readyFile);
    const folder = scratch();
    cpSync(join(import.meta.dirname, "../azure-terraform/main.tf"), join(folder, "main.tf"));
    const settings = join(folder, "terraform.rc");
    const overrides = `dev_overrides { "azure/azapi" = "${dirname(azapi.program)}" }`;
    writeFileSync(settings, `provider_installation {\n  ${overrides}\n}\n`);
    // As the guide says: the provider asks the Azure CLI for its tokens.
    const { ARM_CLIENT_ID: user, ARM_CLIENT_SECRET: secret, ...rest } = variables;
    const env = {
      ...rest,
      PATH: `${azure.programs}:${variables.PATH}`,
      TF_CLI_CONFIG_FILE: settings,
      TF_VAR_subscription: subscription,
      CHECKPOINT_DISABLE: "1",
    };
    const on = { env, cwd: folder };
    const az = async (...args: string[]) => run("az", args, on);
    const endpoint = String(variables.POSTERN_RESOURCE_MANAGER);
    await az("cloud", "register", "--name", "Postern", "--endpoint-resource-manager", endpoint);
    await az("cloud", "set", "--name", "Postern");
    const who = ["--username", String(user), "--password", String(secret)];
    const tenant = ["--tenant", String(variables.AZURE_TENANT_ID)];
    await az("login", "--service-principal", ...who, ...tenant);

    await run("terraform", ["apply", "-auto-approve", "-no-color"], on);
    const made = Object.keys(simulator.snapshot().resources);
    expect(
      made.filter((id) => /privateLinkServices\/link$|privateEndpoints\/endpoint$/.test(id)),
    ).toHaveLength(2);
    // It exits with 2 where something would change.
    await run("terraform", ["plan", "-detailed-exitcode", "-no-color"], on);
    await run("terraform", ["destroy", "-auto-approve", "-no-color"], on);
    expect(Object.keys(simulator.snapshot().resources)).toEqual(before);
  });
});
