import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { failure } from "../../test/azure/road.ts";
import { json, serve } from "../../test/loopback.ts";
import { type Cloud, cloudNamed } from "../azure/clouds.ts";
import type { EntraOptions } from "../azure/entra.ts";
import type { Change } from "../kube/cache.ts";
import { KubeClient } from "../kube/client.ts";
import type { KubeObject } from "../model/kind.ts";
import type { AzureClusterIdentity } from "../model/kinds/azure-cluster-identity.ts";
import { type AllowedNamespaces, allows } from "./allowed-namespaces.ts";
import { clusterIdentities } from "./cluster-identities.ts";

const tenant = "22222222-2222-4222-8222-222222222222";
const client = "44444444-4444-4444-8444-44444444abcd";
const authority = "https://login.example";
const publicCloud: Cloud = {
  ...cloudNamed("AzurePublicCloud"),
  authorityHost: authority,
  custom: true,
};

type Spec = Partial<Omit<AzureClusterIdentity["spec"], "type"> & { type: string }>;

function identity(spec: Spec = {}, metadata: Partial<KubeObject["metadata"]> = {}) {
  return {
    metadata: { namespace: "org", name: "one", uid: "uid-1", ...metadata },
    spec: {
      type: "ServicePrincipal",
      tenantID: tenant,
      clientID: client,
      clientSecret: { name: "one", namespace: "org" },
      allowedNamespaces: {},
      ...spec,
    },
  } as AzureClusterIdentity;
}

/** A cluster that has the given Secrets, gives tokens of its service accounts and says who we are. */
async function kube(secrets: Record<string, Record<string, string>>, username: string) {
  const { url } = await serve((seen, response) => {
    const secret = /^\/api\/v1\/namespaces\/(.+)\/secrets\/(.+)$/.exec(seen.url);
    const account = /^\/api\/v1\/namespaces\/(.+)\/serviceaccounts\/(.+)\/token$/.exec(seen.url);
    const held = secret && secrets[`${secret[1]}/${secret[2]}`];
    if (seen.url.endsWith("/selfsubjectreviews"))
      json(response, 201, { status: { userInfo: { username } } });
    else if (account) {
      const { spec } = JSON.parse(seen.body) as { spec: { audiences: string[] } };
      json(response, 201, { status: { token: `${account[1]}/${account[2]} ${spec.audiences}` } });
    } else if (held) {
      const data = Object.entries(held).map(([key, value]) => [
        key,
        Buffer.from(value).toString("base64"),
      ]);
      json(response, 200, { metadata: {}, data: Object.fromEntries(data) });
    } else json(response, 404, { kind: "Status", reason: "NotFound", code: 404 });
  });
  return new KubeClient({
    server: new URL(url),
    namespace: "default",
    source: "test",
    proof: async () => ({}),
  });
}

/** An Entra that gives everybody a token, and the forms that it was sent. */
function entra(): { options: Omit<EntraOptions, "cloud">; forms: URLSearchParams[] } {
  const forms: URLSearchParams[] = [];
  const httpClient: NonNullable<EntraOptions["httpClient"]> = {
    async sendRequest(request) {
      const { headers } = request;
      headers.set("content-type", "application/json");
      const at = `${authority}/${tenant}`;
      if (request.method === "POST") forms.push(new URLSearchParams(String(request.body)));
      const body =
        request.method === "POST"
          ? { token_type: "Bearer", expires_in: 3600, access_token: `token-${forms.length}` }
          : {
              issuer: `${at}/v2.0`,
              authorization_endpoint: `${at}/oauth2/v2.0/authorize`,
              token_endpoint: `${at}/oauth2/v2.0/token`,
              jwks_uri: `${at}/discovery/v2.0/keys`,
            };
      return { request, headers, status: 200, bodyAsText: JSON.stringify(body) };
    },
  };
  return { options: { httpClient }, forms };
}

interface Given {
  secrets?: Record<string, Record<string, string>>;
  username?: string;
  tokenFile?: string;
  imdsHost?: string;
}

