import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeCertificates } from "../../../../test/certificates.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { KubeClient } from "./client.ts";
import { type Connection, fromKubeconfig } from "./credentials.ts";
import { KubeError } from "./errors.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";

interface Setup {
  exec?: object;
  user?: object;
  cluster?: object;
  clock?: ManualClock;
}

/** A kubeconfig whose user runs the given shell script, which writes a line to the file `runs` each time. */
async function plugin(script: string, { exec, user, cluster, clock }: Setup = {}) {
  const folder = await mkdtemp(join(tmpdir(), "postern-plugin-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const command = join(folder, "plugin");
  await writeFile(command, `#!/bin/sh\ncd "${folder}"\necho run >> runs\n${script}\n`);
  await chmod(command, 0o755);
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
    users: [{ name: "u", user: { exec: { apiVersion: v1, command, ...exec }, ...user } }],
  };
  await writeFile(join(folder, "config"), JSON.stringify(config));
  const connect = () => fromKubeconfig(join(folder, "config"), undefined, clock);
  const runs = () =>
    readFile(join(folder, "runs"), "utf8").then(
      (text) => text.split("\n").length - 1,
      () => 0,
    );
  return { folder, connect, runs };
}

/** Prints an ExecCredential with the given status. */
const print = (status: object, apiVersion = v1) =>
  `cat <<'END'\n${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}\nEND`;

/** Prints a token that says how often the plugin has run. */
const printRun = (more = "") =>
  `printf '{"apiVersion":"${v1}","kind":"ExecCredential","status":{"token":"t%s"${more}}}' "$(grep -c . runs)"`;

const failureOf = async (connection: Promise<Connection>): Promise<KubeError> => {
  const error: unknown = await connection.then((found) => found.proof()).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
};

test.each([v1, v1beta1])("a plugin of %s gets what the specification says", async (apiVersion) => {
  const { folder, connect } = await plugin(
    `printf %s "$KUBERNETES_EXEC_INFO" > info; printf '%s\\n' "$GREETING" "$EMPTY" "$HOME" "$@" > given\n${print({ token: "t" }, apiVersion)}`,
    {
      exec: {
        apiVersion,
        args: ["--one", "two words"],
        env: [{ name: "GREETING", value: "hello" }, { name: "EMPTY" }],
      },
    },
  );
  expect(await (await connect()).proof()).toEqual({ authorization: "Bearer t" });
  expect(JSON.parse(await readFile(join(folder, "info"), "utf8"))).toEqual({
    kind: "ExecCredential",
    apiVersion,
    spec: { interactive: false },
  });
  expect(await readFile(join(folder, "given"), "utf8")).toBe(
    `hello\n\n${process.env.HOME}\n--one\ntwo words\n`,
  );
});

test("a plugin that asks for it is told about the cluster", async () => {
  const { folder, connect } = await plugin(
    `printf %s "$KUBERNETES_EXEC_INFO" > info\n${print({ token: "t" })}`,
    {
      exec: { provideClusterInfo: true },
      cluster: {
        "certificate-authority": "ca.crt",
        "tls-server-name": "kubernetes",
        "disable-compression": true,
        extensions: [
          { name: "client.authentication.k8s.io/exec", extension: { audience: "here" } },
          { name: "another", extension: { secret: "not for the plugin" } },
        ],
      },
    },
  );
  await writeFile(join(folder, "ca.crt"), "PEM");
  await (await connect()).proof();
  expect(JSON.parse(await readFile(join(folder, "info"), "utf8")).spec).toEqual({
    interactive: false,
    cluster: {
      server: "https://127.0.0.1:6443",
      "certificate-authority-data": Buffer.from("PEM").toString("base64"),
      "tls-server-name": "kubernetes",
      "disable-compression": true,
      config: { audience: "here" },
    },
  });
});

test("a plugin has no terminal to read from", async () => {
  const { connect } = await plugin(`read line && exit 9\n${print({ token: "t" })}`);
  expect(await (await connect()).proof()).toEqual({ authorization: "Bearer t" });
});

test("a command that is a relative path is meant from the folder of the kubeconfig", async () => {
  const { folder, connect } = await plugin("", { exec: { command: "bin/plugin" } });
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/plugin"), `#!/bin/sh\n${print({ token: "relative" })}\n`);
  await chmod(join(folder, "bin/plugin"), 0o755);
  expect(await (await connect()).proof()).toEqual({ authorization: "Bearer relative" });
});

test("a token is kept until it expires, by the time of day", async () => {
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const { connect, runs } = await plugin(
    printRun(',"expirationTimestamp":"2026-01-01T01:10:00+01:00"'),
    { clock },
  );
  const { proof } = await connect();
  await proof();
  await clock.move(10 * 60_000);
  expect(await proof()).toEqual({ authorization: "Bearer t1" });
  await clock.move(1);
  expect(await proof()).toEqual({ authorization: "Bearer t2" });
  expect(await runs()).toBe(2);
});

test("a token without an expiration is kept", async () => {
  const clock = new ManualClock();
  const { connect, runs } = await plugin(printRun(), { clock });
  const { proof } = await connect();
  await proof();
  await clock.move(365 * 24 * 3_600_000);
  expect(await proof()).toEqual({ authorization: "Bearer t1" });
  expect(await runs()).toBe(1);
});

test("concurrent callers share one run", async () => {
  const { connect, runs } = await plugin(`sleep 0.2\n${printRun()}`);
  const { proof } = await connect();
  const all = await Promise.all(Array.from({ length: 20 }, () => proof()));
  expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer t1"]));
  expect(await runs()).toBe(1);
});

test("a refused credential is replaced once, however many requests had it", async () => {
  const { connect, runs } = await plugin(printRun());
  const { proof } = await connect();
  const first = await proof();
  const atOnce = await Promise.all([proof(first), proof(first)]);
  const later = await proof(first);
  expect([...atOnce, later].map(({ authorization }) => authorization)).toEqual(
    Array(3).fill("Bearer t2"),
  );
  expect(await runs()).toBe(2);
});

test("after 401 of the API server the request is sent again with a new token", async () => {
  const { url, requests } = await serve(({ headers }, response) =>
    headers.authorization === "Bearer t2"
      ? json(response, 200, { metadata: { name: "a" } })
      : json(response, 401, { kind: "Status", reason: "Unauthorized", message: "expired" }),
  );
  const { connect, runs } = await plugin(printRun(), { cluster: { server: url } });
  const client = new KubeClient(await connect());
  await client.request("GET", "/api/v1/namespaces/a");
  await client.request("GET", "/api/v1/namespaces/a");
  client.close();
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer t1",
    "Bearer t2",
    "Bearer t2",
  ]);
  expect(await runs()).toBe(2);
});

