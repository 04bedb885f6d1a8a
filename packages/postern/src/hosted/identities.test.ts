import type { ServerResponse } from "node:http";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { describe, expect, test, vi } from "vitest";
import { failure } from "../../../../test/azure/fake-arm.ts";
import { json, type ReceivedRequest, serve, serveTls } from "../../../../test/loopback.ts";
import { cloudNamed } from "../azure/clouds.ts";
import { KubeClient } from "../kube/client.ts";
import { identities, onlyIn } from "./identities.ts";
import { proofOf } from "./identity-proof.ts";

const tenant = "22222222-2222-4222-8222-222222222222";
const client = "44444444-4444-4444-8444-44444444abcd";
const entra = { cloud: cloudNamed("AzurePublicCloud") };

interface Shape {
  namespace?: string;
  name?: string;
  uid?: string;
  clientID?: string;
  tenantID?: string;
  cloud?: string;
  kubeConfig?: { name: string; key?: string };
}

function controlPlane(shape: Shape = {}): HostedControlPlane {
  const {
    namespace = "clusters-a",
    name = namespace.replace("clusters-", ""),
    uid = "uid-a",
    clientID = client,
  } = shape;
  const azure = {
    tenantID: shape.tenantID ?? tenant,
    ...(shape.cloud && { cloud: shape.cloud }),
    azureAuthenticationConfig: {
      azureAuthenticationConfigType: "WorkloadIdentities",
      workloadIdentities: clientID === "" ? {} : { controlPlaneOperator: { clientID } },
    },
  };
  const { kubeConfig } = shape;
  return {
    metadata: {
      namespace,
      name,
      uid,
      annotations: { "hypershift.openshift.io/cluster": namespace.replace("-", "/") },
    },
    spec: { platform: { type: "Azure", azure } },
    ...(kubeConfig && { status: { kubeConfig } }),
  } as unknown as HostedControlPlane;
}

/** A cluster that has the given Secrets, and gives tokens of the given service accounts. */
function answers(secrets: Record<string, object>, accounts: string[]) {
  return (request: ReceivedRequest, response: ServerResponse) => {
    const path = request.url.replace("/api/v1/namespaces/", "");
    const absent = () => json(response, 404, { kind: "Status", reason: "NotFound", code: 404 });
    if (request.method === "POST" && path.endsWith("/serviceaccounts")) {
      const { metadata } = JSON.parse(request.body) as { metadata: { name: string } };
      accounts.push(`${path}/${metadata.name}`);
      return json(response, 201, {});
    }
    if (path.endsWith("/token")) {
      if (!accounts.includes(path.replace(/\/token$/, ""))) return absent();
      const { spec } = JSON.parse(request.body) as { spec: { audiences: string[] } };
      return json(response, 201, { status: { token: `${path} ${spec.audiences}` } });
    }
    const data = secrets[path.replace("/secrets/", "/")];
    if (data === undefined) return absent();
    const entries = Object.entries(data).map(([key, value]) => [key, encoded(value)]);
    json(response, 200, { data: Object.fromEntries(entries) });
  };
}

/** The management cluster. */
async function kube(secrets: Record<string, object> = {}, accounts: string[] = []) {
  const server = await serve(answers(secrets, accounts));
  const connection = {
    server: new URL(server.url),
    namespace: "default",
    source: "test",
    proof: async () => ({}),
  };
  return { client: new KubeClient(connection), seen: server.requests, secrets };
}

/** A hosted cluster, which is reached by TLS. */
function hosted(accounts: string[] = []) {
  return serveTls(answers({}, accounts));
}

const encoded = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");

const nobody = { url: "https://127.0.0.1:9", ca: "" };

const kubeconfig = ({ url, ca }: { url: string; ca: string }, user: object = { token: "t" }) => ({
  contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  clusters: [
    {
      name: "c",
      cluster: { server: url, ...(ca && { "certificate-authority-data": encoded(ca) }) },
    },
  ],
  users: [{ name: "u", user }],
  "current-context": "c",
});

const hostedServiceAccount = "kube-system/serviceaccounts/control-plane-operator";
const managementAccount = "clusters-a/serviceaccounts/control-plane-operator";
const hostedToken = `${hostedServiceAccount}/token openshift`;
const managementToken = `${managementAccount}/token api://AzureADTokenExchange`;

