import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { failure } from "../../../../test/azure/fake-arm.ts";
import { json, type ReceivedRequest, serve } from "../../../../test/loopback.ts";
import { cloudNamed, customCloud } from "./clouds.ts";
import { credentialFromEnvironment, credentialFromFile } from "./credential.ts";
import { clientCertificate, type EntraOptions } from "./entra.ts";

const tenant = "11111111-1111-1111-1111-111111111111";
const client = "22222222-2222-2222-2222-222222222222";
const authority = "https://login.example";

async function file(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "credentials");
  await writeFile(path, text);
  return path;
}

/** An Entra on loopback. The SDK speaks only https, so its requests are carried there by hand. */
async function entra(
  answer: (form: URLSearchParams, response: Parameters<typeof json>[0]) => void = (
    _form,
    response,
  ) => json(response, 200, { token_type: "Bearer", expires_in: 3600, access_token: "entra-token" }),
) {
  const { url, requests } = await serve((one: ReceivedRequest, response) => {
    if (one.method === "POST") return answer(new URLSearchParams(one.body), response);
    const at = `${authority}/${tenant}`;
    json(response, 200, {
      issuer: `${at}/v2.0`,
      authorization_endpoint: `${at}/oauth2/v2.0/authorize`,
      token_endpoint: `${at}/oauth2/v2.0/token`,
      jwks_uri: `${at}/discovery/v2.0/keys`,
    });
  });
  const httpClient: NonNullable<EntraOptions["httpClient"]> = {
    async sendRequest(request) {
      expect(request.url).toMatch(/^https:\/\/login\.example\//);
      const response = await fetch(request.url.replace(authority, url), {
        method: request.method,
        headers: request.headers.toJSON(),
        ...(request.method === "POST" ? { body: String(request.body) } : {}),
      });
      const headers = request.headers;
      headers.set("content-type", "application/json");
      return { request, headers, status: response.status, bodyAsText: await response.text() };
    },
  };
  const cloud = {
    ...cloudNamed("AzurePublicCloud"),
    custom: true,
    authorityHost: authority,
  };
  const forms = () =>
    requests.filter(({ method }) => method === "POST").map(({ body }) => new URLSearchParams(body));
  return { options: { cloud, httpClient }, forms };
}

const platform = { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client };
const fileWith = (secret: string) =>
  `subscriptionId: sub-1\ntenantId: ${tenant}\nclientId: ${client}\nclientSecret: ${secret}\n`;

describe("the credential of the environment", () => {
  test("is the token file that the platform writes", async () => {
    const { options, forms } = await entra();
    const env = { ...platform, AZURE_FEDERATED_TOKEN_FILE: await file("federated-token\n") };
    const { tokens } = await credentialFromEnvironment(env, options);
    expect(tokens.identity).toBe(`${tenant}/${client}`);
    expect(await tokens.token()).toBe("entra-token");
    expect(Object.fromEntries(forms()[0] ?? [])).toMatchObject({
      client_id: client,
      client_assertion: "federated-token",
      grant_type: "client_credentials",
      scope: expect.stringContaining("https://management.azure.com/.default"),
    });
  });

  test("is the platform's, and not the file, where AZURE_PLS_CLIENT_ID switches it on", async () => {
    const { options, forms } = await entra();
    const env = {
      ...platform,
      AZURE_PLS_CLIENT_ID: "only a switch",
      AZURE_FEDERATED_TOKEN_FILE: await file("federated-token"),
      AZURE_CREDENTIALS_FILE: "/nowhere",
      AZURE_SUBSCRIPTION_ID: "sub-9",
    };
    const credential = await credentialFromEnvironment(env, options);
    expect(credential.subscriptionId).toBe("sub-9");
    await credential.tokens.token();
    expect(forms()[0]?.get("client_id")).toBe(client);
  });

  test("is the machine's where AZURE_PLS_CLIENT_ID is all there is", async () => {
    const imds = await serve((_request, response) =>
      json(response, 200, { access_token: "imds-token", expires_on: "1999999999" }),
    );
    const env = {
      AZURE_PLS_CLIENT_ID: client,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url,
    };
    const cloud = cloudNamed("AzurePublicCloud");
    const { tokens } = await credentialFromEnvironment(env, { cloud });
    expect(await tokens.token()).toBe("imds-token");
    expect(imds.requests[0]?.url).toContain(`client_id=${client}`);
  });

  test.each([
    ["YAML", fileWith("s3cr3t")],
    [
      "JSON",
      JSON.stringify({
        subscriptionId: "sub-1",
        tenantId: tenant,
        clientId: client,
        clientSecret: "s3cr3t",
      }),
    ],
  ])("is a file of %s, which also says the subscription", async (_name, text) => {
    const { options, forms } = await entra();
    const env = { AZURE_CREDENTIALS_FILE: await file(text) };
    const credential = await credentialFromEnvironment(env, options);
    expect(credential.subscriptionId).toBe("sub-1");
    expect(await credential.tokens.token()).toBe("entra-token");
    expect(forms()[0]?.get("client_secret")).toBe("s3cr3t");
  });

  test("takes the subscription of the environment before that of the file", async () => {
    const { options } = await entra();
    const env = {
      AZURE_CREDENTIALS_FILE: await file(fileWith("x")),
      AZURE_SUBSCRIPTION_ID: "sub-9",
    };
    expect((await credentialFromEnvironment(env, options)).subscriptionId).toBe("sub-9");
  });

  test("asks where the platform says that the identity lives", async () => {
    const { options } = await entra();
    const env = { ...platform, AZURE_CLIENT_SECRET: "s", AZURE_AUTHORITY_HOST: `${authority}/` };
    const elsewhere = { ...options.cloud, authorityHost: "https://login.elsewhere.example" };
    const { tokens } = await credentialFromEnvironment(env, { ...options, cloud: elsewhere });
    expect(await tokens.token()).toBe("entra-token");
  });

  test("is the certificate that signs for the application", async () => {
    const { options, forms } = await entra();
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    // Only Entra looks into the certificate; the SDK sends a digest of it.
    const certificate = Buffer.from("a certificate").toString("base64");
    const pem = `${key}-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;
    const env = { ...platform, AZURE_CLIENT_CERTIFICATE_PATH: await file(pem) };
    const { tokens } = await credentialFromEnvironment(env, options);
    expect(await tokens.token()).toBe("entra-token");
    const [, claims = ""] = forms()[0]?.get("client_assertion")?.split(".") ?? [];
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({ iss: client });
  });

  test("that is a certificate which cannot be read says so", async () => {
    const { options } = await entra();
    const env = { ...platform, AZURE_CLIENT_CERTIFICATE_PATH: "/nowhere/cert.pem" };
    const { tokens } = await credentialFromEnvironment(env, options);
    expect(await failure(tokens.token())).toMatchObject({ code: "CredentialUnreadable" });
  });

  test("that is missing is said, with the variables that would give one", async () => {
    const error = await failure(credentialFromEnvironment({}, { cloud: cloudNamed(undefined) }));
    expect(error.code).toBe("CredentialMissing");
    expect(error.message).toContain("AZURE_CREDENTIALS_FILE");
  });

  test.each([
    ["AZURE_TENANT_ID", { AZURE_CLIENT_ID: client }],
    ["AZURE_CLIENT_ID", { AZURE_TENANT_ID: tenant }],
  ])("that lacks %s says so", async (name, env) => {
    const all = { ...env, AZURE_FEDERATED_TOKEN_FILE: "/token" };
    const error = await failure(credentialFromEnvironment(all, { cloud: cloudNamed(undefined) }));
    expect(error.message).toContain(`${name} is not set`);
  });
});

describe("a credential file", () => {
  test("whose secret was changed counts from the next token on", async () => {
    const { options, forms } = await entra();
    const path = await file(fileWith("old"));
    const { tokens } = await credentialFromFile(path, options);
    const first = await tokens.token();
    await writeFile(path, fileWith("new"));
    await tokens.token(undefined, first);
    expect(forms().map((form) => form.get("client_secret"))).toEqual(["old", "new"]);
  });

  test.each([
    ["broken", "clientSecret: [s3cr3t\n  bad: ]: {", "neither YAML nor JSON"],
    ["empty", "", "it does not say subscriptionId, tenantId, clientId, clientSecret"],
    ["a list", "- s3cr3t", "it does not say subscriptionId"],
    [
      "without a client",
      fileWith("s3cr3t").replace(/clientId.*\n/, ""),
      "it does not say clientId",
    ],
  ])("that is %s is refused, and nothing of it is reported", async (_name, text, detail) => {
    const error = await failure(
      credentialFromFile(await file(text), { cloud: cloudNamed(undefined) }),
    );
    expect(error.code).toBe("CredentialUnreadable");
    expect(error.message).toContain(detail);
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("s3cr3t");
  });

  test("that is not there is named", async () => {
    const error = await failure(credentialFromFile("/nowhere/x", { cloud: cloudNamed(undefined) }));
    expect(error.message).toContain("/nowhere/x");
  });
});

describe("Entra's refusal", () => {
  const env = { ...platform, AZURE_CLIENT_SECRET: "s3cr3t-value" };

  test.each([
    ["AADSTS7000215", "Invalid client secret provided.", "configure the value of the secret"],
    ["AADSTS700016", "Application with identifier 'x' was not found.", "check clientId"],
    ["AADSTS999999", "Something new.", "check tenantId, clientId"],
  ])("%s is reported with what to do", async (code, sentence, hint) => {
    const { options } = await entra((_form, response) =>
      json(response, 401, {
        error: "invalid_client",
        error_description: `${code}: ${sentence} Trace ID: 0d2f7d3c-6a0e-4f1b-9d54-0a4c1f2b3c4d Timestamp: 2026-01-02 03:04:05Z`,
        error_codes: [Number(code.slice(6))],
      }),
    );
    const { tokens } = await credentialFromEnvironment(env, options);
    const error = await failure(tokens.token());
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(hint);
    expect(error.message).not.toMatch(/2026|0d2f7d3c/);
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("s3cr3t-value");
  });

  test("a token file that is not there is a clear error", async () => {
    const { options } = await entra();
    const env = { ...platform, AZURE_FEDERATED_TOKEN_FILE: "/nowhere/token" };
    const { tokens } = await credentialFromEnvironment(env, options);
    expect(await failure(tokens.token())).toMatchObject({ code: "CredentialUnreadable" });
  });

  test("a token file that is empty is a clear error", async () => {
    const { options } = await entra();
    const env = { ...platform, AZURE_FEDERATED_TOKEN_FILE: await file("\n") };
    const { tokens } = await credentialFromEnvironment(env, options);
    expect(await failure(tokens.token())).toMatchObject({ code: "CredentialUnreadable" });
  });

  test("an Entra that does not answer is a clear error", async () => {
    const cloud = customCloud({ resourceManager: "https://arm.example", authorityHost: authority });
    const httpClient: NonNullable<EntraOptions["httpClient"]> = {
      sendRequest: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })),
    };
    const { tokens } = await credentialFromEnvironment(env, { cloud, httpClient });
    expect(await failure(tokens.token())).toMatchObject({ code: "Unreachable" });
  });
});

test.each([
  ["a megabyte of dashes, which the SDK searches for minutes", "-".repeat(1_000_000)],
  ["a key without an end", "-----BEGIN PRIVATE KEY-----\ncanary"],
  ["no key", "-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----"],
])("a tenant's certificate that is %s is refused, and not quoted", async (_what, certificate) => {
  const principal = { tenantId: "t", clientId: "c" };
  const cloud = cloudNamed("AzurePublicCloud");
  const source = clientCertificate(
    { ...principal, certificate: () => Promise.resolve({ certificate, password: "canary" }) },
    { cloud },
  );
  const error = await failure(source.token());
  expect(error.code).toBe("CredentialUnreadable");
  expect(`${error.message}${error.cause}`).not.toContain("canary");
});