async function world(first: AzureClusterIdentity, given: Given = {}) {
  const secrets = given.secrets ?? { "org/one": { clientSecret: "s3cr3t" } };
  const { options, forms } = entra();
  const client = await kube(secrets, given.username ?? "system:serviceaccount:postern:operator");
  const dropped: string[] = [];
  const objects = new Map<string, AzureClusterIdentity>([["org/one", first]]);
  const versions = new Map<string, KubeObject>();
  const namespaces = new Map<string, KubeObject>();
  const handlers: ((change: Change<AzureClusterIdentity>) => void)[] = [];
  const identities = clusterIdentities({
    means: (cloud) => ({
      kube: client,
      entra: { ...options, cloud },
      tokenFile: given.tokenFile,
      imdsHost: given.imdsHost,
    }),
    dropped: (each) => dropped.push(each),
  });
  identities.follow({
    identities: {
      get: (key) => objects.get(key),
      onChange: (handler) => {
        handlers.push(handler);
        return () => undefined;
      },
    },
    secrets: versions,
    namespaces,
  });
  const credential = (namespace: string | undefined = "clusters", cloud = publicCloud) =>
    identities.credentialOf(
      { namespace: "org", name: "one" },
      { what: `act in Azure for AzureCluster ${namespace}/a`, namespace },
      cloud,
    );
  const refusal = (namespace?: string) =>
    failure(Promise.resolve().then(() => credential(namespace).token()));
  const change = (after: AzureClusterIdentity | undefined) => {
    const before = objects.get("org/one");
    if (after) objects.set("org/one", after);
    else objects.delete("org/one");
    for (const handler of handlers) handler({ key: "org/one", before, after });
  };
  const secretIs = (resourceVersion: string) =>
    versions.set("org/one", { metadata: { name: "one", uid: "s", resourceVersion } });
  return { credential, refusal, forms, dropped, change, secretIs, secrets, namespaces, identities };
}

describe("the credential of an AzureClusterIdentity", () => {
  test.each(["ServicePrincipal", "ManualServicePrincipal"])(
    "of type %s is the secret of its Secret, without the line end that a person left",
    async (type) => {
      const secrets = { "org/one": { clientSecret: "s3cr3t\n" } };
      const { credential, forms } = await world(identity({ type }), { secrets });
      expect(await credential().token()).toBe("token-1");
      expect(Object.fromEntries(forms[0] ?? [])).toMatchObject({
        client_id: client,
        client_secret: "s3cr3t",
      });
    },
  );

  test("whose Secret is named without a namespace is beside it", async () => {
    const { credential, forms } = await world(identity({ clientSecret: { name: "one" } }));
    await credential().token();
    expect(forms[0]?.get("client_secret")).toBe("s3cr3t");
  });

  test.each([
    ["under clientSecret", (pem: string) => ({ clientSecret: pem })],
    ["under certificate", (certificate: string) => ({ certificate })],
  ])("of type ServicePrincipalCertificate is the certificate %s", async (_name, held) => {
    const secrets = { "org/one": held(pem()) };
    const { credential, forms } = await world(identity({ type: "ServicePrincipalCertificate" }), {
      secrets,
    });
    expect(await credential().token()).toBe("token-1");
    expect(claimsIn(forms[0])).toMatchObject({ iss: client });
  });

  test("of type ServicePrincipalCertificate is the file at certPath before the Secret", async () => {
    const certPath = await file(pem());
    const type = "ServicePrincipalCertificate";
    const { credential, forms } = await world(identity({ type, certPath }), { secrets: {} });
    await credential().token();
    expect(claimsIn(forms[0])).toMatchObject({ iss: client });
  });

  test("of type WorkloadIdentity is the pod's token file", async () => {
    const tokenFile = await file("federated-token\n");
    const { credential, forms } = await world(identity({ type: "WorkloadIdentity" }), {
      tokenFile,
    });
    await credential().token();
    expect(forms[0]?.get("client_assertion")).toBe("federated-token");
  });

  test("of type WorkloadIdentity without a token file is a token of our own service account", async () => {
    const { credential, forms } = await world(identity({ type: "WorkloadIdentity" }));
    await credential().token();
    expect(forms[0]?.get("client_assertion")).toBe("postern/operator api://AzureADTokenExchange");
  });

  test("of type WorkloadIdentity is missing where we are a person without a token file", async () => {
    const { refusal } = await world(identity({ type: "WorkloadIdentity" }), {
      username: "kubernetes-admin",
    });
    expect(await refusal()).toMatchObject({ code: "FederatedTokenMissing" });
  });

  test("of type UserAssignedMSI is the machine's, by its client id", async () => {
    const imds = await serve((_seen, response) =>
      json(response, 200, { access_token: "imds-token", expires_on: "1999999999" }),
    );
    const { credential } = await world(identity({ type: "UserAssignedMSI", tenantID: "" }), {
      imdsHost: imds.url,
    });
    expect(await credential().token()).toBe("imds-token");
    expect(imds.seen[0]?.url).toContain(`client_id=${client}`);
  });

  test.each(["UserAssignedIdentityCredential", "Tomorrow"])(
    "of type %s is refused and never a client without a credential",
    async (type) => {
      const { refusal } = await world(identity({ type }));
      const error = await refusal();
      expect(error.code).toBe("ClusterIdentityUnsupported");
      expect(error.message).toContain(`its type is ${type}`);
      expect(error.message).toContain("WorkloadIdentity");
    },
  );
});

