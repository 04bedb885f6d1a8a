import { readFile, stat } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { dirname, resolve } from "node:path";
import { type Clock, realClock } from "../model/clock.ts";
import { cut } from "../model/redact.ts";
import { readYaml, YamlError } from "../model/yaml.ts";
import { KubeError } from "./errors.ts";

/** What proves who we are: a header for each request, a certificate for each socket, or both. */
export interface Proof {
  authorization?: string;
  cert?: string | Buffer;
  key?: string | Buffer;
}

/** Where the API server is and how to prove who we are. */
export interface Connection {
  server: URL;
  ca?: string | Buffer;
  servername?: string;
  insecure?: boolean;
  /** Resolves the name of the server for every socket, where not every address is allowed. */
  lookup?: LookupFunction;
  /** The namespace that the context or the service account names. */
  namespace: string;
  /** Where this came from, for messages. */
  source: string;
  /** What programs have put beside the cluster in a kubeconfig, by name. */
  extensions?: Record<string, unknown>;
  /** The proof to use now. `renew` says that the last one was refused. */
  proof(renew?: boolean): Promise<Proof>;
}

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
const tokenFileMs = 60_000;
const largestConfig = 1_048_576;
/** Of a kubeconfig that was not read from this machine. One cluster takes some 6 KB and 20 lines. */
const largestText = 65_536;
const mostLines = 1_000;
const mostIndicators = 4_000;

/**
 * The connection to use: the given file, else KUBECONFIG, else the pod's service account,
 * else the usual file in the home folder.
 */
export async function findConnection(
  options: { kubeconfig?: string; context?: string } = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<Connection> {
  if (options.kubeconfig !== undefined) return fromKubeconfig(options.kubeconfig, options.context);
  if (env.KUBECONFIG) return fromKubeconfig(env.KUBECONFIG, options.context);
  if (env.KUBERNETES_SERVICE_HOST) return inCluster(env);
  if (env.HOME) {
    const path = resolve(env.HOME, ".kube/config");
    const there = await readFile(path).then(
      () => true,
      () => false,
    );
    if (there) return fromKubeconfig(path, options.context);
  }
  throw new KubeError(
    "NoCredentials",
    "no kubeconfig was found and this is not a pod of a cluster",
  );
}

/** The service account of the pod that we run in. Its token is rotated by the kubelet. */
export async function inCluster(
  env: NodeJS.ProcessEnv = process.env,
  folder = serviceAccount,
  clock: Clock = realClock,
): Promise<Connection> {
  const host = env.KUBERNETES_SERVICE_HOST ?? "";
  const port = env.KUBERNETES_SERVICE_PORT ?? "443";
  const server = new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const [ca, namespace] = await Promise.all([
    readCredential(`${folder}/ca.crt`),
    readCredential(`${folder}/namespace`),
  ]);
  const proof = tokenFile(`${folder}/token`, clock);
  return { server, ca, namespace: namespace.trim(), source: "the pod's service account", proof };
}

interface Kubeconfig {
  "current-context"?: string;
  contexts?: { name: string; context?: { cluster?: string; user?: string; namespace?: string } }[];
  clusters?: { name: string; cluster?: KubeconfigCluster; folder?: string }[];
  users?: { name: string; user?: KubeconfigUser; folder?: string }[];
}

interface KubeconfigCluster {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "tls-server-name"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "proxy-url"?: string;
  extensions?: { name?: string; extension?: unknown }[];
}

interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  exec?: unknown;
  "auth-provider"?: unknown;
}

/**
 * The connection that a context in a kubeconfig file describes. Several files, with colons between them, count as one:
 * what is named in two of them is taken from the first, and one that is missing is passed over, as kubectl does.
 */
export async function fromKubeconfig(
  paths: string,
  wanted?: string,
  clock: Clock = realClock,
): Promise<Connection> {
  const files = paths.split(":").filter((path) => path !== "");
  return connectionIn(paths, await readConfigs(paths, files), wanted, clock);
}

/**
 * The connection that a kubeconfig describes which was not read from this machine. Files are not read for it and programs
 * are not run. A field that is not known is refused: it may mean something to another reader, as `<<` does to kubectl. Where
 * a tenant wrote it, use `tenantCluster`.
 */
