import { makeAuthority, makeServerCertificate } from "@postern/core/test-bed/certificates.ts";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { fromKubeconfigText } from "./credentials.ts";
import { portableKubeconfig } from "./portable-kubeconfig.ts";

const context = { name: "c", context: { cluster: "c", user: "u", namespace: "n" } };
const source = "in Secret a/b";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const authority = makeAuthority();
const client = makeServerCertificate(authority, ["client"]);
const ca = base64(authority.certificate);
const certificate = base64(client.certificate);
const key = base64(client.key);

function kubeconfigOf(cluster: object, user: object, more: object = {}) {
  const config = {
    "current-context": "c",
    contexts: [context],
    ...more,
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
  };
  return { text: stringify(config), source };
}

describe("a kubeconfig of a tenant that is handed to an administrator", () => {
  test("has its server, authority and credential, and names of our choice", async () => {
    const extensions = [{ name: "postern.io/local", extension: { environment: { AZURE: "x" } } }];
    const text = await portableKubeconfig(
      kubeconfigOf(
        {
          server: "https://in:1",
          "tls-server-name": "api",
          extensions,
          "certificate-authority-data": ca,
        },
        { "client-certificate-data": certificate, "client-key-data": key, token: "t" },
        { preferences: { colors: true }, apiVersion: "v1", kind: "Config" },
      ),
      { name: "clusters/blue" },
    );
    expect(JSON.parse(text)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "clusters/blue",
      contexts: [
        { name: "clusters/blue", context: { cluster: "clusters/blue", user: "clusters/blue" } },
      ],
      clusters: [
        {
          name: "clusters/blue",
          cluster: {
            server: "https://in:1/",
            "certificate-authority-data": ca,
            "tls-server-name": "api",
          },
        },
      ],
      users: [
        {
          name: "clusters/blue",
          user: {
            token: "t",
            "client-certificate-data": certificate,
            "client-key-data": key,
          },
        },
      ],
    });
    const { server, servername } = await fromKubeconfigText(text, source);
    expect([server.href, servername]).toEqual(["https://in:1/", "api"]);
  });

  test.each([
    ["a program", { server: "https://in" }, { exec: { command: "sh" } }],
    ["a program in a merge key", { server: "https://in" }, { "<<": { exec: { command: "sh" } } }],
    ["a file", { server: "https://in" }, { tokenFile: "/etc/shadow" }],
    ["a proxy", { server: "https://in", "proxy-url": "http://evil" }, {}],
    ["a proxy in a merge key", { server: "https://in", "<<": { "proxy-url": "http://evil" } }, {}],
    ["no TLS", { server: "http://in" }, {}],
    ["no verification", { server: "https://in", "insecure-skip-tls-verify": true }, {}],
    ["another person", { server: "https://in" }, { token: "t", as: "root" }],
    ["a password", { server: "https://in" }, { username: "a", password: "b" }],
    ["no credential", { server: "https://in" }, {}],
    [
      "an authority that is text",
      { server: "https://in", "certificate-authority-data": base64("text") },
      { token: "t" },
    ],
    [
      "an authority that is not base64",
      { server: "https://in", "certificate-authority-data": "!" },
      { token: "t" },
    ],
    [
      "a certificate without its key",
      { server: "https://in" },
      { "client-certificate-data": certificate },
    ],
    ["a key without its certificate", { server: "https://in" }, { "client-key-data": key }],
    [
      "a certificate that is text",
      { server: "https://in" },
      { "client-certificate-data": base64("text"), "client-key-data": key },
    ],
    [
      "a key that is text",
      { server: "https://in" },
      { "client-certificate-data": certificate, "client-key-data": base64("text") },
    ],
    [
      "the key of another certificate",
      { server: "https://in" },
      { "client-certificate-data": certificate, "client-key-data": base64(authority.key) },
    ],
  ])("is refused with %s", async (_what, cluster, user) => {
    await expect(
      portableKubeconfig(kubeconfigOf(cluster, user), { name: "clusters/blue" }),
    ).rejects.toMatchObject({ code: "UnreadableKubeconfig" });
  });

  test.each(["a: b", "\n<<: {exec: 1}", '"}}]', "{<<}", "# x", "\u2028\u0000"])(
    "says the same to every parser with token %j",
    async (token) => {
      const text = await portableKubeconfig(kubeconfigOf({ server: "https://in" }, { token }), {
        name: "clusters/blue",
      });
      expect(parse(text, { merge: true, version: "1.1" })).toEqual(JSON.parse(text));
      expect(JSON.parse(text)).toMatchObject({ users: [{ user: { token } }] });
    },
  );
});