describe("an AzureClusterIdentity that is half there", () => {
  const certificate = { type: "ServicePrincipalCertificate" };
  test.each<[string, Spec, Given["secrets"], string, string]>([
    ["without its Secret", {}, {}, "SecretMissing", "there is no Secret org/one"],
    [
      "with an empty Secret",
      {},
      { "org/one": {} },
      "SecretIncomplete",
      "there is nothing under its key clientSecret",
    ],
    [
      "with a blank secret",
      {},
      { "org/one": { clientSecret: " \n" } },
      "SecretIncomplete",
      "there is nothing under its key clientSecret",
    ],
    [
      "with a certificate without a key",
      certificate,
      { "org/one": { clientSecret: "-----BEGIN CERTIFICATE-----\ns3cr3t" } },
      "SecretIncomplete",
      "holds no private key in PEM",
    ],
    [
      "with a certificate in another form",
      certificate,
      { "org/one": { clientSecret: "s3cr3t" } },
      "SecretIncomplete",
      "holds no certificate and no private key in PEM",
    ],
    [
      "without the name of a Secret",
      { clientSecret: {} },
      {},
      "ClusterIdentityIncomplete",
      "its spec.clientSecret names no Secret",
    ],
    [
      "without a client",
      { clientID: "" },
      {},
      "ClusterIdentityIncomplete",
      "its spec.clientID is empty",
    ],
    [
      "without a tenant",
      { tenantID: "" },
      {},
      "ClusterIdentityIncomplete",
      "its spec.tenantID is empty",
    ],
  ])("%s says so, what to do, and nothing secret", async (_name, spec, secrets, code, said) => {
    const { refusal } = await world(identity(spec), { secrets: secrets ?? {} });
    const error = await refusal();
    expect(error.code).toBe(code);
    expect(error.message).toContain(said);
    expect(error.message.split(" · ")).toHaveLength(3);
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("s3cr3t");
  });

  test("that is not there at all is named", async () => {
    const { refusal, change } = await world(identity());
    change(undefined);
    const error = await refusal();
    expect(error.code).toBe("ClusterIdentityMissing");
    expect(error.message).toContain("there is no AzureClusterIdentity org/one");
    expect(error.message).toContain("AzureCluster clusters/a");
  });
});