export async function fromKubeconfigText(
  text: string,
  source: string,
  clock: Clock = realClock,
): Promise<Connection> {
  checkSize(text, source);
  const config = await parseConfig(source, text);
  const unknown = unknownField(config);
  if (unknown !== undefined)
    throw unreadable(source, `${unknown} has a field that no kubeconfig has`);
  for (const { name, cluster } of config.clusters ?? [])
    if (cluster?.["certificate-authority"] !== undefined)
      throw unreadable(
        source,
        `cluster ${quote(name)} names a file: put the certificate into certificate-authority-data`,
      );
  for (const { name, user = {} } of config.users ?? []) {
    if (user.exec !== undefined || user["auth-provider"] !== undefined)
      throw unreadable(source, `user ${quote(name)} names a program, which is not run`);
    if (user.tokenFile ?? user["client-certificate"] ?? user["client-key"])
      throw unreadable(source, `user ${quote(name)} names a file, which is not read`);
  }
  return connectionIn(source, [config], undefined, clock);
}

/**
 * The YAML parser takes a microsecond for a character of a value, and a hundred for one that begins something. The values of
 * a kubeconfig are long and it has few of them, so both can be limited before it is parsed.
 */
function checkSize(text: string, source: string): void {
  if (text.length > largestText)
    throw unreadable(source, `it is longer than ${largestText} characters`);
  let lines = 0;
  let indicators = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) lines++;
    else if (indicator[code]) indicators++;
  }
  if (lines > mostLines) throw unreadable(source, `it has more than ${mostLines} lines`);
  if (indicators > mostIndicators)
    throw unreadable(source, "it has more keys and lists than a kubeconfig needs");
}

/** The characters that mean something to YAML, by their codes. */
const indicator: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  "-?:,[]{}#&*!|>'\"%@`\t".includes(String.fromCharCode(code)),
);

async function connectionIn(
  paths: string,
  configs: Kubeconfig[],
  wanted: string | undefined,
  clock: Clock,
): Promise<Connection> {
  const current = wanted ?? configs.map((each) => each["current-context"]).find(Boolean);
  const context =
    named(
      paths,
      "context",
      current,
      configs.flatMap((each) => each.contexts ?? []),
    ).context ?? {};
  const { cluster = {}, folder } = named(
    paths,
    "cluster",
    context.cluster,
    configs.flatMap((each) => each.clusters ?? []),
  );
  const { user = {}, folder: home } = named(
    paths,
    "user",
    context.user,
    configs.flatMap((each) => each.users ?? []),
  );
  if (!cluster.server || !URL.canParse(cluster.server))
    throw unreadable(paths, `cluster ${quote(context.cluster)} names no server address`);
  if (cluster["proxy-url"])
    throw unreadable(
      paths,
      `cluster ${quote(context.cluster)} has a proxy-url, and proxies are not supported`,
    );

  const [ca, cert, key] = await Promise.all([
    material(folder, cluster["certificate-authority"], cluster["certificate-authority-data"]),
    material(home, user["client-certificate"], user["client-certificate-data"]),
    material(home, user["client-key"], user["client-key-data"]),
  ]);
  const connection: Connection = {
    server: new URL(cluster.server),
    namespace: context.namespace ?? "default",
    source: paths,
    proof: userProof(paths, home, user, { ...(cert && { cert }), ...(key && { key }) }, clock),
  };
  if (ca) connection.ca = ca;
  const extensions = (cluster.extensions ?? []).flatMap(({ name, extension }) =>
    name === undefined ? [] : [[name, extension] as const],
  );
  if (extensions.length > 0) connection.extensions = Object.fromEntries(extensions);
  if (cluster["tls-server-name"]) connection.servername = cluster["tls-server-name"];
  if (cluster["insecure-skip-tls-verify"]) connection.insecure = true;
  return connection;
}

async function readConfigs(paths: string, files: string[]): Promise<Kubeconfig[]> {
  const configs: Kubeconfig[] = [];
  let missing: unknown;
  for (const file of files) {
    const config = await readConfig(file).catch((error: unknown) => {
      if (!(error instanceof KubeError) || !error.message.includes("ENOENT")) throw error;
      missing = error;
    });
    if (!config) continue;
    // Paths in a file are meant from where it lies.
    const folder = dirname(resolve(file));
    for (const each of [...(config.clusters ?? []), ...(config.users ?? [])]) each.folder = folder;
    configs.push(config);
  }
  if (configs.length > 0) return configs;
  throw missing ?? unreadable(paths, "it names no file");
}

