import type { Agent } from "node:http";
import type { Span } from "@opentelemetry/api";
import { type Clock, wait } from "@postern/core/clock.ts";
import type { Priority } from "@postern/core/priority.ts";
import { type ArmAnswer, headerOf, readAnswer, readBroken } from "./answer.ts";
import type { ArmOptions } from "./arm.ts";
import { type Budget, type Budgets, remainingIn } from "./budget.ts";
import { composeHeaders } from "./compose.ts";
import { AzureError } from "./errors.ts";
import { type Kind, providerOf } from "./limits.ts";
import type { RequestPath } from "./request-path.ts";
import { failSpan, startRequestSpan, traceIdOf } from "./spans.ts";
import type { TokenSource } from "./tokens.ts";
import { keepAliveAgent, type Received, send } from "./transport.ts";

/** The methods that Resource Manager knows. */
export type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE";

/** On whose behalf requests are made. */
export interface Caller {
  priority: Priority;
  signal: AbortSignal;
  /** Whether this process may write now. It is asked right before each write is handed to its connection. */
  mayWrite(): boolean;
  /** A name for the log, such as the id of a reconcile. */
  id?: string;
  /** For which tenant. Within a priority, requests of different tenants take turns. */
  tenant?: string;
}

/** What a request carries beside its path. */
export interface RequestOptions {
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/** One request, ready to be made. */
export interface Asking {
  method: Method;
  url: URL;
  path: RequestPath;
  what: string;
  options: RequestOptions;
  caller: Caller;
  credential: TokenSource;
}

const tries = 3;
/** Azure does not always say how long to wait. Who was refused comes back after five minutes, others sooner. */
const parkWithoutRetryAfterMs = 30_000;

/** Makes requests: waits for the budget, adds the token, tries again what is safe to, and tells of it. */
export class Exchange {
  readonly #options: ArmOptions & { clock: Clock; budgets: Budgets };
  readonly #agent: Agent;

  constructor(options: ArmOptions & { clock: Clock; budgets: Budgets }) {
    this.#options = options;
    this.#agent = keepAliveAgent(new URL(options.cloud.resourceManager));
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Make a request, in a span of its own. */
  async ask(asking: Asking): Promise<ArmAnswer> {
    const span = startRequestSpan(`ARM ${asking.method} ${asking.path.resource}`);
    try {
      return await this.#try(asking, span);
    } catch (error) {
      failSpan(span, error instanceof Error ? error.message : "");
      throw error;
    } finally {
      span?.end();
    }
  }

  async #try(asking: Asking, span: Span | undefined): Promise<ArmAnswer> {
    const { caller, credential, method, what } = asking;
    let refused: string | undefined;
    for (let attempt = 1; ; attempt++) {
      const priority = attempt === 1 ? caller.priority : "retry";
      const { signal, tenant = "" } = caller;
      await this.#budgetFor(asking).take({ priority, tenant, signal, what });
      const token = await credential.token(caller.signal, refused);
      const answer = await this.#send(asking, token, span);
      if (!(answer instanceof AzureError)) return answer;
      if (answer.status === 401 && refused === undefined) {
        // Refused before anything was done. A token that was revoked early is replaced, once.
        refused = token;
      } else if (attempt < tries && mayTryAgain(method, answer)) {
        await this.#pause(answer.retryAfterMs ?? 250 * 2 ** attempt * (1 + Math.random()), asking);
      } else throw answer;
    }
  }

  async #send(
    asking: Asking,
    token: string,
    span: Span | undefined,
  ): Promise<ArmAnswer | AzureError> {
    const { method, url, what, caller, options } = asking;
    const { clock, timeoutMs = 30_000, userAgent = "postern" } = this.#options;
    const write = method !== "GET";
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const headers = composeHeaders(asking, body, token, userAgent, traceIdOf(span));
    const startedAt = clock.now();
    const received = await send({
      method,
      url,
      headers,
      body,
      agent: this.#agent,
      clock,
      timeoutMs,
      signal: caller.signal,
      mayStart: write ? () => caller.mayWrite() : undefined,
    });
    const info = { what, write, now: clock.now() };
    if ("broken" in received && received.broken === "withdrawn") return readBroken(received, info);
    const answer = "broken" in received ? readBroken(received, info) : readAnswer(received, info);
    const whole = "broken" in received ? undefined : received;
    this.#note(asking, span, whole, answer, (clock.now() - startedAt) / 1000);
    return answer;
  }

  /** Tell the budget, the metrics, the trace and the log what an answer says beside its body. */
  #note(
    asking: Asking,
    span: Span | undefined,
    received: Received | undefined,
    answer: ArmAnswer | AzureError,
    seconds: number,
  ): void {
    const { method: verb, path, caller } = asking;
    const { resource, subscription, thing } = path;
    const headers = received?.headers ?? {};
    const code = String(received?.status ?? (answer instanceof AzureError ? answer.code : ""));
    const remaining = remainingIn(headers);
    const throttled = answer instanceof AzureError && answer.throttled;
    const budget = this.#budgetFor(asking);
    budget.learn(headers);
    const isByGateway = headerOf(headers, "x-ms-failure-cause") === "gateway";
    if (throttled) budget.park(answer, isByGateway, answer.retryAfterMs ?? parkWithoutRetryAfterMs);
    const azureRequestId = headerOf(headers, "x-ms-request-id");
    const counted = { resource, verb, code, seconds, subscription, throttled, remaining };
    const { id, priority } = caller;
    this.#options.onRequest?.({
      ...counted,
      thing,
      caller: id,
      priority,
      requestId: azureRequestId,
    });
    const azureCorrelationId = headerOf(headers, "x-ms-correlation-request-id");
    if (span?.isRecording()) {
      span.setAttribute("http.request.method", verb);
      if (received === undefined) span.setAttribute("error.type", code);
      else span.setAttribute("http.response.status_code", received.status);
      span.setAttribute("az.service_request_id", azureRequestId ?? "");
    }
    this.#options.log?.debug(
      {
        verb,
        resource,
        thing,
        code,
        seconds,
        azureRequestId,
        azureCorrelationId,
        reconcileID: caller.id,
      },
      "asked Azure",
    );
  }

  async #pause(ms: number, { caller, what }: Asking): Promise<void> {
    await wait(this.#options.clock, ms, caller.signal).catch((cause: unknown) => {
      throw new AzureError({ code: "Cancelled", what, cause });
    });
  }

  #budgetFor({ method, path, credential }: Asking): Budget {
    const kind: Kind = method === "GET" ? "reads" : method === "DELETE" ? "deletes" : "writes";
    const { budgets, region = "" } = this.#options;
    const { subscription, resource } = path;
    const { identity } = credential;
    return budgets.of({ identity, subscription, region, kind, provider: providerOf(resource) });
  }
}

/**
 * Whether a request may go out again at once. A read may, after whatever passes by itself. A write only
 * when nothing of it left this machine: after anything else the next reconcile reads first what came of it.
 */
function mayTryAgain(method: Method, { code, status, retryAfterMs = 0 }: AzureError): boolean {
  if (code === "Unreachable") return true;
  if (method !== "GET" || retryAfterMs > 5_000) return false;
  const cutOff = code === "UnreadableAnswer" && status === 0;
  return cutOff || status === 408 || (status >= 500 && status !== 501 && status !== 505);
}
