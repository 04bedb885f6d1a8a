import {
  type Provisioning,
  provisioning,
  provisioningStateIn,
} from "@postern/core/provisioning.ts";
import { type ArmAnswer, headerOf } from "./answer.ts";
import type { ArmClient } from "./arm.ts";
import { readErrorBody } from "./error-body.ts";
import { AzureError } from "./errors.ts";
import type { Method } from "./exchange.ts";
import { retryAfterMs } from "./retry-after.ts";

/**
 * How to look at an operation:
 *
 *   first answer                                   look at        ends when
 *   Azure-AsyncOperation (or Operation-Location)   that address   its `status` is an end
 *   Location only                                  that address   it is not 202 any more
 *   neither, and the body is not an end            the resource   its `provisioningState` is an end; 404 after a delete
 */
export interface Poll {
  id: string;
  method: Method;
  query: Readonly<Record<string, string>>;
  what: string;
  at: "status" | "result" | "resource";
  /** Empty when the resource itself is looked at. */
  address: string;
  /** Where the result of a call will lie. */
  resultAddress?: string;
}

/** What one look saw. */
export type Outcome =
  | { state: "running"; minimumMs: number; poll: Partial<Poll> }
  | { state: "done"; result?: unknown; isShown?: true }
  | { state: "failed"; error: AzureError };

/** What the first answer to a write says. */
export type FirstOutcome =
  | { state: "running"; poll: Pick<Poll, "at" | "address" | "resultAddress"> }
  | { state: "done" }
  | { state: "failed"; error: AzureError };

const running = { state: "running", minimumMs: 0, poll: {} } as const;
const done = { state: "done" } as const;
/** How long to leave it be when it cannot be looked at for now. */
const passingMs = 15_000;

/** Read the first answer to a write: is it over, and if not, where to look. */
export function firstOutcome(method: Method, answer: ArmAnswer, what: string): FirstOutcome {
  const { status, headers, body } = answer;
  const statusAddress =
    headerOf(headers, "azure-asyncoperation") ?? headerOf(headers, "operation-location");
  const location = headerOf(headers, "location");
  const end = endOf(provisioningStateIn(body));
  // A resource that says that it succeeded is done, though an address to ask is given:
  // load balancers and unchanged networks answer so (recordings).
  if (method === "PUT" || method === "PATCH") {
    if (end === "succeeded" && status !== 202) return done;
    if (end === "failed" && statusAddress === undefined) return failed(body, what);
  }
  const poll = (at: Poll["at"], address: string): FirstOutcome => ({
    state: "running",
    poll: { at, address, ...(location === undefined ? {} : { resultAddress: location }) },
  });
  if (status === 204) return done;
  // A network interface is deleted with 200 and an address: it is not gone yet (recordings).
  if (statusAddress !== undefined) return poll("status", statusAddress);
  if (status === 202)
    return location === undefined ? poll("resource", "") : poll("result", location);
  // A virtual machine is updated with 200, `Updating` and no address at all (recordings).
  return method !== "DELETE" && end === "changing" ? poll("resource", "") : done;
}

/** Look once at an operation. A look that fails for a passing reason says "running". */
export async function pollOnce(arm: ArmClient, poll: Poll, now: number): Promise<Outcome> {
  let answer: ArmAnswer;
  try {
    answer = await (poll.at === "resource"
      ? arm.request("GET", poll.id, { query: poll.query })
      : arm.follow(poll.address, poll.what));
  } catch (error) {
    if (error instanceof AzureError) return afterError(error, poll);
    throw error;
  }
  const minimumMs = retryAfterMs(headerOf(answer.headers, "retry-after"), now) ?? 0;
  const outcome = read(answer, poll);
  if (outcome.state === "running") return { ...outcome, minimumMs };
  if (outcome.state === "done" && poll.method === "POST") return resultOf(arm, poll, answer);
  return outcome;
}

function read({ status, body }: ArmAnswer, poll: Poll): Outcome {
  if (status === 202) return running;
  const state = poll.at === "status" ? statusOf(body) : undefined;
  const end = endOf(state ?? provisioningStateIn(body));
  if (end === "failed") return failed(body, poll.what);
  // After a delete the resource that can still be read is not gone, whatever it says of itself.
  if (poll.at === "resource" && poll.method === "DELETE") return running;
  return end === "changing" ? running : done;
}

/** What a call answers lies at its own address; the address of the status holds only the status. */
async function resultOf(arm: ArmClient, poll: Poll, answer: ArmAnswer): Promise<Outcome> {
  if (poll.at !== "status" || poll.resultAddress === undefined)
    return { state: "done", result: answer.body };
  const { body } = await arm.follow(poll.resultAddress, poll.what);
  return { state: "done", result: body };
}

function afterError(error: AzureError, poll: Poll): Outcome {
  if (error.code === "Cancelled") throw error;
  if (error.absent && poll.method === "DELETE") return done;
  // The operation is forgotten, or we may read the resource and not the operation (which lies at
  // the subscription): the resource tells it too.
  if (poll.at !== "resource" && poll.method !== "POST" && [403, 404].includes(error.status))
    return { state: "running", minimumMs: 0, poll: { at: "resource", address: "" } };
  const { status, code, retryAfterMs: minimumMs = passingMs } = error;
  const passing = status < 400 || [401, 408, 429].includes(status) || status >= 500;
  if (passing && code !== "ForeignAddress") return { state: "running", minimumMs, poll: {} };
  return { state: "failed", error };
}

function failed(body: unknown, what: string): Outcome & { state: "failed" } {
  const parsed = readErrorBody(body);
  const state = (statusOf(body) ?? provisioningStateIn(body) ?? "").toLowerCase();
  const code = parsed?.code ?? (state.startsWith("cancel") ? "Canceled" : "OperationFailed");
  return { state: "failed", error: new AzureError({ code, what, detail: parsed?.detail }) };
}

/** Undefined where the body has no state: what that means depends on the request. */
function endOf(state: string | undefined): Provisioning | undefined {
  return state === undefined ? undefined : provisioning(state);
}

function statusOf(body: unknown): string | undefined {
  return textAt(body, "status");
}

function textAt(body: unknown, name: string): string | undefined {
  const value = valueAt(body, name);
  return typeof value === "string" ? value : undefined;
}

function valueAt(body: unknown, name: string): unknown {
  return typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
}