async function readConfig(path: string): Promise<Kubeconfig> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > largestConfig) throw unreadable(path, `it is larger than ${largestConfig} bytes`);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw unreadable(path, (cause as NodeJS.ErrnoException).code ?? "it cannot be read", cause);
  });
  return parseConfig(path, text);
}

async function parseConfig(path: string, text: string): Promise<Kubeconfig> {
  const config = await readYaml(text).catch((error: unknown) => {
    if (!(error instanceof YamlError)) throw error;
    throw unreadable(path, error.message);
  });
  if (typeof config !== "object" || config === null) throw unreadable(path, "it holds no settings");
  const wrong = wrongField(config);
  if (wrong !== undefined) throw unreadable(path, `${wrong} is not of the type that it must have`);
  return config as Kubeconfig;
}

/** The types of the fields that are read. A value of another type would go on into the socket, where it is fatal. */
const textFields = {
  context: ["cluster", "user", "namespace"],
  cluster: [
    ...["server", "certificate-authority", "certificate-authority-data"],
    ...["tls-server-name", "proxy-url"],
  ],
  user: [
    ...["token", "tokenFile", "username", "password", "client-certificate", "client-key"],
    ...["client-certificate-data", "client-key-data"],
  ],
} as const;

/** The first field of a kubeconfig that has the wrong type. */
function wrongField(config: object): string | undefined {
  const top = config as Record<string, unknown>;
  if (!isTextOrAbsent(top["current-context"])) return "current-context";
  for (const kind of ["context", "cluster", "user"] as const) {
    const list = top[`${kind}s`] ?? [];
    if (!Array.isArray(list)) return `${kind}s`;
    for (const [at, entry] of list.entries()) {
      const where = `${kind}s[${at}]`;
      if (!isObject(entry) || typeof entry.name !== "string") return where;
      const value = entry[kind];
      // kubectl writes an empty user as null.
      if (value === null) delete entry[kind];
      if (value === undefined || value === null) continue;
      if (!isObject(value)) return `${where}.${kind}`;
      const wrong = textFields[kind].find((field) => !isTextOrAbsent(value[field]));
      if (wrong !== undefined) return `${where}.${kind}.${wrong}`;
      if (!isExtensions(value.extensions)) return `${where}.${kind}.extensions`;
    }
  }
  return undefined;
}

/** The fields of client-go's kubeconfig (k8s.io/client-go/tools/clientcmd/api/v1), without those for impersonation. */
const knownFields = {
  context: [...textFields.context, "extensions"],
  cluster: [
    ...textFields.cluster,
    ...["insecure-skip-tls-verify", "disable-compression", "extensions"],
  ],
  user: [...textFields.user, "exec", "auth-provider", "extensions"],
} as const;
const knownTop = [
  ...["apiVersion", "kind", "preferences", "extensions"],
  ...["current-context", "contexts", "clusters", "users"],
];

