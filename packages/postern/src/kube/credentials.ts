import { readFile, stat } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { dirname, resolve } from "node:path";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { cut } from "@postern/core/redact.ts";
import { readYaml, YamlError } from "@postern/core/yaml.ts";
import { KubeError } from "./errors.ts";
import type { ExecCluster } from "./exec-plugin.ts";

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
  /** The proof to use now. `refused` is one that the API server refused: it is not used again where another can be had. */
  proof(refused?: Proof): Promise<Proof>;
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
  "disable-compression"?: boolean;
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
  contextName?: string,
  clock: Clock = realClock,
): Promise<Connection> {
  const files = paths.split(":").filter((path) => path !== "");
  return connectionIn(paths, await readConfigs(paths, files), contextName, clock);
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
  contextName: string | undefined,
  clock: Clock,
): Promise<Connection> {
  const current = contextName ?? configs.map((each) => each["current-context"]).find(Boolean);
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
  const entry = named(
    paths,
    "user",
    context.user,
    configs.flatMap((each) => each.users ?? []),
  );
  const { user = {}, folder: home } = entry;
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
  const extensions = Object.fromEntries(
    (cluster.extensions ?? []).flatMap(({ name, extension }) =>
      name === undefined ? [] : [[name, extension] as const],
    ),
  );
  const fixed = { ...(cert && { cert }), ...(key && { key }) };
  const about = execCluster(cluster, cluster.server, ca, extensions);
  const connection: Connection = {
    server: new URL(cluster.server),
    namespace: context.namespace ?? "default",
    source: paths,
    proof: await userProof(paths, home, entry, fixed, about, clock),
  };
  if (ca) connection.ca = ca;
  if (Object.keys(extensions).length > 0) connection.extensions = extensions;
  if (cluster["tls-server-name"]) connection.servername = cluster["tls-server-name"];
  if (cluster["insecure-skip-tls-verify"]) connection.insecure = true;
  return connection;
}

/** What a credential plugin that asks for it is told of the cluster. */
function execCluster(
  cluster: KubeconfigCluster,
  server: string,
  ca: Connection["ca"],
  extensions: Record<string, unknown>,
): ExecCluster {
  const about: ExecCluster = { server };
  if (cluster["tls-server-name"]) about["tls-server-name"] = cluster["tls-server-name"];
  if (cluster["insecure-skip-tls-verify"]) about["insecure-skip-tls-verify"] = true;
  if (ca) about["certificate-authority-data"] = Buffer.from(ca).toString("base64");
  if (cluster["disable-compression"]) about["disable-compression"] = true;
  const config = extensions[execExtension];
  if (config !== undefined) about.config = config;
  return about;
}

/** The extension of a cluster that is meant for credential plugins (k8s.io/client-go/tools/clientcmd/api). */
const execExtension = "client.authentication.k8s.io/exec";

async function readConfigs(paths: string, files: string[]): Promise<Kubeconfig[]> {
  const configs: Kubeconfig[] = [];
  let missing: unknown;
  for (const file of files) {
    const config = await readConfig(file).catch((error: unknown) => {
      if (!(error instanceof KubeError) || !isMissingFile(error.cause)) throw error;
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

function isMissingFile(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
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

/** As in client-go, a token or password of the kubeconfig counts before a credential plugin, which is then not run. */
async function userProof(
  path: string,
  folder: string | undefined,
  { name, user = {} }: { name: string; user?: KubeconfigUser },
  fixed: Proof,
  cluster: ExecCluster,
  clock: Clock,
): Promise<Connection["proof"]> {
  if (user.tokenFile) {
    const read = tokenFile(resolve(folder ?? ".", user.tokenFile), clock);
    return async (refused) => ({ ...fixed, ...(await read(refused)) });
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
  if (user["auth-provider"])
    throw unreadable(
      path,
      `user ${quote(name)} has an auth-provider, which is not supported: use a credential plugin (exec), such as kubelogin`,
    );
  if (!user.exec) return async () => fixed;
  const { execPluginProof, readExecConfig } = await import("./exec-plugin.ts");
  const exec = readExecConfig(user.exec);
  if ("problem" in exec) throw unreadable(path, `user ${quote(name)}: ${exec.problem}`);
  return execPluginProof({ exec, cluster, fixed, source: path, folder: folder ?? ".", clock });
}

function tokenFile(path: string, clock: Clock): Connection["proof"] {
  let proof: Proof | undefined;
  let readAt = 0;
  return async (refused) => {
    const isRefused = refused !== undefined && refused.authorization === proof?.authorization;
    if (proof && !isRefused && clock.now() - readAt <= tokenFileMs) return proof;
    const read = await readCredential(path).catch((error: unknown) => {
      // A file that is being replaced may be away for a moment; the token that we hold is still good.
      if (proof && !isRefused) return undefined;
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