describe("the credentials of many control planes", () => {
  const createIdentities = async () => {
    const dropped: string[] = [];
    const { client: kubeClient } = await kube();
    const all = identities({
      kube: kubeClient,
      entra,
      dropped: ({ identity }) => dropped.push(identity),
    });
    return { dropped, ...all };
  };

  test("one control plane has one, however often it is asked for", async () => {
    const { credentialOf } = await createIdentities();
    expect(credentialOf(controlPlane())).toBe(credentialOf(controlPlane()));
  });

  test("two that name one identity share its budget and not its tokens", async () => {
    const { credentialOf } = await createIdentities();
    const [a, b] = [
      credentialOf(controlPlane()),
      credentialOf(controlPlane({ namespace: "clusters-b", clientID: client.toUpperCase() })),
    ];
    expect(a).not.toBe(b);
    expect(a.identity).toBe(b.identity);
    expect(a.identity).toBe(`${tenant}/${client}`);
  });

  test.each<[string, Shape]>([
    ["another object of the same name", { uid: "uid-2" }],
    ["another client id", { clientID: "55555555-5555-4555-8555-555555555555" }],
    ["another tenant", { tenantID: "66666666-6666-4666-8666-666666666666" }],
  ])("%s gets another", async (_what, shape) => {
    const { credentialOf, dropped } = await createIdentities();
    const before = credentialOf(controlPlane());
    expect(credentialOf(controlPlane(shape))).not.toBe(before);
    expect(dropped).toEqual([before.identity]);
  });

  test("a credential is dropped with the control plane that has it", async () => {
    const { credentialOf, follow, dropped } = await createIdentities();
    const handlers: ((change: { key: string; before: undefined; after: undefined }) => void)[] = [];
    follow(
      {
        onChange: (handler) => {
          handlers.push(handler);
          return () => undefined;
        },
      },
      { controlPlanes: { byIndex: () => [] } },
    );
    const deleted = (key: string) => {
      for (const handler of handlers) handler({ key, before: undefined, after: undefined });
    };
    const before = credentialOf(controlPlane());
    credentialOf(controlPlane({ namespace: "clusters-b" }));
    deleted("clusters-a/a");
    expect(dropped).toEqual([before.identity]);
    deleted("clusters-b/b");
    expect(dropped).toEqual([before.identity, before.identity]);
    expect(credentialOf(controlPlane())).not.toBe(before);
  });

  test.each<[string, Shape]>([
    ["names no client id", { clientID: "" }],
    ["names no tenant", { tenantID: "" }],
  ])("one that %s has none, and the error says what to set", async (_what, shape) => {
    const { credentialOf } = await createIdentities();
    expect(() => credentialOf(controlPlane(shape))).toThrow(
      /clusters-a\/a · .* \(IdentityMissing\) · set tenantID and .*controlPlaneOperator\.clientID/,
    );
  });

  test("one in another cloud has none here", async () => {
    const { credentialOf } = await createIdentities();
    credentialOf(controlPlane({ cloud: "AzurePublicCloud" }));
    expect(() => credentialOf(controlPlane({ cloud: "AzureChinaCloud" }))).toThrow(
      /this operator acts in AzurePublicCloud \(CloudDiffers\) · correct spec.platform.azure.cloud/,
    );
  });

  test("a process for one control plane gives its credential to no other", async () => {
    const tokens = { identity: "its", token: async () => "t" };
    const { credentialOf } = onlyIn("clusters-a", tokens);
    expect(credentialOf(controlPlane({ clientID: "" }))).toBe(tokens);
    expect(() => credentialOf(controlPlane({ namespace: "clusters-b" }))).toThrow(
      "this process serves the namespace clusters-a only (IdentityMissing)",
    );
  });
});