/** Where a kubeconfig has a field that is not known. The field is not quoted: in a malformed text it may be a secret. */
function unknownField(config: Kubeconfig): string | undefined {
  const isUnknown = (value: object | undefined, known: readonly string[]) =>
    Object.keys(value ?? {}).some((key) => !known.includes(key));
  if (isUnknown(config, knownTop)) return "it";
  for (const kind of ["context", "cluster", "user"] as const)
    for (const [at, entry] of (config[`${kind}s`] ?? []).entries()) {
      if (isUnknown(entry, ["name", kind])) return `${kind}s[${at}]`;
      const value: object | undefined = (entry as { [inner in typeof kind]?: object })[kind];
      if (isUnknown(value, knownFields[kind])) return `${kind}s[${at}].${kind}`;
    }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

function isExtensions(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.every((each) => isObject(each) && isTextOrAbsent(each.name));
}

function userProof(
  path: string,
  folder: string | undefined,
  user: KubeconfigUser,
  fixed: Proof,
  clock: Clock,
): Connection["proof"] {
  if (user.exec || user["auth-provider"]) return pluginProof(path, user);
  if (user.tokenFile) {
    const read = tokenFile(resolve(folder ?? ".", user.tokenFile), clock);
    return async (renew) => ({ ...fixed, ...(await read(renew)) });
  }
  if (user.token) {
    const proof = { ...fixed, authorization: `Bearer ${user.token}` };
    return async () => proof;
  }
  if (typeof user.username === "string") {
    const basic = Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64");
    const proof = { ...fixed, authorization: `Basic ${basic}` };
    return async () => proof;
  }
  return async () => fixed;
}

/**
 * Exec plugins and auth providers are left to @kubernetes/client-node, which is imported only here and
 * only then: it costs 0.6 s and 85 MB.
 */
function pluginProof(path: string, user: KubeconfigUser): Connection["proof"] {
  let load: Promise<{ applyToHTTPSOptions(into: object): Promise<void> }> | undefined;
  return async (renew) => {
    // It keeps a token without an end for ever, so a refused one is dropped with all that it remembers.
    if (renew) load = undefined;
    load ??= import("@kubernetes/client-node").then(({ KubeConfig }) => {
      const config = new KubeConfig();
      const text = {
        apiVersion: "v1",
        kind: "Config",
        "current-context": "it",
        contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
        clusters: [{ name: "it", cluster: { server: "https://127.0.0.1" } }],
        users: [{ name: "it", user }],
      };
      config.loadFromString(JSON.stringify(text));
      return config as { applyToHTTPSOptions(into: object): Promise<void> };
    });
    const options: { headers?: Record<string, string>; cert?: string; key?: string } = {};
    try {
      await (await load).applyToHTTPSOptions(options);
    } catch (cause) {
      throw new KubeError(
        "Unauthorized",
        `the credential plugin of ${path} failed · ${pluginFailure(cause)}`,
        { cause },
      );
    }
    const proof: Proof = {};
    if (options.headers?.Authorization) proof.authorization = options.headers.Authorization;
    if (options.cert) proof.cert = options.cert;
    if (options.key) proof.key = options.key;
    return proof;
  };
}

/** Why a plugin failed, without a word of its output: that may hold a token. */
function pluginFailure(cause: unknown): string {
  const { code, path } = cause as NodeJS.ErrnoException;
  if (code !== undefined) return path === undefined ? code : `${path}: ${code}`;
  return cause instanceof SyntaxError
    ? "its output is not an ExecCredential"
    : "it ended with an error";
}

function tokenFile(path: string, clock: Clock): Connection["proof"] {
  let proof: Proof | undefined;
  let readAt = 0;
  return async (renew) => {
    if (proof && !renew && clock.now() - readAt <= tokenFileMs) return proof;
    const read = await readCredential(path).catch((error: unknown) => {
      // A file that is being replaced may be away for a moment; the token that we hold is still good.
      if (proof && !renew) return undefined;
      throw error;
    });
    if (read !== undefined) proof = { authorization: `Bearer ${read.trim()}` };
    readAt = clock.now();
    return proof ?? {};
  };
}

function named<T extends { name: string }>(
  path: string,
  what: string,
  name: string | undefined,
  all: T[],
): T {
  if (!name) throw unreadable(path, `it chooses no ${what}`);
  const found = all.find((each) => each.name === name);
  if (found) return found;
  const there = all.slice(0, 10).map((each) => cut(each.name, 60));
  const more = all.length > there.length ? ", …" : "";
  const list = there.length === 0 ? "none" : there.join(", ") + more;
  throw unreadable(path, `it has no ${what} ${quote(name)} (it has: ${list})`);
}

/** A name that somebody else wrote, short enough for a message. */
function quote(name: string | undefined): string {
  return `"${cut(name ?? "", 100)}"`;
}

async function material(
  folder: string | undefined,
  file: string | undefined,
  data: string | undefined,
): Promise<Buffer | string | undefined> {
  if (data) return Buffer.from(data, "base64");
  return file ? readCredential(resolve(folder ?? ".", file)) : undefined;
}

function readCredential(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    const why = (cause as NodeJS.ErrnoException).code ?? "it cannot be read";
    throw new KubeError("NoCredentials", `reading ${path} failed · ${why}`, { cause });
  });
}

function unreadable(path: string, why: string, cause?: unknown): KubeError {
  return new KubeError("UnreadableKubeconfig", `kubeconfig ${path} cannot be used · ${why}`, {
    cause,
  });
}
