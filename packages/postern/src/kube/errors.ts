import { type Explained, type Failure, kindOfStatus } from "@postern/core/failure.ts";
import { cut } from "@postern/core/redact.ts";

/** The Status object that the API server returns with every rejection. */
export interface KubeStatus {
  code?: number;
  reason?: string;
  message?: string;
  details?: {
    causes?: { field?: string; message?: string; reason?: string }[];
    retryAfterSeconds?: number;
  };
}

/** What to do about each code that is not the API server's own reason, and about the common ones that are. */
const hints: Record<string, string> = {
  Unauthorized: "renew the credentials of this kubeconfig or service account",
  Forbidden: "grant the verb named above in the operator's Role or ClusterRole",
  NotFound: "install the resource definitions with manifests/crds, or check the name",
  Conflict: "no action needed: Postern reads the object again and retries",
  Invalid: "correct the field named above",
  TooManyRequests: "no action needed: Postern retries; the API server is busy",
  Unreachable:
    "check that the address in the kubeconfig is correct, and that the API server is running",
  Timeout: "no action needed: Postern retries; the API server did not respond in time",
  UnreadableAnswer: "check that the address in the kubeconfig is an API server and not a proxy",
  UnreadableKubeconfig: "check the path, the permissions and the YAML of the kubeconfig",
  NoCredentials: "use --kubeconfig, set KUBECONFIG, or run inside a cluster with a service account",
  PassTimedOut:
    "no action needed: Postern retries; if it happens often, the operator or the API server is overloaded",
  AddressNotAllowed:
    "use the https address of the cluster's API server: not a loopback, link-local, multicast or metadata address",
  NotListening: "choose another address with --listen, or stop the process that uses this one",
  UnusableCertificate:
    "check --tls-cert-file and --tls-private-key-file: PEM, readable, and the key of the certificate",
  NotLeader: "no action needed: another replica is the leader and writes",
};

/** Codes that a retry resolves. */
const passing = new Set(["Conflict", "NotLeader", "TooManyRequests", "Timeout", "Unreachable"]);
const refusedMs = 5 * 60_000;
const longestMessage = 2_000;
const longestRetryAfterSeconds = 3_600;

/** An error from the Kubernetes API, or from the connection to it. */
export class KubeError extends Error implements Explained {
  override readonly name = "KubeError";
  /** The API server's reason (`Conflict`, `NotFound`, …) or one of ours (`Unreachable`, …). */
  readonly code: string;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The HTTP method, where the API server answered. */
  readonly method: string | undefined;
  /** The fields that the API server names as the cause. */
  readonly fields: readonly string[];

  constructor(
    code: string,
    message: string,
    options: ErrorOptions & {
      status?: number;
      retryAfterMs?: number | undefined;
      method?: string;
      fields?: string[];
    } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = options.status ?? 0;
    this.retryAfterMs = options.retryAfterMs;
    this.method = options.method;
    this.fields = options.fields ?? [];
  }

  explain(): Failure {
    const hint = hints[this.code];
    const failure: Failure = {
      reason: this.code,
      kind: kindOfStatus(this.status),
      message: hint === undefined ? this.message : `${this.message} · ${hint}`,
    };
    if (this.retryAfterMs !== undefined) failure.requeueAfterMs = this.retryAfterMs;
    // The schema rejects the same object in three seconds too.
    if (this.code === "Invalid") failure.requeueAfterMs = refusedMs;
    if (passing.has(this.code)) failure.passing = true;
    return failure;
  }
}

/** Turn a response that is not a success into an error that a person can read. */
export function errorFromAnswer(
  what: string,
  status: number,
  body: string,
  retryAfter: string | undefined,
): KubeError {
  const answered = parseStatus(body);
  const code =
    answered?.reason !== undefined && isReason(answered.reason)
      ? answered.reason
      : reasonOf(status);
  // The page of a proxy can contain anything: only messages in the API server's own format are passed on.
  const why =
    typeof answered?.message === "string"
      ? cut(answered.message.replace(/\p{Cc}+/gu, " "), longestMessage)
      : `the response is HTTP ${status} and not in the format of the API server`;
  const seconds = Math.min(Number(retryAfter), longestRetryAfterSeconds);
  return new KubeError(code, `${what} failed · ${why}`, {
    status,
    method: what.slice(0, what.indexOf(" ")),
    fields: fieldsOf(answered),
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
  });
}

function fieldsOf(answered: KubeStatus | undefined): string[] {
  const { causes } = answered?.details ?? {};
  return Array.isArray(causes) ? causes.flatMap((each) => each?.field ?? []) : [];
}

/** A hosted cluster's API server may answer with anything, and a reason ends up in conditions and events. */
function isReason(reason: unknown): reason is string {
  return typeof reason === "string" && /^[A-Za-z]{1,64}$/.test(reason);
}

function parseStatus(body: string): KubeStatus | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (
      typeof parsed === "object" &&
      parsed !== null &&
      "kind" in parsed &&
      parsed.kind === "Status"
    )
      return parsed as KubeStatus;
  } catch {
    // Not JSON: the caller says so.
  }
  return undefined;
}

function reasonOf(status: number): string {
  switch (status) {
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    default:
      return status >= 500 ? "ServerError" : "UnreadableAnswer";
  }
}
