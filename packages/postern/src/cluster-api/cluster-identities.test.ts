import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { KubeObject } from "@postern/core/kind.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { failure } from "../../../../test/azure/fake-arm.ts";
import { HurriedClock } from "../../../../test/azure/hurried-clock.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { type Cloud, cloudNamed } from "../azure/clouds.ts";
import type { EntraOptions } from "../azure/entra.ts";
import type { Change } from "../kube/cache.ts";
import { KubeClient } from "../kube/client.ts";
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
async function kube(
  secrets: Record<string, Record<string, string>>,
  { username = "system:serviceaccount:postern:operator", annotations = {}, forbidden }: Given,
) {
  const { url, requests: asked } = await serve((request, response) => {
    const secret = /^\/api\/v1\/namespaces\/(.+)\/secrets\/(.+)$/.exec(request.url);
    const account = /^\/api\/v1\/namespaces\/(.+)\/serviceaccounts\/(.+)\/token$/.exec(request.url);
    const stored = secret && secrets[`${secret[1]}/${secret[2]}`];
    if (request.url.endsWith("/selfsubjectreviews"))
      json(response, 201, { status: { userInfo: { username } } });
    else if (account) {
      const { spec } = JSON.parse(request.body) as { spec: { audiences: string[] } };
      json(response, 201, { status: { token: `${account[1]}/${account[2]} ${spec.audiences}` } });
    } else if (secret && forbidden) {
      json(response, 403, { kind: "Status", reason: "Forbidden", code: 403 });
    } else if (stored) {
      const key = `${secret[1]}/${secret[2]}`;
      const now = JSON.stringify(stored);
      const metadata = { resourceVersion: now, annotations: annotations[key] ?? {} };
      const data = Object.entries(stored).map(([key, value]) => [
        key,
        Buffer.from(value).toString("base64"),
      ]);
      const isPartial = request.headers.accept?.includes("as=PartialObjectMetadata");
      json(response, 200, { metadata, ...(!isPartial && { data: Object.fromEntries(data) }) });
    } else json(response, 404, { kind: "Status", reason: "NotFound", code: 404 });
  });
  const client = new KubeClient({
    server: new URL(url),
    namespace: "default",
    source: "test",
    proof: async () => ({}),
  });
  return { client, asked };
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
  /** The annotations of Secrets. */
  annotations?: Record<string, Record<string, string>>;
  /** Whether the API server refuses every Secret. */
  forbidden?: boolean;
  acrossNamespaces?: boolean;
  /** The directory of certificates. */
  directory?: string;
}

