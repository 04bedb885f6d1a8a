import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { findConnection, fromKubeconfig, inCluster } from "./credentials.ts";
import { KubeError } from "./errors.ts";

async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "postern-"));
  onTestFinished(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

const config = (user: string) => `
apiVersion: v1
kind: Config
current-context: here
contexts:
  - name: here
    context: { cluster: c, user: u, namespace: mine }
clusters:
  - name: c
    cluster: { server: "https://127.0.0.1:6443", certificate-authority: ca.crt, tls-server-name: kubernetes }
users:
  - name: u
    user: ${user}
`;

test("a kubeconfig gives the address, the authority and the namespace of its context", async () => {
  const path = await folder({ config: config("{ token: secret }"), "ca.crt": "PEM" });
  const found = await fromKubeconfig(join(path, "config"));
  expect(found.server.href).toBe("https://127.0.0.1:6443/");
  expect([found.ca, found.servername, found.namespace]).toEqual(["PEM", "kubernetes", "mine"]);
  expect(await found.proof()).toEqual({ authorization: "Bearer secret" });
});

test.each([
  [
    "client certificate",
    '{ client-certificate-data: "Y2VydA==", client-key-data: "a2V5" }',
    { cert: Buffer.from("cert"), key: Buffer.from("key") },
  ],
  ["user and password", "{ username: a, password: b }", { authorization: "Basic YTpi" }],
  ["nothing", "{}", {}],
])("a user with a %s is understood", async (_what, user, proof) => {
  const path = await folder({ config: config(user), "ca.crt": "PEM" });
  expect(await (await fromKubeconfig(join(path, "config"))).proof()).toEqual(proof);
});

test.each([
  ["a file that is not there", undefined, /kubeconfig .*config cannot be used · ENOENT/],
  ["a file that is not YAML", "a: [", /cannot be used · line 1 is not valid YAML/],
  ["an empty file", "", /it holds no settings/],
  ["a list", "- a", /it chooses no context/],
  ["no chosen context", "contexts: []", /it chooses no context/],
  [
    "a context that is not there",
    "current-context: x\ncontexts: [{name: a}, {name: b}]",
    /it has no context "x" \(it has: a, b\)/,
  ],
  [
    "a cluster that is not there",
    "current-context: a\ncontexts: [{name: a, context: {cluster: q}}]",
    /it has no cluster "q" \(it has: none\)/,
  ],
  [
    "no server",
    "current-context: a\ncontexts: [{name: a, context: {cluster: q, user: u}}]\nclusters: [{name: q}]\nusers: [{name: u}]",
    /cluster "q" names no server address/,
  ],
])("%s is reported by name", async (_what, text, message) => {
  const path = await folder(text === undefined ? {} : { config: text });
  const error = await fromKubeconfig(join(path, "config")).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KubeError);
  expect((error as KubeError).code).toBe("UnreadableKubeconfig");
  expect((error as KubeError).message).toMatch(message);
});

test("several files count as one, the first to name a thing wins, and paths are meant from each file's folder", async () => {
  const one = await folder({
    config:
      "current-context: here\ncontexts: [{name: here, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {tokenFile: t}}]",
    t: "first",
  });
  const two = await folder({ config: config("{ token: second }"), "ca.crt": "PEM of two" });
  const found = await fromKubeconfig(`${one}/config:${one}/nowhere:${two}/config`);
  expect([found.server.port, found.ca, found.namespace]).toEqual(["6443", "PEM of two", "default"]);
  expect(await found.proof()).toEqual({ authorization: "Bearer first" });
});

test("a proxy in the kubeconfig is refused and not silently passed by", async () => {
  const path = await folder({
    config: config("{}").replace("tls-server-name: kubernetes", 'proxy-url: "http://p"'),
    "ca.crt": "PEM",
  });
  await expect(fromKubeconfig(join(path, "config"))).rejects.toThrow(
    /has a proxy-url, and proxies are not supported/,
  );
});