test("a failed run is not remembered", async () => {
  const { connect } = await plugin(`[ "$(grep -c . runs)" = 1 ] && exit 3\n${printRun()}`);
  const { proof } = await connect();
  await expect(proof()).rejects.toThrow(/plugin exited with code 3$/);
  expect(await proof()).toEqual({ authorization: "Bearer t2" });
});

test("the API server sees the certificate that a plugin returns", async () => {
  const { ca, server: own, client: its } = makeCertificates("operator");
  const server = createServer(
    { cert: own.certificate, key: own.key, ca, requestCert: true },
    ({ socket }, response) => {
      const { subject } = (socket as TLSSocket).getPeerCertificate();
      json(response, 200, { metadata: { name: subject.CN } });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { connect } = await plugin(
    print({ clientCertificateData: its.certificate, clientKeyData: its.key }),
    {
      cluster: {
        server: `https://127.0.0.1:${port}`,
        "certificate-authority-data": Buffer.from(ca).toString("base64"),
      },
    },
  );
  const connection = await connect();
  expect(await connection.proof()).toEqual({ cert: its.certificate, key: its.key });
  const client = new KubeClient(connection);
  expect(JSON.parse(await client.request("GET", "/"))).toEqual({ metadata: { name: "operator" } });
  client.close();
});

const { client: pair, server: other } = makeCertificates("a");

test.each([
  ["nothing", "true", /its output is not an ExecCredential$/],
  ["another kind", `echo '{"kind":"Status","apiVersion":"${v1}"}'`, /not an ExecCredential$/],
  ["another version", print({ token: "s3cret" }, v1beta1), /not of apiVersion .*\/v1, which is/],
  ["no status", `echo '{"kind":"ExecCredential","apiVersion":"${v1}"}'`, /has no status$/],
  ["an empty status", print({ token: "" }), /neither a token nor a certificate with its key$/],
  ["a token that is no string", print({ token: 5 }), /a credential that is no string$/],
  ["a token of two lines", print({ token: "s3cret\r\nx: y" }), /characters that no token has$/],
  [
    "a certificate without its key",
    print({ token: "s3cret", clientCertificateData: pair.certificate }),
    /only one of certificate and key$/,
  ],
  [
    "a certificate that is no PEM",
    print({ clientCertificateData: "s3cret", clientKeyData: pair.key }),
    /certificate and key are not PEM$/,
  ],
  [
    "the key of another certificate",
    print({ clientCertificateData: pair.certificate, clientKeyData: other.key }),
    /its key does not belong to its certificate$/,
  ],
  [
    "a time that is none",
    print({ token: "s3cret", expirationTimestamp: "tomorrow" }),
    /expirationTimestamp is not of RFC 3339$/,
  ],
  ["an exit code", "echo s3cret; echo s3cret >&2; exit 7", /plugin exited with code 7$/],
  ["a signal", "kill -TERM $$", /plugin was ended by SIGTERM$/],
  ["too much", "head -c 3000000 /dev/zero; sleep 60", /printed more than 1048576 bytes$/],
])("a plugin that returns %s fails, and no word of it is repeated", async (_what, script, why) => {
  const { connect } = await plugin(script, {
    exec: { args: ["s3cret"], env: [{ name: "A", value: "s3cret" }] },
  });
  const error = await failureOf(connect());
  expect(error.code).toBe("Unauthorized");
  expect(error.message).toMatch(/^the credential plugin of .*config failed · /);
  expect(error.message).toMatch(why);
  expect([error.message, error.stack, error.cause].join()).not.toContain("s3cret");
});

test("a plugin that hangs is ended after two minutes", async () => {
  const clock = new ManualClock();
  const { folder, connect, runs } = await plugin("echo $$ > pid; exec sleep 600", { clock });
  const failure = failureOf(connect());
  const pid = await vi.waitFor(async () => {
    expect(await runs()).toBe(1);
    return Number((await readFile(join(folder, "pid"), "utf8")).trim() || expect.fail());
  }, 10_000);
  await clock.move(119_000);
  expect(() => process.kill(pid, 0)).not.toThrow();
  await clock.move(1_000);
  expect((await failure).message).toMatch(/plugin did not end within 120 s$/);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/), 10_000);
  expect(clock.timers).toBe(0);
});

