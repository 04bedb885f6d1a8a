import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClientCertificateCredential } from "@azure/identity";
import { readSeed } from "@postern/azure-simulator/state/seed-file.ts";
import { makeCertificate } from "@postern/core/test-bed/certificates.ts";
import { expect, onTestFinished, test } from "vitest";
import { asker, group, subscription, tenant } from "./identity-world.ts";
import { startChecked } from "./start.ts";

const scope = "https://management.azure.com/.default";
const clientId = "c1111111-1111-4111-8111-111111111111";
const issuer = "https://cluster.example/oidc";
const seedHead = `
tenants:
  - id: ${tenant}
subscriptions:
  - id: ${subscription}
    tenant: ${tenant}
`;

test("tokens, the certificate authority, managed identities and roles go on after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postern-sign-in-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = { file: join(folder, "world.db") };
  const identity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cpo`;
  const credential = { issuer, subject: "s", audiences: ["a"] };
  const world = readSeed(
    `${seedHead}applications:
  - name: owner
    tenant: ${tenant}
    clientId: ${clientId}
    secret: hush
roleAssignments:
  - principal: owner
    role: Owner
    scope: /subscriptions/${subscription}
`,
    "world.yaml",
  );
  const first = await startChecked({ state, world, https: true });
  const owner = first.directory.application(clientId);
  if (!owner) throw new Error("the seed made nobody");
  const token = first.directory.tokenFor(owner);
  const ask = asker(first, token);
  await ask("PUT", group, { location: "eastus" });
  const made = await ask("PUT", identity, { location: "eastus" });
  await ask("PUT", `${identity}/federatedIdentityCredentials/fed`, { properties: credential });
  const { ca } = first;
  await first.close();

  const second = await startChecked({ state, https: true });
  onTestFinished(() => second.close());
  expect(second.ca).toBe(ca);
  expect((await asker(second, token)("GET", group)).status).toBe(200);
  const back = second.directory.application(made.body.properties.clientId);
  expect(back).toMatchObject({
    objectId: made.body.properties.principalId,
    federated: [{ name: "fed", ...credential }],
  });
});

test("a seed gives an application a certificate and makes the keys of an issuer known", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const held = makeCertificate({ subject: "client", key: privateKey });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k1" };
  const world = readSeed(
    `${seedHead}issuers:
  - issuer: ${issuer}
    keys: ${JSON.stringify([jwk])}
applications:
  - name: client
    tenant: ${tenant}
    clientId: ${clientId}
    certificate: ${JSON.stringify(held.certificate)}
    federatedCredentials:
      - { issuer: "${issuer}", subject: s, audiences: [a] }
`,
    "world.yaml",
  );
  const simulator = await startChecked({ world, https: true });
  onTestFinished(() => simulator.close());
  const credential = new ClientCertificateCredential(
    tenant,
    clientId,
    { certificate: held.key + held.certificate },
    {
      authorityHost: simulator.httpsUrl ?? "",
      disableInstanceDiscovery: true,
      tlsOptions: { ca: simulator.ca ?? "" },
    },
  );
  expect((await credential.getToken(scope)).token).toContain(".");
  const attempt = async (key: KeyObject) => {
    const answer = await fetch(`${simulator.url}/${tenant}/oauth2/v2.0/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        scope,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion(key),
      }),
    });
    return answer.status;
  };
  expect(await attempt(privateKey)).toBe(200);
  expect(await attempt(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey)).toBe(401);
});

test.each([
  [
    "keys that are none",
    "issuers:\n  - issuer: https://i.example\n    keys: [{ a: b }]\n",
    "keys of issuers[0]",
  ],
  [
    "a certificate that is none",
    `applications:\n  - name: a\n    tenant: ${tenant}\n    certificate: nonsense\n`,
    "certificate of applications[0]",
  ],
])("a seed with %s is refused with its place", async (_what, text, words) => {
  const world = readSeed(`${seedHead}${text}`, "world.yaml");
  await expect(startChecked({ world })).rejects.toThrow(words);
});

function assertion(key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: "s", aud: "a", iat: now, exp: now + 600 };
  const signed = `${part({ alg: "RS256", kid: "k1" })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}
