import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { environment, exportLines } from "@postern/azure-simulator/command/env.ts";
import { makeToken, sharedSigningKey } from "@postern/core/test-bed/jwt.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeWhere } from "../setup/needs.ts";
import { findOrInstallAzurePython } from "../setup/python.ts";
import {
  federated,
  foreignWorld,
  scratch,
  seed,
  shellEnvironment,
  tenant,
} from "./foreign-world.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const page = join(root, "docs/guides/simulator-clients.md");
const program = join(root, "packages/azure-simulator/bin/azure-simulator.js");
const azure = await findOrInstallAzurePython((line) => process.stderr.write(`${line}\n`));
const installed = "missing" in azure ? { python: "", programs: "" } : azure;

test("the environment names the simulator and its first identity, in words that a shell takes", async () => {
  const { readyFile } = await foreignWorld();
  const script = `${exportLines(environment(readyFile))}echo "$POSTERN_RESOURCE_MANAGER $AZURE_TENANT_ID $AZURE_SUBSCRIPTION_ID"`;
  const { stdout } = await run("sh", ["-c", script]);
  expect(stdout.trim()).toMatch(
    /^https:\/\/127\.0\.0\.1:\d+ 7e4a4700-0000-4000-8000-000000000001 50b5c21b-0000-4000-8000-000000000001$/,
  );
  const { stdout: json } = await run(process.execPath, [program, "env", readyFile, "-o", "json"]);
  expect(JSON.parse(json)).toEqual(environment(readyFile));
  expect(() => environment(`${readyFile}.none`)).toThrow("--ready-file");
});

describeWhere("missing" in azure ? azure.missing : undefined, "the Azure CLI", () => {
  test("does what the page says", { timeout: 300_000 }, async () => {
    const blocks = [...readFileSync(page, "utf8").matchAll(/^```sh\n([\s\S]*?)```/gm)];
    const [start, azure, terraform, undo] = blocks.map(([, block]) => block);
    expect(terraform).toContain("terraform apply");
    // The command as it is, on ports that are free.
    const ports = "--listen 127.0.0.1:0 --http-listen 127.0.0.1:0";
    const npx = `npx() { [ "$3" = env ] || set -- "$@" ${ports}; shift 2; exec ${process.execPath} ${program} "$@"; }`;
    const script = `set -e\nPATH=${installed.programs}:$PATH\n${npx}\n${start}${azure}${undo}`;
    const folder = scratch();
    const { stdout } = await run("bash", ["-c", script], { cwd: folder });
    expect(stdout).toContain('"resourceGroup": "rg"');
    expect(readdirSync(folder)).toEqual([]);
  });

  test("takes a link, an endpoint, a zone and a gateway pool from creation to deletion", async () => {
    const { simulator, readyFile } = await foreignWorld();
    const before = Object.keys(simulator.snapshot().resources);
    const az = session(await shellEnvironment(readyFile));
    await signIn(az, await shellEnvironment(readyFile));
    const rg = "--resource-group rg --location westeurope";

    await az(`network vnet create ${rg} --name management --address-prefixes 10.0.0.0/16
      --subnet-name nodes --subnet-prefixes 10.0.0.0/24`);
    await az(`network vnet subnet create --resource-group rg --vnet-name management --name nat
      --address-prefixes 10.0.1.0/24 --private-link-service-network-policies Disabled`);
    await az(`network lb create ${rg} --name api --sku Standard --vnet-name management
      --subnet nodes --frontend-ip-name front --backend-pool-name nodes`);
    await az("network lb probe create -g rg --lb-name api -n tcp --protocol Tcp --port 6443");
    await az(`network lb rule create -g rg --lb-name api -n api --protocol Tcp --frontend-port 6443
      --backend-port 6443 --frontend-ip-name front --backend-pool-name nodes --probe-name tcp`);
    const link = await az(`network private-link-service create ${rg} --name link
      --vnet-name management --subnet nat --lb-name api --lb-frontend-ip-configs front`);
    expect(link.alias).toMatch(/^link\..*\.westeurope\.azure\.privatelinkservice$/);

    await az(`network vnet create ${rg} --name workers --address-prefixes 10.1.0.0/16
      --subnet-name endpoints --subnet-prefixes 10.1.0.0/24`);
    await az(`network private-endpoint create ${rg} --name endpoint --vnet-name workers
      --subnet endpoints --connection-name c --manual-request true
      --private-connection-resource-id ${link.id}`);
    const status = async () =>
      (await az("network private-endpoint show -g rg -n endpoint"))
        .manualPrivateLinkServiceConnections[0].privateLinkServiceConnectionState.status;
    expect(await status()).toBe("Pending");
    const asked = await az("network private-link-service show -g rg -n link");
    await az(`network private-link-service connection update -g rg --service-name link
      --name ${asked.privateEndpointConnections[0].name} --connection-status Approved`);
    expect(await status()).toBe("Approved");

    await az("network private-dns zone create -g rg -n hosted.example");
    await az(`network private-dns link vnet create -g rg -z hosted.example -n workers -v workers
      --registration-enabled false`);
    await az(`network private-dns record-set a add-record -g rg -z hosted.example -n api
      --ipv4-address 10.1.0.4`);
    expect(await az("network private-dns record-set a list -g rg -z hosted.example")).toMatchObject(
      [{ name: "api", aRecords: [{ ipv4Address: "10.1.0.4" }] }],
    );

    await az(`network lb create ${rg} --name gateway --sku Gateway --vnet-name management
      --subnet nodes --backend-pool-name appliances`);
    const pool = await az(`network lb address-pool tunnel-interface add -g rg --lb-name gateway
      --address-pool appliances --type external --protocol VXLAN --identifier 901`);
    expect(pool.tunnelInterfaces).toMatchObject([
      { type: "Internal", identifier: 900, port: 10800 },
      { type: "External", identifier: 901, port: 10801 },
    ]);
    await az(`network lb address-pool address add -g rg --lb-name gateway --pool-name appliances
      --name one --vnet management --ip-address 10.0.0.9`);

    await az("network private-endpoint delete -g rg -n endpoint");
    await az("network private-link-service delete -g rg -n link");
    await az("network lb delete -g rg -n api");
    await az("network lb delete -g rg -n gateway");
    await az("network private-dns link vnet delete -g rg -z hosted.example -n workers --yes");
    await az("network private-dns zone delete -g rg -n hosted.example --yes");
    await az("network vnet delete -g rg -n workers");
    await az("network vnet delete -g rg -n management");
    const left = Object.keys(simulator.snapshot().resources);
    expect(left.filter((id) => !id.includes("/deployments/lb_deploy_"))).toEqual(before);
    const missing = await az.fails("network private-link-service show -g rg -n link");
    expect(missing).toContain("(ResourceNotFound)");
  });

  test("signs in with a federated token, signs out, and clears its accounts", async () => {
    const { readyFile } = await foreignWorld();
    const variables = await shellEnvironment(readyFile);
    const az = session(variables);
    const at = Math.floor(Date.now() / 1000);
    const claims = { iss: federated.issuer, sub: federated.subject };
    const token = makeToken(
      { ...claims, aud: "api://AzureADTokenExchange", iat: at, nbf: at, exp: at + 600 },
      sharedSigningKey(),
    );
    await register(az, variables);
    const who = `--service-principal --username ${variables.AZURE_CLIENT_ID} --tenant ${tenant}`;
    expect(await az.fails(`login ${who} --password wrong`)).toContain("AADSTS7000215");
    await az(`login ${who} --federated-token ${token}`);
    expect(await az("group list")).toMatchObject([{ name: "rg" }]);
    await az("logout");
    expect(await az.fails("group list")).toContain("az login");
    await signIn(az, variables);
    expect(await az("account list")).toHaveLength(1);
    await az("account clear");
    expect(await az("account list")).toEqual([]);
  });

  test("goes on with its cached token when the simulator restarts without its state", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "seed.yaml"), seed);
    const readyFile = join(folder, "ready.json");
    const first = await startProgram(readyFile);
    const variables = await shellEnvironment(readyFile);
    const before = session(variables);
    await signIn(before, variables);
    await before("group list");
    const { port } = new URL(variables.POSTERN_RESOURCE_MANAGER ?? "");
    await first.end();

    await startProgram(readyFile, port);
    expect(await session(variables)("group list")).toMatchObject([{ name: "rg" }]);
  });
});

