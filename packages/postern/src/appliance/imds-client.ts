import { type Clock, wait } from "@postern/core/clock.ts";
import { http } from "../azure/http.ts";
import { retryAfterMs } from "../azure/retry-after.ts";
import { type Broken, type Received, send } from "../azure/transport.ts";
import { ApplianceError } from "./errors.ts";

/** One request to the metadata service. */
export interface IMDSRequest {
  /** What is being done, for people: `read the metadata of this machine`. */
  what: string;
  /** Below `/metadata`, such as `/instance`. */
  path: string;
  apiVersion: string;
  method?: "GET" | "POST";
  body?: unknown;
  /** How long one answer may take. */
  timeoutMs?: number;
  /** How long to go on while the service does not answer, or answers that it cannot for now. */
  patienceMs?: number;
  signal?: AbortSignal;
}

/** The metadata service of this machine. */
export interface IMDSClient {
  readonly host: string;
  /** Ask; gives the JSON of the answer, `undefined` where it is empty. */
  ask(request: IMDSRequest): Promise<unknown>;
}

/** What the client needs beside the address. */
export interface IMDSClientOptions {
  host: string;
  clock: Clock;
  random: () => number;
  /** Told of every answer that is none: its status, or `none`. */
  failed?: (status: string) => void;
}

/** https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#rate-limiting */
const mostInASecond = 5;
/** A service that is being updated says 410 for at most so long (same page, errors and debugging). */
const retryGoneMs = 70_000;
const defaultPatienceMs = 70_000;

/**
 * A client of the metadata service: on connections that know no proxy, which the service forbids, at most five requests a
 * second, and in the version that the service offers where it does not know the one that is asked for.
 */
export function imdsClient(options: IMDSClientOptions): IMDSClient {
  const { host, clock, random } = options;
  const agent = new http.Agent({ keepAlive: false });
  const offered = new Map<string, string>();
  const pace = pacer(clock);

  const sendOnce = async (request: IMDSRequest) => {
    const { path, method = "GET", body, timeoutMs = 5_000, signal } = request;
    await pace(signal);
    const url = new URL(`/metadata${path}`, host);
    url.searchParams.set("api-version", offered.get(request.apiVersion) ?? request.apiVersion);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = { metadata: "true", accept: "application/json" };
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = String(Buffer.byteLength(text));
    }
    return send({ method, url, headers, body: text, agent, clock, timeoutMs, signal });
  };

  async function ask(request: IMDSRequest): Promise<unknown> {
    const { what, patienceMs = defaultPatienceMs, signal, apiVersion } = request;
    const startedAt = clock.now();
    let goneSince: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const answer = await sendOnce(request);
      signal?.throwIfAborted();
      if ("status" in answer && answer.status === 200) return read(answer, what);
      options.failed?.("status" in answer ? String(answer.status) : "none");
      const version = versionIn(answer);
      if (version !== undefined && offered.get(apiVersion) === undefined) {
        offered.set(apiVersion, version);
        continue;
      }
      if (!passes(answer)) throw refusal(answer, what);
      const isGone = "status" in answer && answer.status === 410;
      goneSince = isGone ? (goneSince ?? clock.now()) : undefined;
      const endsAt = Math.min(
        startedAt + patienceMs,
        (goneSince ?? Number.POSITIVE_INFINITY) + retryGoneMs,
      );
      const pauseMs = Math.max(retryAfterOf(answer, clock.now()), backOffMs(attempt, random));
      if (clock.now() + pauseMs > endsAt) throw refusal(answer, what);
      await wait(clock, pauseMs, signal);
    }
  }

  return { host, ask };
}

/** Holds back whoever would be the sixth within a second. */
function pacer(clock: Clock): (signal?: AbortSignal) => Promise<void> {
  const sent: number[] = [];
  return async (signal) => {
    const now = clock.now();
    const before = sent.length < mostInASecond ? undefined : sent.shift();
    const turn = before === undefined ? now : Math.max(now, before + 1_000);
    sent.push(turn);
    if (turn > now) await wait(clock, turn - now, signal);
  };
}

function backOffMs(attempt: number, random: () => number): number {
  return Math.min(10_000, 1_000 * 2 ** attempt) * (0.75 + random() / 2);
}

function retryAfterOf(answer: Received | Broken, now: number): number {
  return "status" in answer ? (retryAfterMs(answer.headers["retry-after"], now) ?? 0) : 0;
}

/** Whether it may be otherwise in a moment. */
function passes(answer: Received | Broken): boolean {
  if ("broken" in answer) return true;
  const { status } = answer;
  return status === 404 || status === 410 || status === 429 || status >= 500;
}

/** The newest version that a refusal offers. */
function versionIn(answer: Received | Broken): string | undefined {
  if ("broken" in answer || answer.status !== 400) return undefined;
  const body = parse(answer.text);
  const listed =
    typeof body === "object" && body !== null ? Reflect.get(body, "newest-versions") : undefined;
  if (!Array.isArray(listed)) return undefined;
  return listed
    .filter((each) => typeof each === "string")
    .sort()
    .at(-1);
}

function read(answer: Received, what: string): unknown {
  if (answer.text.trim() === "") return undefined;
  const body = parse(answer.text);
  if (body === undefined)
    throw new ApplianceError({
      code: "MetadataUnreadable",
      what,
      detail: describeAnswer(answer),
      status: answer.status,
    });
  return body;
}

function refusal(answer: Received | Broken, what: string): ApplianceError {
  if ("broken" in answer)
    return new ApplianceError({ code: "MetadataUnreachable", what, cause: answer.cause });
  const { status, text } = answer;
  // Every refusal of the service itself is JSON.
  if (text.trim() !== "" && parse(text) === undefined)
    return new ApplianceError({
      code: "MetadataUnreadable",
      what,
      detail: describeAnswer(answer),
      status,
    });
  const code = passes(answer) ? "MetadataUnavailable" : "MetadataRefused";
  return new ApplianceError({ code, what, detail: `it answers ${status}`, status });
}

function describeAnswer({ status, headers }: Received): string {
  return `it answers ${status} with ${headers["content-type"] ?? "something"}, which is not JSON`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