describe("the proof of a control plane", () => {
  const proof = ({ client: from }: { client: KubeClient }, shape: Shape = {}) =>
    proofOf(from, controlPlane(shape), "clusters-a");

  test("is the token that HyperShift's minter would make in the hosted cluster", async () => {
    const cluster = await hosted([hostedServiceAccount]);
    const config = { kubeconfig: kubeconfig(cluster) };
    const management = await kube({ "clusters-a/service-network-admin-kubeconfig": config });
    expect(await proof(management)).toEqual({
      assertion: hostedToken,
      subject: "service account kube-system/control-plane-operator of the guest",
    });
  });

  test("creates the hosted cluster's service account where it is missing", async () => {
    const cluster = await hosted();
    const config = { kubeconfig: kubeconfig(cluster) };
    const management = await kube({ "clusters-a/admin-kubeconfig": config });
    expect(await proof(management)).toMatchObject({ assertion: hostedToken });
  });

  test("takes the Secret and the key that the status names", async () => {
    const cluster = await hosted([hostedServiceAccount]);
    const config = { value: kubeconfig(cluster) };
    const management = await kube({ "clusters-a/mine": config });
    const kubeConfig = { name: "mine", key: "value" };
    expect(await proof(management, { kubeConfig })).toMatchObject({ assertion: hostedToken });
  });

  test("uses the Secret as it is now", async () => {
    const cluster = await hosted([hostedServiceAccount]);
    const dead = { kubeconfig: kubeconfig(nobody) };
    const management = await kube({ "clusters-a/admin-kubeconfig": dead }, [managementAccount]);
    expect(await proof(management)).toMatchObject({ assertion: managementToken });
    management.secrets["clusters-a/admin-kubeconfig"] = { kubeconfig: kubeconfig(cluster) };
    expect(await proof(management)).toMatchObject({ assertion: hostedToken });
  });

  test.each<[string, Record<string, object>, string]>([
    ["there is no kubeconfig", {}, "there is no kubeconfig of it"],
    [
      "nobody answers",
      { "clusters-a/admin-kubeconfig": { kubeconfig: kubeconfig(nobody) } },
      "Unreachable",
    ],
    [
      "it is no kubeconfig",
      { "clusters-a/admin-kubeconfig": { kubeconfig: "x: [" } },
      "Unreadable",
    ],
    [
      "it would run a program here",
      {
        "clusters-a/admin-kubeconfig": {
          kubeconfig: kubeconfig(nobody, { exec: { command: "touch" } }),
        },
      },
      "UnreadableKubeconfig",
    ],
    [
      "it would read a file here",
      {
        "clusters-a/admin-kubeconfig": {
          kubeconfig: kubeconfig(nobody, { tokenFile: "/etc/passwd" }),
        },
      },
      "UnreadableKubeconfig",
    ],
  ])("is of the management cluster where %s", async (_what, secrets, why) => {
    const { assertion, subject } = await proof(await kube(secrets, [managementAccount]));
    expect(assertion).toBe(managementToken);
    expect(subject).toContain(
      "service account clusters-a/control-plane-operator of the management cluster",
    );
    expect(subject).toContain(why);
  });

  test("attack: a token answer of nested JSON is not parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const cluster = await serveTls((_request, response) => {
      response.writeHead(201, { "content-type": "application/json" });
      response.end(`{"status":{"token":${"[".repeat(1e6)}${"]".repeat(1e6)}}}`);
    });
    const config = { kubeconfig: kubeconfig(cluster) };
    const secrets = { "clusters-a/admin-kubeconfig": config };
    const { assertion, subject } = await proof(await kube(secrets, [managementAccount]));
    const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
    parse.mockRestore();
    expect(assertion).toBe(managementToken);
    expect(subject).toContain("the guest gave none");
    expect(longest).toBeLessThan(65_536);
  });

  test("attack: kubeconfigs that point at servers that never answer keep a reconcile waiting", async () => {
    const cluster = await hosted([hostedServiceAccount]);
    const silent = await serveTls(() => undefined);
    const slow = { kubeconfig: kubeconfig(silent) };
    const management = await kube({
      "clusters-a/mine": slow,
      "clusters-a/service-network-admin-kubeconfig": { kubeconfig: kubeconfig(silent, {}) },
      "clusters-a/admin-kubeconfig": { kubeconfig: kubeconfig(cluster) },
    });
    const kubeConfig = { name: "mine" };
    // What is left for the last one is a third, so it is not reached after two whole limits.
    expect(await proof(management, { kubeConfig })).toMatchObject({ assertion: hostedToken });
    const asked = silent.requests.length;
    expect(asked).toBe(2);
    // Neither is asked again for some minutes, and one that was changed is asked at once.
    expect(await proof(management, { kubeConfig })).toMatchObject({ assertion: hostedToken });
    expect(silent.requests).toHaveLength(asked);
    management.secrets["clusters-a/mine"] = { kubeconfig: kubeconfig(cluster, { token: "new" }) };
    expect(await proof(management, { kubeConfig })).toMatchObject({ assertion: hostedToken });
    expect(cluster.requests.length).toBeGreaterThan(2);
  }, 30_000);

  test("is missing where neither gives a token, and the message says what to create", async () => {
    const error = await failure(proof(await kube()));
    expect(error.explain()).toMatchObject({ reason: "ProofMissing", requeueAfterMs: 120_000 });
    expect(error.message).toContain(
      "create a ServiceAccount control-plane-operator in the control plane's namespace",
    );
  });
});
