import { type ChildProcess, spawn } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { type Clock, dateBy } from "@postern/core/clock.ts";
import { cut } from "@postern/core/redact.ts";
import type { Proof } from "./credentials.ts";
import { KubeError } from "./errors.ts";

/** A credential plugin as `users[].user.exec` of a kubeconfig configures it. */
export interface ExecConfig {
  apiVersion: string;
  command: string;
  args: string[];
  env: Variable[];
  installHint: string;
  provideClusterInfo: boolean;
}

interface Variable {
  name: string;
  value?: string | null;
}

/** What a plugin gets to know of the cluster if it asks for it (`spec.cluster` of ExecCredential). */
export interface ExecCluster {
  server: string;
  "tls-server-name"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "certificate-authority-data"?: string;
  "disable-compression"?: boolean;
  config?: unknown;
}

export interface ExecPluginOptions {
  exec: ExecConfig;
  cluster: ExecCluster;
  /** Certificate and key of the kubeconfig. As in client-go, they count before those of the plugin. */
  fixed: Proof;
  /** The kubeconfig, for messages. */
  source: string;
  /** Where the kubeconfig is: a command that is a relative path is relative to it. */
  folder: string;
  clock: Clock;
}

const apiVersions = ["v1", "v1beta1"].map((version) => `client.authentication.k8s.io/${version}`);
/** A person may have to sign in with a browser; without any limit every request would wait for a plugin that hangs. */
const longestRunMs = 120_000;
const largestOutput = 1_048_576;
const longestHint = 1_000;

/** The `exec` of a user, or what is wrong with it. */
export function readExecConfig(value: unknown): ExecConfig | { problem: string } {
  const exec = isObject(value) ? value : {};
  const { command, apiVersion, args, env, installHint, provideClusterInfo, interactiveMode } = exec;
  if (typeof command !== "string" || command === "") return { problem: "exec has no command" };
  if (typeof apiVersion !== "string" || !apiVersions.includes(apiVersion))
    return { problem: `exec.apiVersion must be ${apiVersions.join(" or ")}` };
  if (interactiveMode === "Always")
    return { problem: "exec.interactiveMode is Always, and plugins are run without a terminal" };
  if (
    !isAbsent(interactiveMode) &&
    interactiveMode !== "Never" &&
    interactiveMode !== "IfAvailable"
  )
    return { problem: "exec.interactiveMode must be Never or IfAvailable" };
  if (!isAbsent(args) && !isListOf(args, isText))
    return { problem: "exec.args must be a list of strings" };
  if (!isAbsent(env) && !isListOf(env, isVariable))
    return { problem: "exec.env must be a list of names and values" };
  if (!isAbsent(installHint) && !isText(installHint))
    return { problem: "exec.installHint must be a string" };
  if (!isAbsent(provideClusterInfo) && typeof provideClusterInfo !== "boolean")
    return { problem: "exec.provideClusterInfo must be true or false" };
  return {
    apiVersion,
    command,
    args: args ?? [],
    env: env ?? [],
    installHint: installHint ?? "",
    provideClusterInfo: provideClusterInfo ?? false,
  };
}

/**
 * The credential that a plugin returns, by the rules of client-go: it is cached until it expires, or until the API server
 * refused it; without an expiration it is cached until then. Concurrent callers share one run.
 */
export function execPluginProof(options: ExecPluginOptions): (refused?: Proof) => Promise<Proof> {
  const { clock } = options;
  let cached: Credential | undefined;
  let running: Promise<Credential> | undefined;
  const run = async () => {
    try {
      cached = await runPlugin(options);
      return cached;
    } finally {
      running = undefined;
    }
  };
  return async (refused) => {
    // Who was refused with an older credential than this one takes this one: it has been replaced already.
    if (cached !== undefined && (cached.proof === refused || isExpired(cached, clock)))
      cached = undefined;
    if (cached !== undefined) return cached.proof;
    running ??= run();
    return (await running).proof;
  };
}

interface Credential {
  proof: Proof;
  /** Milliseconds since the epoch. */
  expiresAt: number | undefined;
}

function isExpired({ expiresAt }: Credential, clock: Clock): boolean {
  return expiresAt !== undefined && dateBy(clock).getTime() > expiresAt;
}