type Parsed = ReturnType<typeof JSON.parse>;
type Session = ReturnType<typeof session>;

/** Commands of az in one process. A command that fails is an error, but for `fails`, which gives what it said. */
function session(variables: Record<string, string>) {
  const child = spawn(installed.python, [join(root, "test/azure-python/session.py")], {
    env: variables,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = async (command: string) => {
    child.stdin.write(`${JSON.stringify(command.trim().split(/\s+/))}\n`);
    const { value = "" } = await lines.next();
    return JSON.parse(value) as { code: number; out: string; err: string };
  };
  const az = async (command: string): Promise<Parsed> => {
    const { code, out, err } = await send(command);
    if (code !== 0) throw new Error(`az ${command}: exit ${code}\n${err}`);
    return out.trim() === "" ? undefined : JSON.parse(out);
  };
  const fails = async (command: string): Promise<string> => {
    const { code, err } = await send(command);
    expect(code).not.toBe(0);
    return err;
  };
  return Object.assign(az, { fails });
}

async function register(az: Session, variables: Record<string, string>): Promise<void> {
  const address = variables.POSTERN_RESOURCE_MANAGER;
  await az(`cloud register --name Postern --endpoint-resource-manager ${address}`);
  await az("cloud set --name Postern");
}

async function signIn(az: Session, variables: Record<string, string>): Promise<void> {
  const { AZURE_CLIENT_ID: user, AZURE_CLIENT_SECRET: secret } = variables;
  if ((await az("cloud show")).name !== "Postern") await register(az, variables);
  await az(`login --service-principal --username ${user} --password ${secret} --tenant ${tenant}`);
}

/** The simulator as a process: one that restarts in this process would have the same key. */
async function startProgram(readyFile: string, port = "0") {
  const args = ["--listen", `127.0.0.1:${port}`, "--http-listen", "127.0.0.1:0"];
  const world = ["--seed", join(readyFile, "../seed.yaml"), "--ready-file", readyFile];
  const child = spawn(process.execPath, [program, ...args, ...world], { stdio: "ignore" });
  const ended = once(child, "exit");
  const end = async () => {
    child.kill();
    await ended;
  };
  onTestFinished(end);
  await vi.waitFor(() => expect(existsSync(readyFile)).toBe(true), 15_000);
  return { end };
}
