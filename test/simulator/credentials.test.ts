import { execFile } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NetworkManagementClient } from "@azure/arm-network";
import {
  ClientCertificateCredential,
  ClientSecretCredential,
  WorkloadIdentityCredential,
} from "@azure/identity";
import { startImds } from "@postern/azure-simulator/imds/imds.ts";
import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import { makeCertificate } from "@postern/core/test-bed/certificates.ts";
import { expect, onTestFinished, test } from "vitest";
import { asker, group, identityWorld, subscription, tenant } from "./identity-world.ts";

const scope = "https://management.azure.com/.default";
const child = fileURLToPath(new URL("credential-child.ts", import.meta.url));
const issuer = "https://cluster.example/oidc";
const subject = "system:serviceaccount:kube-system:control-plane-operator";
const identity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cpo`;
const machine = `${group}/providers/Microsoft.Compute/virtualMachines/vm`;

test("ClientSecretCredential gets a token that works, and hears why a wrong secret does not", async () => {
  const { simulator, sdk } = await world();
  const app = simulator.directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
  simulator.roles.makeOwner(app);
  const credential = new ClientSecretCredential(tenant, app.appId, "hush", sdk);
  const { token, expiresOnTimestamp } = await credential.getToken(scope);
  expect(expiresOnTimestamp - Date.now()).toBeGreaterThan(3_500_000);
  expect((await asker(simulator, token)("GET", group)).status).toBe(200);
  // Some clients ask for a token for the address that they were given.
  const ours = await credential.getToken(`${simulator.httpsUrl}/.default`);
  expect((await asker(simulator, ours.token)("GET", group)).status).toBe(200);
  const wrong = new ClientSecretCredential(tenant, app.appId, "loud", sdk);
  await expect(wrong.getToken(scope)).rejects.toThrow("AADSTS7000215");
  const unknown = new ClientSecretCredential(tenant, tenant, "loud", sdk);
  await expect(unknown.getToken(scope)).rejects.toThrow("AADSTS700016");
});

test("a client of Azure signs in and follows a long operation over TLS, with nothing given but the address", async () => {
  const { simulator, sdk } = await world({ retryAfterSeconds: 0, operationMs: { "*": 20 } });
  const app = simulator.directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
  simulator.roles.makeOwner(app);
  const client = new NetworkManagementClient(
    new ClientSecretCredential(tenant, app.appId, "hush", sdk),
    subscription,
    { endpoint: simulator.httpsUrl ?? "", tlsOptions: sdk.tlsOptions },
  );
  const made = await client.virtualNetworks.createOrUpdate("rg", "v", {
    location: "eastus",
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
  });
  expect(made.provisioningState).toBe("Succeeded");
  expect(simulator.log.entries({ path: "*/operations/*" }).length).toBeGreaterThan(0);
});

test("ClientCertificateCredential gets a token with a certificate that is registered, and none with another", async () => {
  const { simulator, sdk, folder } = await world();
  const certificate = () =>
    makeCertificate({
      subject: "client",
      key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
    });
  const [held, other] = [certificate(), certificate()];
  const app = simulator.directory.addApplication({ tenant, certificates: [held.certificate] });
  simulator.roles.makeOwner(app);
  const file = join(folder, "client.pem");
  await writeFile(file, held.key + held.certificate);
  const credential = new ClientCertificateCredential(tenant, app.appId, file, sdk);
  const { token } = await credential.getToken(scope);
  expect((await asker(simulator, token)("GET", group)).status).toBe(200);
  const pem = { certificate: other.key + other.certificate };
  const wrong = new ClientCertificateCredential(tenant, app.appId, pem, sdk);
  await expect(wrong.getToken(scope)).rejects.toThrow("AADSTS700027");
});

test("WorkloadIdentityCredential signs in as a managed identity until its credential is deleted", async () => {
  const { simulator, sdk, ask, folder } = await world();
  const made = await ask("PUT", identity, { location: "eastus" });
  const clientId: string = made.body.properties.clientId;
  await ask("PUT", `${identity}/federatedIdentityCredentials/cpo-fed-id`, {
    properties: { issuer, subject, audiences: ["openshift"] },
  });
  const tokenFilePath = await tokenFile(folder);
  const credential = () =>
    new WorkloadIdentityCredential({ tenantId: tenant, clientId, tokenFilePath, ...sdk });
  const { token } = await credential().getToken(scope);
  const refused = await asker(simulator, token)("GET", group);
  expect(refused.body.error).toMatchObject({
    code: "AuthorizationFailed",
    message: expect.stringContaining(made.body.properties.principalId),
  });
  await ask("DELETE", `${identity}/federatedIdentityCredentials/cpo-fed-id`);
  await expect(credential().getToken(scope)).rejects.toThrow("AADSTS70025");
  await ask("DELETE", identity);
  await expect(credential().getToken(scope)).rejects.toThrow("AADSTS700016");
});

test("DefaultAzureCredential finds workload identity and the authority in its environment", async () => {
  const { simulator, ask, folder } = await world();
  const made = await ask("PUT", identity, { location: "eastus" });
  await ask("PUT", `${identity}/federatedIdentityCredentials/cpo-fed-id`, {
    properties: { issuer, subject, audiences: ["openshift"] },
  });
  const ca = join(folder, "ca.pem");
  await writeFile(ca, simulator.ca ?? "");
  const said = await run(["default"], {
    NODE_EXTRA_CA_CERTS: ca,
    AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
    AZURE_TENANT_ID: tenant,
    AZURE_CLIENT_ID: made.body.properties.clientId,
    AZURE_FEDERATED_TOKEN_FILE: await tokenFile(folder),
    AZURE_TOKEN_CREDENTIALS: "WorkloadIdentityCredential",
  });
  expect((await asker(simulator, said.token ?? "")("GET", group)).status).toBe(403);
});

test("ManagedIdentityCredential gets the tokens of a machine's own and assigned identities, and no others", async () => {
  const { simulator, ask } = await world();
  const { directory, store } = simulator;
  const made = await ask("PUT", identity, { location: "eastus" });
  const own = directory.addSystemIdentity({
    tenant,
    objectId: "44444444-4444-4444-8444-444444444444",
    resourceId: machine,
  });
  store.put({
    id: machine,
    key: machine.toLowerCase(),
    type: "Microsoft.Compute/virtualMachines",
    name: "vm",
    top: {
      location: "eastus",
      identity: {
        type: "SystemAssigned, UserAssigned",
        principalId: own.objectId,
        userAssignedIdentities: { [identity]: {} },
      },
    },
    properties: {},
    state: "Succeeded",
    version: 1,
    etag: "",
  });
  const imds = await startImds(simulator, machine);
  onTestFinished(() => imds.close());
  const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url };
  const [mine, assigned, none] = await Promise.all([
    run(["managed"], env),
    run(["managed", made.body.properties.clientId], env),
    run(["managed", "55555555-5555-4555-8555-555555555555"], env),
  ]);
  const who = (token = "") => directory.authenticate(`Bearer ${token}`).objectId;
  expect(who(mine.token)).toBe(own.objectId);
  expect(who(assigned.token)).toBe(made.body.properties.principalId);
  expect(none.error).toContain("Identity not found");
});

async function world(options: SimulatorOptions = {}) {
  const { simulator, ask } = await identityWorld({ https: true, ...options });
  const folder = await mkdtemp(join(tmpdir(), "postern-credentials-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const sdk = {
    authorityHost: simulator.httpsUrl ?? "",
    disableInstanceDiscovery: true,
    tlsOptions: { ca: simulator.ca ?? "" },
  };
  return { simulator, ask, sdk, folder };
}

/** A token as a cluster makes it for a service account. */
async function tokenFile(folder: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: issuer, sub: subject, aud: ["openshift"], iat: now, exp: now + 3600 };
  const signed = `${part({ alg: "RS256", kid: "k1" })}.${part(claims)}`;
  const token = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
  const file = join(folder, "token");
  await writeFile(file, token);
  return file;
}

async function run(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ token?: string; error?: string }> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", child, ...args],
    { env: { PATH: process.env.PATH ?? "", ...env }, timeout: 50_000 },
  );
  return JSON.parse(stdout) as { token?: string; error?: string };
}