test("a command that is missing is named, with the hint how to install it", async () => {
  const { connect } = await plugin("", {
    exec: { command: "no-such-plugin", installHint: "Install it:\n\n  brew install plugin\n" },
  });
  expect((await failureOf(connect())).message).toMatch(
    /failed · executable no-such-plugin not found · Install it: brew install plugin$/,
  );
});

test("a command that may not be run is named", async () => {
  const { folder, connect } = await plugin("");
  await chmod(join(folder, "plugin"), 0o644);
  expect((await failureOf(connect())).message).toMatch(/plugin: EACCES$/);
});

test("arguments that no process can have are not repeated", async () => {
  const { connect } = await plugin("", { exec: { args: ["s3cret\0"] } });
  const { message } = await failureOf(connect());
  expect(message).toMatch(/plugin: ERR_INVALID_ARG_VALUE$/);
  expect(message).not.toContain("s3cret");
});

test.each([
  ["no command", { command: "" }, "exec has no command"],
  [
    "a version that Kubernetes removed",
    { apiVersion: "client.authentication.k8s.io/v1alpha1" },
    `exec.apiVersion must be ${v1} or ${v1beta1}`,
  ],
  ["a terminal", { interactiveMode: "Always" }, "plugins are run without a terminal"],
  ["another mode", { interactiveMode: "Often" }, "exec.interactiveMode must be Never or IfAvail"],
  ["arguments that are no list", { args: "a b" }, "exec.args must be a list of strings"],
  ["an argument that is no string", { args: [1] }, "exec.args must be a list of strings"],
  ["a variable without a name", { env: [{ value: "a" }] }, "exec.env must be a list of names"],
  ["a hint that is no string", { installHint: 1 }, "exec.installHint must be a string"],
  ["a flag that is none", { provideClusterInfo: "yes" }, "exec.provideClusterInfo must be true"],
])("a kubeconfig whose plugin has %s is rejected", async (_what, exec, message) => {
  const { connect, runs } = await plugin(print({ token: "t" }), { exec });
  const error = await failureOf(connect());
  expect(error.code).toBe("UnreadableKubeconfig");
  expect(error.message).toContain(`user "u": `);
  expect(error.message).toContain(message);
  expect(await runs()).toBe(0);
});

test("with a token in the kubeconfig the plugin is not run, and its certificate is sent too", async () => {
  const data = Buffer.from("cert").toString("base64");
  const { connect, runs } = await plugin(print({ token: "t" }), {
    user: { token: "own", "client-certificate-data": data, "client-key-data": data },
  });
  expect(await (await connect()).proof()).toEqual({
    authorization: "Bearer own",
    cert: Buffer.from("cert"),
    key: Buffer.from("cert"),
  });
  expect(await runs()).toBe(0);
});

test("a certificate of the kubeconfig counts before that of the plugin", async () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const { connect } = await plugin(
    print({
      token: "t",
      clientCertificateData: pair.certificate,
      clientKeyData: pair.key,
    }),
    { user: { "client-certificate-data": base64("cert"), "client-key-data": base64("key") } },
  );
  expect(await (await connect()).proof()).toEqual({
    authorization: "Bearer t",
    cert: Buffer.from("cert"),
    key: Buffer.from("key"),
  });
});

test.each(["azure", "gcp", "oidc"])("the auth-provider %s is rejected by name", async (name) => {
  const { connect } = await plugin("", { user: { exec: null, "auth-provider": { name } } });
  const error = await failureOf(connect());
  expect(error.code).toBe("UnreadableKubeconfig");
  expect(error.message).toMatch(
    /user "u" has an auth-provider, which is not supported: use a credential plugin \(exec\), such as kubelogin$/,
  );
});