describe("a credential is kept", () => {
  test("one for all who ask, and its identity does not depend on how it is spelt", async () => {
    const { credential } = await world(identity({ clientID: client.toUpperCase() }));
    expect(credential()).toBe(credential("other"));
    expect(credential().identity).toBe(`${tenant}/${client}`);
  });

  test("until its Secret changes, and then the new secret counts at once", async () => {
    const { credential, secretIs, secrets, forms } = await world(identity());
    secretIs("1");
    const first = credential();
    await first.token();
    expect(credential()).toBe(first);
    secrets["org/one"] = { clientSecret: "another" };
    secretIs("2");
    expect(credential()).not.toBe(first);
    await credential().token();
    expect(forms.map((form) => form.get("client_secret"))).toEqual(["s3cr3t", "another"]);
  });

  test.each<[string, Spec, Partial<KubeObject["metadata"]>]>([
    ["the client changes", { clientID: tenant }, {}],
    ["the tenant changes", { tenantID: client }, {}],
    ["another object takes its name", {}, { uid: "uid-2" }],
  ])("until %s", async (_name, spec, metadata) => {
    const { credential, change, dropped } = await world(identity());
    const first = credential();
    change(identity(spec, metadata));
    expect(credential()).not.toBe(first);
    expect(dropped).toEqual([`${tenant}/${client}`]);
  });

  test("until its identity is deleted", async () => {
    const { credential, change, dropped } = await world(identity());
    credential();
    change(undefined);
    expect(dropped).toEqual([`${tenant}/${client}`]);
  });

  test("not for another cloud, whose tokens are others", async () => {
    const { credential } = await world(identity());
    const china = cloudNamed("AzureChinaCloud");
    expect(credential("clusters", china)).not.toBe(credential());
  });

  test("not from before a restart of the watches", async () => {
    const { credential, identities } = await world(identity());
    const first = credential();
    identities.follow({
      identities: { get: () => identity(), onChange: () => () => undefined },
      secrets: new Map(),
      namespaces: new Map(),
    });
    expect(credential()).not.toBe(first);
  });

  test("and each user must show that it can act by it, before it is told what was seen", async () => {
    const { credential, secrets } = await world(identity());
    delete secrets["org/one"];
    expect(await failure(credential().prove?.() ?? Promise.resolve())).toMatchObject({
      code: "SecretMissing",
    });
  });
});

describe("allowedNamespaces", () => {
  const labels = { team: "a" };
  const selector = { matchLabels: labels };
  test.each<[string, AllowedNamespaces | null | undefined, boolean]>([
    ["that is absent admits nobody", undefined, false],
    ["that is null admits nobody", null, false],
    ["that is empty admits everybody", {}, true],
    ["with nothing in it admits everybody", { list: null, selector: null }, true],
    ["with the namespace in its list admits it", { list: ["b", "clusters"] }, true],
    ["with an empty list admits nobody", { list: [] }, false],
    ["with another namespace in its list does not admit it", { list: ["clusters-2"] }, false],
    ["whose selector meets its labels admits it", { selector }, true],
    [
      "whose selector does not meet them does not",
      { selector: { matchLabels: { team: "b" } } },
      false,
    ],
    ["with an empty selector admits nobody", { selector: {} }, false],
    ["with list and selector admits those in either", { list: ["b"], selector }, true],
  ])("%s", (_name, allowed, wanted) => {
    expect(allows(allowed, { name: "clusters", labels })).toBe(wanted);
  });

  test("counts for each cluster anew, whoever used the identity before", async () => {
    const { credential, refusal, namespaces } = await world(
      identity({ allowedNamespaces: { list: ["clusters"], selector } }),
    );
    credential("clusters");
    const error = await refusal("thief");
    expect(error.code).toBe("NamespaceNotAllowed");
    expect(error.message).toContain("org/one does not admit namespace thief");
    namespaces.set("thief", { metadata: { name: "thief", labels } });
    expect(credential("thief")).toBe(credential("clusters"));
  });

  test("does not bind whoever runs the operator", async () => {
    const { identities } = await world(identity({ allowedNamespaces: null }));
    const asker = { what: "act in Azure for VSphereCluster x/y", namespace: undefined };
    const named = { namespace: "org", name: "one" };
    expect(identities.credentialOf(named, asker, publicCloud).identity).toBe(`${tenant}/${client}`);
  });
});

function pem(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  // Only Entra looks into the certificate; the SDK sends a digest of it.
  const certificate = Buffer.from("a certificate").toString("base64");
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return `${key}-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;
}

function claimsIn(form: URLSearchParams | undefined): unknown {
  const [, claims = ""] = form?.get("client_assertion")?.split(".") ?? [];
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

async function file(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "held");
  await writeFile(path, text);
  return path;
}