test("a token file that is away for a moment costs nothing while the token is good", async () => {
  const path = await folder({ token: "one", "ca.crt": "PEM", namespace: "n" });
  const clock = new ManualClock();
  const found = await inCluster({ KUBERNETES_SERVICE_HOST: "127.0.0.1" }, path, clock);
  await found.proof();
  await rm(join(path, "token"));
  await clock.move(61_000);
  expect(await found.proof()).toEqual({ authorization: "Bearer one" });
  await expect(found.proof(await found.proof())).rejects.toThrow(/ENOENT/);
});

test("a service account's token is read again after a minute, and at once when it was refused", async () => {
  const path = await folder({ token: "one\n", "ca.crt": "PEM", namespace: "postern\n" });
  const clock = new ManualClock();
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const found = await inCluster(env, path, clock);
  expect([found.server.href, found.namespace]).toEqual(["https://[fd00::1]/", "postern"]);
  expect(await found.proof()).toEqual({ authorization: "Bearer one" });
  await writeFile(join(path, "token"), "two");
  expect(await found.proof()).toEqual({ authorization: "Bearer one" });
  expect(await found.proof(await found.proof())).toEqual({ authorization: "Bearer two" });
  await writeFile(join(path, "token"), "three");
  await clock.move(61_000);
  expect(await found.proof()).toEqual({ authorization: "Bearer three" });
});

test("a credential plugin is run, its token kept, and run again when the token was refused", async () => {
  const path = await folder({ "ca.crt": "PEM", count: "0" });
  await writeFile(
    join(path, "plugin.mjs"),
    `import { readFileSync, writeFileSync } from "node:fs";
     const n = Number(readFileSync(${JSON.stringify(join(path, "count"))})) + 1;
     writeFileSync(${JSON.stringify(join(path, "count"))}, String(n));
     console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" + n } }));`,
  );
  const exec = {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [join(path, "plugin.mjs")],
      interactiveMode: "Never",
    },
  };
  await writeFile(join(path, "config"), config(JSON.stringify(exec)));
  const found = await fromKubeconfig(join(path, "config"));
  expect(await found.proof()).toEqual({ authorization: "Bearer t1" });
  expect(await found.proof()).toEqual({ authorization: "Bearer t1" });
  expect(await found.proof(await found.proof())).toEqual({ authorization: "Bearer t2" });
});

test("a credential plugin that is not there is reported by name", async () => {
  const exec = {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/no/such/plugin",
      interactiveMode: "Never",
    },
  };
  const path = await folder({ config: config(JSON.stringify(exec)), "ca.crt": "PEM" });
  const error = await (await fromKubeconfig(join(path, "config")))
    .proof()
    .catch((thrown: unknown) => thrown);
  expect((error as KubeError).message).toMatch(
    /the credential plugin of .* failed · .*\/no\/such\/plugin/,
  );
});

test("what a credential plugin prints is told to nobody", async () => {
  const exec = {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "echo",
      args: ["secret-token"],
      interactiveMode: "Never",
    },
  };
  const path = await folder({ config: config(JSON.stringify(exec)), "ca.crt": "PEM" });
  const error = await (await fromKubeconfig(join(path, "config")))
    .proof()
    .catch((thrown: unknown) => thrown);
  expect((error as KubeError).message).toMatch(/failed · its output is not an ExecCredential$/);
});

test("a file that is too large to be a kubeconfig is refused before it is read", async () => {
  const path = await folder({ config: "x".repeat(2_000_000) });
  await expect(fromKubeconfig(join(path, "config"))).rejects.toThrow(
    /it is larger than 1048576 bytes/,
  );
});

test("outside a cluster and without a kubeconfig the error says what to give", async () => {
  const error = await findConnection({}, { HOME: "/nowhere" }).catch((thrown: unknown) => thrown);
  expect((error as KubeError).explain().message).toContain("use --kubeconfig, set KUBECONFIG");
});
