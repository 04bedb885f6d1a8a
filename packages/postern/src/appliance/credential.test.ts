import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "@postern/core/clock.ts";
import { expect, onTestFinished, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { cloudNamed } from "../azure/clouds.ts";
import type { EntraOptions } from "../azure/entra.ts";
import { type DefaultCredentialOptions, defaultCredential } from "./credential.ts";

const tenant = "11111111-1111-1111-1111-111111111111";
const client = "22222222-2222-2222-2222-222222222222";
const principal = { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client };

/** A machine with a metadata service, and an Entra that tells by its token what it was asked with. */
async function machine() {
  const imds = await serve((_request, response) =>
    json(response, 200, { access_token: "of-the-machine", expires_on: "1999999999" }),
  );
  const authority = "https://login.example";
  const httpClient: NonNullable<EntraOptions["httpClient"]> = {
    async sendRequest(request) {
      const form = new URLSearchParams(String(request.body ?? ""));
      const at = `${authority}/${tenant}`;
      const body =
        request.method === "GET"
          ? {
              issuer: `${at}/v2.0`,
              authorization_endpoint: `${at}/authorize`,
              token_endpoint: `${at}/token`,
              jwks_uri: `${at}/keys`,
            }
          : {
              token_type: "Bearer",
              expires_in: 3600,
              access_token: form.get("client_secret") ?? form.get("client_assertion"),
            };
      const { headers } = request;
      return { request, headers, status: 200, bodyAsText: JSON.stringify(body) };
    },
  };
  const cloud = { ...cloudNamed("AzurePublicCloud"), custom: true, authorityHost: authority };
  const place = {
    cloud,
    imdsHost: imds.url,
    clock: realClock,
    failed: () => undefined,
  };
  const credential = (options: DefaultCredentialOptions) =>
    defaultCredential({ httpClient, ...options })(place);
  return { imds, credential };
}

function tokenFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-credential-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "token");
  writeFileSync(file, "federated");
  return file;
}

test("the environment counts before workload identity, and that before the machine's identity", async () => {
  const { imds, credential } = await machine();
  const workload = { ...principal, AZURE_FEDERATED_TOKEN_FILE: tokenFile() };
  const secret = { ...workload, AZURE_CLIENT_SECRET: "of-the-environment" };
  expect(await credential({ env: secret }).token()).toBe("of-the-environment");
  expect(await credential({ env: workload }).token()).toBe("federated");
  expect(credential({ env: workload }).identity).toBe(`${tenant}/${client}`);
  expect(imds.requests).toEqual([]);
  expect(await credential({ env: {} }).token()).toBe("of-the-machine");
});

test.each([
  [{ env: {} }, null],
  [{ env: { AZURE_CLIENT_ID: "" } }, null],
  [{ env: { AZURE_CLIENT_ID: client } }, client],
  [{ env: { AZURE_CLIENT_ID: client }, clientId: "chosen" }, "chosen"],
])("of the machine's identities %j is client %j", async (options, id) => {
  const { imds, credential } = await machine();
  await credential(options).token();
  const { searchParams } = new URL(imds.requests[0]?.url ?? "", imds.url);
  expect(searchParams.get("client_id")).toBe(id);
});

test.each([
  [{ AZURE_CLIENT_SECRET: "s", AZURE_CLIENT_ID: client }, "AZURE_TENANT_ID is not set"],
  [{ AZURE_FEDERATED_TOKEN_FILE: "/t", AZURE_TENANT_ID: tenant }, "AZURE_CLIENT_ID is not set"],
])("half of %j is an error, and no reason to act as somebody else", async (env, says) => {
  const { imds, credential } = await machine();
  expect(() => credential({ env })).toThrow(says);
  expect(imds.requests).toEqual([]);
});

test("one that is configured and fails does not lead to the machine's identity", async () => {
  const { imds, credential } = await machine();
  const env = { ...principal, AZURE_FEDERATED_TOKEN_FILE: "/no/such/file" };
  await expect(credential({ env }).token()).rejects.toMatchObject({
    code: "CredentialUnreadable",
    status: 0,
  });
  expect(imds.requests).toEqual([]);
});