async function world(first: AzureClusterIdentity, given: Given = {}) {
  const secrets = given.secrets ?? { "org/one": { clientSecret: "s3cr3t" } };
  const { options, forms } = entra();
  const { client, asked } = await kube(secrets, given);
  const clock = new HurriedClock(1_000);
  const dropped: string[] = [];
  const objects = new Map<string, AzureClusterIdentity>([["org/one", first]]);
  const namespaces = new Map<string, KubeObject>();
  const handlers: ((change: Change<AzureClusterIdentity>) => void)[] = [];
  const identities = clusterIdentities({
    means: (cloud) => ({
      kube: client,
      entra: { ...options, cloud, clock },
      tokenFile: given.tokenFile,
      imdsHost: given.imdsHost,
      acrossNamespaces: given.acrossNamespaces ?? false,
      certificateDirectory: given.directory ?? "/var/run/postern/certificates",
    }),
    dropped: ({ identity }) => dropped.push(identity),
  });
  identities.follow({
    identities: {
      get: (key) => objects.get(key),
      onChange: (handler) => {
        handlers.push(handler);
        return () => undefined;
      },
    },
    namespaces,
  });
  const credential = (namespace = "clusters", cloud = publicCloud) =>
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
  const reads = () => asked.filter(({ url }) => url.includes("/secrets/")).length;
  const dataReads = () =>
    asked.filter(
      ({ url, headers }) =>
        url.includes("/secrets/") && !headers.accept?.includes("as=PartialObjectMetadata"),
    ).length;
  return {
    credential,
    refusal,
    forms,
    dropped,
    change,
    secrets,
    namespaces,
    identities,
    clock,
    reads,
    dataReads,
  };
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
  ])("of type ServicePrincipalCertificate is the certificate %s", async (_name, secretOf) => {
    const secrets = { "org/one": secretOf(pem()) };
    const { credential, forms } = await world(identity({ type: "ServicePrincipalCertificate" }), {
      secrets,
    });
    expect(await credential().token()).toBe("token-1");
    expect(claimsIn(forms[0])).toMatchObject({ iss: client });
  });

  test("of type ServicePrincipalCertificate is the file at certPath before the Secret", async () => {
    const { directory } = await certificates({ "org/held": pem() });
    const certPath = `${directory}/org/held`;
    const type = "ServicePrincipalCertificate";
    const given = { secrets: {}, directory };
    const { credential, forms } = await world(identity({ type, certPath }), given);
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
    const imds = await serve((_request, response) =>
      json(response, 200, { access_token: "imds-token", expires_on: "1999999999" }),
    );
    const { credential } = await world(identity({ type: "UserAssignedMSI", tenantID: "" }), {
      imdsHost: imds.url,
    });
    expect(await credential().token()).toBe("imds-token");
    expect(imds.requests[0]?.url).toContain(`client_id=${client}`);
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
  ])("%s says so, what to do, and nothing secret", async (_name, spec, secrets, code, detail) => {
    const { refusal } = await world(identity(spec), { secrets: secrets ?? {} });
    const error = await refusal();
    expect(error.code).toBe(code);
    expect(error.message).toContain(detail);
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

describe("the credential of another namespace", () => {
  const theft = { clientSecret: { name: "victim", namespace: "victim" } };
  const secrets = { "victim/victim": { clientSecret: "s3cr3t" } };

  test("attack: an identity that names the Secret of another namespace gets no token", async () => {
    const { refusal, forms } = await world(identity(theft), { secrets });
    const error = await refusal();
    expect(error.code).toBe("SecretNotAllowed");
    expect(error.message).toContain("postern.io/allowed-identity-namespaces");
    expect(error.message).not.toContain("s3cr3t");
    expect(forms).toEqual([]);
  });

  test("attack: the data of a Secret that does not allow it are not read", async () => {
    const { refusal, reads, dataReads } = await world(identity(theft), { secrets });
    await refusal();
    expect(reads()).toBe(1);
    expect(dataReads()).toBe(0);
  });

  test("attack: the refusal does not tell whether a Secret of another namespace exists", async () => {
    const there = await (await world(identity(theft), { secrets })).refusal();
    const missing = await (await world(identity(theft), { secrets: {} })).refusal();
    expect(there.message).toBe(missing.message);
  });

  test.each([
    ["org", true],
    ["other, org", true],
    ["*", false],
    ["organisation", false],
    ["", false],
  ])("a Secret that allows identities of %j is used: %s", async (allowed, used) => {
    const annotations = {
      "victim/victim": { "postern.io/allowed-identity-namespaces": allowed },
    };
    const { credential, refusal } = await world(identity(theft), { secrets, annotations });
    if (used) expect(await credential().token()).toBe("token-1");
    else expect((await refusal()).code).toBe("SecretNotAllowed");
  });

  test("an operator that allows Secrets of other namespaces uses them", async () => {
    const { credential } = await world(identity(theft), { secrets, acrossNamespaces: true });
    expect(await credential().token()).toBe("token-1");
  });

  test("a Secret that the operator may not read is reported with the remedy", async () => {
    const { refusal } = await world(identity(), { forbidden: true });
    const error = await refusal();
    expect(error.code).toBe("SecretForbidden");
    expect(error.message).toContain("org/one");
    expect(error.message).toContain("RoleBinding");
  });
});

describe("a certificate file that a tenant names", () => {
  const type = "ServicePrincipalCertificate";
  const refused = async (certPath: string, given: Given = {}) => {
    const { refusal, forms } = await world(identity({ type, certPath }), given);
    const error = await refusal();
    expect(forms).toEqual([]);
    return error;
  };

  test.each(["/dev/zero", "/etc/passwd", "/proc/self/environ", "../../etc/passwd", ""])(
    "attack: %j is not read",
    async (certPath) => {
      const { directory } = await certificates({});
      const path = certPath || `${directory}-of-another/held`;
      const error = await refused(path, { directory });
      expect(error.code).toBe("CertificateNotAllowed");
      expect(error.message).toContain(`${directory}/org`);
    },
  );

  test("attack: the certificate of another namespace is not read", async () => {
    const { directory } = await certificates({ "victim/held": pem() });
    const error = await refused(`${directory}/victim/held`, { directory });
    expect(error.code).toBe("CertificateNotAllowed");
  });

  test("attack: a symbolic link that leads out of the directory is not followed", async () => {
    const { directory } = await certificates({ "victim/held": pem(), "org/x": "" });
    await symlink(`${directory}/victim/held`, `${directory}/org/link`);
    await symlink("/dev/zero", `${directory}/org/zero`);
    for (const name of ["link", "zero"]) {
      const error = await refused(`${directory}/org/${name}`, { directory });
      expect(error.code).toBe("CertificateNotAllowed");
    }
  });

  test("attack: a pipe and a directory are not read", async () => {
    const { directory } = await certificates({ "org/folder/x": "" });
    execFileSync("mkfifo", [`${directory}/org/pipe`]);
    for (const name of ["pipe", "folder"]) {
      const error = await refused(`${directory}/org/${name}`, { directory });
      expect(error.code).toBe("CredentialUnreadable");
      expect(error.message).toContain("no regular file");
    }
  });

  test("attack: a file of more than 64 KB is not read", async () => {
    const { directory } = await certificates({ "org/held": pem() + "x".repeat(65_536) });
    const error = await refused(`${directory}/org/held`, { directory });
    expect(error.code).toBe("CredentialUnreadable");
    expect(error.message).toContain("64 KB");
  });

  test("that is a symbolic link inside the directory is read, as a mounted volume has it", async () => {
    const { directory } = await certificates({ "org/..data/held": pem() });
    await symlink("..data/held", `${directory}/org/held`);
    const certPath = `${directory}/org/held`;
    const { credential } = await world(identity({ type, certPath }), { directory });
    expect(await credential().token()).toBe("token-1");
  });

  test("of another namespace is read where the operator allows that", async () => {
    const { directory } = await certificates({ "victim/held": pem() });
    const certPath = `${directory}/victim/held`;
    const given = { directory, acrossNamespaces: true };
    const { credential } = await world(identity({ type, certPath }), given);
    expect(await credential().token()).toBe("token-1");
  });

  test("that is missing, or holds no certificate, is reported without what is in it", async () => {
    const { directory } = await certificates({ "org/held": "s3cr3t" });
    expect((await refused(`${directory}/org/gone`, { directory })).code).toBe(
      "CredentialUnreadable",
    );
    const error = await refused(`${directory}/org/held`, { directory });
    expect(error.code).toBe("CredentialUnreadable");
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("s3cr3t");
  });
});

describe("a credential is kept", () => {
  test("one for all who ask, and its identity does not depend on how it is spelt", async () => {
    const { credential } = await world(identity({ clientID: client.toUpperCase() }));
    expect(credential()).toBe(credential("other"));
    expect(credential().identity).toBe(`${tenant}/${client}`);
  });

  test("until its Secret has changed, and then the new secret counts within five minutes", async () => {
    const { credential, secrets, forms, clock } = await world(identity());
    await credential().token();
    secrets["org/one"] = { clientSecret: "another" };
    clock.reconcile(4 * 60_000);
    await credential().token();
    expect(forms).toHaveLength(1);
    clock.reconcile(2 * 60_000);
    await credential().token();
    expect(forms.map((form) => form.get("client_secret"))).toEqual(["s3cr3t", "another"]);
  });

  test("until its Secret is taken away, although its token is still good", async () => {
    const { credential, refusal, secrets, clock } = await world(identity());
    await credential().token();
    delete secrets["org/one"];
    clock.reconcile(6 * 60_000);
    expect((await refusal()).code).toBe("SecretMissing");
  });

  test("until Azure refuses its token, and then the Secret is read again at once", async () => {
    const { credential, secrets, forms, clock } = await world(identity());
    const refused = await credential().token();
    secrets["org/one"] = { clientSecret: "another" };
    clock.reconcile(10_000);
    await credential().token(undefined, refused);
    expect(forms.map((form) => form.get("client_secret"))).toEqual(["s3cr3t", "another"]);
  });

  test("and its Secret is read once, however many clusters ask", async () => {
    const { credential, reads } = await world(identity());
    await Promise.all(Array.from({ length: 50 }, () => credential().token()));
    expect(reads()).toBe(1);
  });

  test("and a Secret that is missing is not asked for by every cluster", async () => {
    const { refusal, reads, clock } = await world(identity(), { secrets: {} });
    for (let n = 0; n < 50; n++) expect((await refusal()).code).toBe("SecretMissing");
    expect(reads()).toBe(1);
    clock.reconcile(10_000);
    await refusal();
    expect(reads()).toBe(2);
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
  ])("%s", (_name, allowed, expected) => {
    expect(allows(allowed, { name: "clusters", labels })).toBe(expected);
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

/** A directory of certificates with the given files. */
async function certificates(files: Record<string, string>): Promise<{ directory: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "postern-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  const directory = join(folder, "certificates");
  for (const [name, text] of Object.entries({ "org/.keep": "", ...files })) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return { directory };
}

async function file(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "postern-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "held");
  await writeFile(path, text);
  return path;
}