async function runPlugin({
  exec,
  cluster,
  fixed,
  source,
  folder,
  clock,
}: ExecPluginOptions): Promise<Credential> {
  // As in client-go, only a command with a slash in it is a path; others are searched for in PATH.
  const command = exec.command.includes("/") ? resolve(folder, exec.command) : exec.command;
  const spec = { ...(exec.provideClusterInfo && { cluster }), interactive: false };
  const info = { kind: "ExecCredential", apiVersion: exec.apiVersion, spec };
  const env = {
    ...process.env,
    ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value ?? ""])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  try {
    const output = await outputOf(command, exec, env, clock);
    const { proof, expiresAt } = readCredential(output, exec.apiVersion);
    return { proof: { ...proof, ...fixed }, expiresAt };
  } catch (error) {
    // Not even as the cause: what a plugin prints, its arguments and its environment may hold a secret.
    const why =
      error instanceof PluginFailure
        ? error.message
        : startFailure(command, exec.installHint, (error as NodeJS.ErrnoException).code);
    throw new KubeError("Unauthorized", `the credential plugin of ${source} failed · ${why}`);
  }
}

/** Why a plugin failed, without a word of its output: that may hold a token. */
class PluginFailure extends Error {
  override readonly name = "PluginFailure";
}

function outputOf(
  command: string,
  exec: ExecConfig,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, exec.args, { env, stdio: ["ignore", "pipe", "ignore"] });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (why: string) => {
      endRun();
      endProcess(child);
      reject(new PluginFailure(`${command} ${why}`));
    };
    const endRun = clock.after(
      longestRunMs,
      () => stop(`did not end within ${longestRunMs / 1_000} s`),
      { limit: true },
    );
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > largestOutput) stop(`printed more than ${largestOutput} bytes`);
      else chunks.push(chunk);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      endRun();
      reject(new PluginFailure(startFailure(command, exec.installHint, error.code)));
    });
    child.on("close", (code, signal) => {
      endRun();
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else
        reject(
          new PluginFailure(
            signal === null
              ? `${command} exited with code ${code}`
              : `${command} was ended by ${signal}`,
          ),
        );
    });
  });
}

/** Its own children may hold its output open, which nobody waits for any more. */
function endProcess(child: ChildProcess): void {
  child.kill("SIGKILL");
  child.stdout?.destroy();
}

function startFailure(command: string, installHint: string, code = "it could not be run"): string {
  if (code !== "ENOENT") return `${command}: ${code}`;
  const hint = installHint.trim().replace(/\s+/g, " ");
  return `executable ${command} not found${hint && ` · ${cut(hint, longestHint)}`}`;
}

function readCredential(output: string, apiVersion: string): Credential {
  const answer = parse(output);
  if (answer?.kind !== "ExecCredential")
    throw new PluginFailure("its output is not an ExecCredential");
  if (answer.apiVersion !== apiVersion)
    throw new PluginFailure(`its output is not of apiVersion ${apiVersion}, which is configured`);
  if (!isObject(answer.status)) throw new PluginFailure("its output has no status");
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = answer.status;
  const [bearer, cert, key] = [token, clientCertificateData, clientKeyData].map((value) => {
    if (isAbsent(value) || value === "") return undefined;
    if (!isText(value)) throw new PluginFailure("its output has a credential that is no string");
    return value;
  });
  if ((cert === undefined) !== (key === undefined))
    throw new PluginFailure("it returned only one of certificate and key");
  if (bearer === undefined && cert === undefined)
    throw new PluginFailure("it returned neither a token nor a certificate with its key");
  const proof: Proof = {};
  if (bearer !== undefined) proof.authorization = `Bearer ${checkToken(bearer)}`;
  if (cert !== undefined && key !== undefined) Object.assign(proof, checkPair(cert, key));
  return { proof, expiresAt: timeOf(expirationTimestamp) };
}

function parse(output: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(output);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** What no header can hold would fail at the socket, as if the API server could not be reached. */
function checkToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new PluginFailure("its token has characters that no token has");
  return token;
}

function checkPair(cert: string, key: string): { cert: string; key: string } {
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    throw new PluginFailure("its certificate and key are not PEM");
  }
  throw new PluginFailure("its key does not belong to its certificate");
}

function timeOf(timestamp: unknown): number | undefined {
  if (isAbsent(timestamp)) return undefined;
  const time = isText(timestamp) && rfc3339.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(time)) throw new PluginFailure("its expirationTimestamp is not of RFC 3339");
  return time;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isVariable(value: unknown): value is Variable & Record<string, unknown> {
  if (!isObject(value) || !isText(value.name) || value.name === "") return false;
  return isAbsent(value.value) || isText(value.value);
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}
