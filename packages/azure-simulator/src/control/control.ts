import type { IncomingMessage, ServerResponse } from "node:http";
import { parseBody, readBody } from "../arm/body.ts";
import type { Operations } from "../arm/operations.ts";
import { Refusal } from "../arm/refusal.ts";
import type { Throttle } from "../arm/throttle.ts";
import { eventTypes } from "../imds/events.ts";
import type { Machines } from "../imds/machines.ts";
import type { Pages } from "../server.ts";
import { difference, type Snapshot } from "../state/snapshot.ts";
import type { Json, JsonObject } from "../state/store.ts";
import type { FaultRule } from "./fault-rule.ts";
import type { Faults } from "./faults.ts";
import { read, readFault, readLimits, wrong } from "./input.ts";
import type { LogFilter, RequestLog } from "./request-log.ts";

/** What the control API works on. */
export interface Controlled {
  faults: Faults;
  log: RequestLog;
  throttle: Throttle;
  operations: Operations;
  machines: Machines;
  addFault(rule: FaultRule): string;
  snapshot(): Snapshot;
  drop(id: string): void;
  change(id: string, body: JsonObject): void;
  clock: { now(): number; mode: "real" | "manual"; moveTo(time: number): void };
  /** What opens the surface to those who do not come over loopback. */
  token: string;
  whenPersisted(then: () => void): void;
  bug?: (error: unknown) => void;
}

/** The header that carries the token. */
export const tokenHeader = "x-postern-control";

const prefix = /^\/_postern(?:\/+|(?=\?|$))/;
const maxSnapshots = 100;

interface Said {
  status: number;
  body?: unknown;
}

interface Asked {
  query: URLSearchParams;
  body: JsonObject;
  /** What follows the name of the page. */
  rest: string | undefined;
}

/** The pages under `/_postern/`: the clock, faults, the request log, snapshots. Documented in docs/reference/simulator-control.md. */
export class Control implements Pages {
  readonly #on: Controlled;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(on: Controlled) {
    this.#on = on;
  }

  take(
    request: IncomingMessage,
    response: ServerResponse,
    listener: { loopback: boolean },
  ): boolean {
    if (!prefix.test(request.url ?? "")) return false;
    const send = ({ status, body }: Said) =>
      this.#on.whenPersisted(() => {
        response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
        response.end(body === undefined ? "" : `${JSON.stringify(body)}\n`);
      });
    this.#answer(request, listener).then(send, (error: unknown) => {
      if (error instanceof Refusal) send({ status: error.status, body: error.body });
      else {
        this.#on.bug?.(error);
        send({ status: 500, body: { error: { code: "Bug", message: "a fault of ours" } } });
      }
    });
    return true;
  }

  async #answer(request: IncomingMessage, listener: { loopback: boolean }): Promise<Said> {
    this.#admit(request, listener);
    const { method = "GET", url = "" } = request;
    const [path = "", search = ""] = url.split("?", 2);
    const [page = "", rest, ...more] = path.replace(prefix, "").split("/");
    if (method === "GET" && page === "") return ok({ pages: Object.keys(this.#pages) });
    const given =
      method === "POST" || method === "PUT" ? (parseBody(await readBody(request)) ?? {}) : {};
    if (typeof given !== "object" || given === null || Array.isArray(given))
      throw wrong("body", "must be a JSON object");
    const asked = {
      query: new URLSearchParams(search),
      body: given,
      rest: rest === undefined ? undefined : decode(rest),
    };
    this.#on.operations.settle();
    const answer = more.length === 0 ? await this.#pages[`${method} ${page}`]?.(asked) : undefined;
    if (answer === undefined)
      throw new Refusal(
        404,
        "UnknownControlPage",
        `there is no ${method} ${path}; known are ${Object.keys(this.#pages).join(", ")}`,
      );
    return answer;
  }

  /**
   * Anyone on this machine may steer what listens on loopback only; a page in a browser may not, and nobody may from
   * elsewhere without the token. A name that resolves to loopback is how a page would get around that: so the host
   * must be loopback by name too.
   */
  #admit(request: IncomingMessage, listener: { loopback: boolean }): void {
    if (request.headers[tokenHeader] === this.#on.token) return;
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const local = host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
    if (listener.loopback && local && request.headers.origin === undefined) return;
    throw new Refusal(
      403,
      "ControlForbidden",
      `the control API answers on loopback, or with the header ${tokenHeader} of the ready file`,
    );
  }

  readonly #pages: Record<string, (asked: Asked) => Said | Promise<Said>> = {
    "GET clock": () => ok(this.#clock()),
    "POST clock": ({ body }) => {
      const { advanceMs, to } = read(body, "", { advanceMs: "number", to: "text" });
      const { clock } = this.#on;
      if (clock.mode === "real")
        throw new Refusal(
          409,
          "ClockIsReal",
          "the clock runs by itself; start the simulator with --clock manual to move it",
        );
      const time = typeof to === "string" ? Date.parse(to) : clock.now() + Number(advanceMs);
      if (!isDate(time))
        throw wrong(
          "body",
          "must have advanceMs, a number, or to, a time such as 2026-01-31T12:00:00Z",
        );
      if (time < clock.now()) throw wrong("to", "must not be in the past");
      clock.moveTo(time);
      return ok(this.#clock());
    },
    "GET faults": () => ok({ value: this.#on.faults.list() }),
    "POST faults": ({ body }) => ({
      status: 201,
      body: { id: this.#on.addFault(readFault(body)) },
    }),
    "DELETE faults": ({ rest }) => {
      if (rest === undefined) this.#on.faults.clear();
      else if (!this.#on.faults.remove(rest)) throw absent("fault", rest);
      return { status: 204 };
    },
    "GET requests": ({ query }) => {
      const entries = this.#on.log.entries(filterOf(query));
      const value = entries.map((each) => ({ ...each, at: new Date(each.at).toISOString() }));
      return ok({ value, last: this.#on.log.last, dropped: this.#on.log.dropped });
    },
    "DELETE requests": () => {
      this.#on.log.clear();
      return { status: 204 };
    },
    "GET snapshot": () => ok(this.#on.snapshot()),
    "PUT snapshots": ({ rest }) => {
      if (rest === undefined) throw wrong("path", "must end with a name for the snapshot");
      if (this.#snapshots.size >= maxSnapshots && !this.#snapshots.has(rest))
        throw new Refusal(409, "TooManySnapshots", `${maxSnapshots} are kept; delete one first`);
      const snapshot = this.#on.snapshot();
      this.#snapshots.set(rest, snapshot);
      return { status: 201, body: { name: rest, at: snapshot.at } };
    },
    "GET snapshots": ({ rest }) =>
      rest === undefined
        ? ok({ value: [...this.#snapshots].map(([name, { at }]) => ({ name, at })) })
        : ok(this.#named(rest)),
    "DELETE snapshots": ({ rest }) => {
      if (rest === undefined) this.#snapshots.clear();
      else if (!this.#snapshots.delete(rest)) throw absent("snapshot", rest);
      return { status: 204 };
    },
    "GET diff": ({ query }) => {
      const from = query.get("from");
      const to = query.get("to");
      if (from === null) throw wrong("from", "must name a snapshot");
      return ok(difference(this.#named(from), to === null ? this.#on.snapshot() : this.#named(to)));
    },
    "POST resources": ({ rest, body }) => {
      if (rest !== "drop" && rest !== "change") throw wrong("path", "must end with drop or change");
      const known = { id: "text", ...(rest === "change" && { body: "object" as const }) } as const;
      const { id, body: wanted } = read(body, "", known);
      if (typeof id !== "string") throw wrong("id", "must be given");
      if (rest === "drop") this.#on.drop(id);
      else {
        if (wanted === undefined) throw wrong("body", "must be given");
        this.#on.change(id, wanted as JsonObject);
      }
      return { status: 204 };
    },
    "GET limits": () => ok(this.#on.throttle.limits),
    "PUT limits": ({ body }) => {
      this.#on.throttle.setLimits(readLimits(body));
      return ok(this.#on.throttle.limits);
    },
    "GET machines": async () => ok({ value: await this.#on.machines.list() }),
    "POST events": async ({ body }) => {
      const { machine, type, noticeMs } = read(body, "", {
        machine: "text",
        type: "text",
        noticeMs: "number",
      });
      const known = eventTypes.find((each) => each === type);
      if (known === undefined) throw wrong("type", `must be one of ${eventTypes.join(", ")}`);
      const imds = await this.#on.machines.find(String(machine));
      if (!imds) throw absent("machine", String(machine));
      const notice = typeof noticeMs === "number" ? { noticeMs } : {};
      if (!isDate(this.#on.clock.now() + (notice.noticeMs ?? 0)))
        throw wrong("noticeMs", "is longer than the calendar");
      return { status: 201, body: { id: imds.schedule({ type: known, ...notice }) } };
    },
    "GET operations": () =>
      ok({
        value: [...this.#on.operations.running()].map(
          ({ id, verb, type, key, startedAt, dueAt }) => ({
            id,
            verb,
            type,
            resource: key,
            startedAt: time(startedAt),
            dueAt: time(dueAt),
          }),
        ),
      }),
    "POST operations": ({ rest, body }) => {
      const { status, error } = read(body, "", { status: "text", error: "object" });
      const operation = this.#on.operations.get(rest ?? "");
      if (operation?.status !== "InProgress") throw absent("running operation", rest ?? "");
      if (status !== "Succeeded" && status !== "Failed" && status !== "Canceled")
        throw wrong("status", "must be Succeeded, Failed or Canceled");
      const { code, message } = read((error ?? {}) as JsonObject, "error.", {
        code: "text",
        message: "text",
      }) as { code?: string; message?: string };
      this.#on.operations.end(
        operation,
        status,
        status === "Succeeded"
          ? undefined
          : { code: code ?? status, message: message ?? "Ended on demand.", details: [] },
      );
      return ok({ id: operation.id, status });
    },
  };

  #clock(): JsonObject {
    const { clock, operations } = this.#on;
    return {
      mode: clock.mode,
      now: new Date(clock.now()).toISOString(),
      nextDue: time(operations.nextDue),
    };
  }

  #named(name: string): Snapshot {
    const found = this.#snapshots.get(name);
    if (!found) throw absent("snapshot", name);
    return found;
  }
}

function ok(body: unknown): { status: number; body: unknown } {
  return { status: 200, body };
}

function absent(what: string, name: string): Refusal {
  return new Refusal(404, "NotFound", `there is no ${what} '${name}'`, { by: "gateway" });
}

/** Never is null, and so is a time after the last of the calendar. */
function time(at: number): Json {
  return isDate(at) ? new Date(at).toISOString() : null;
}

/** Whether the calendar of JavaScript has such a time (https://tc39.es/ecma262/#sec-time-values-and-time-range). */
function isDate(at: number): boolean {
  return Math.abs(at) <= 8.64e15;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong("path", "is not a valid URI");
  }
}

const words = ["method", "path", "identity", "action", "cost"] as const;

function filterOf(query: URLSearchParams): LogFilter {
  const filter: LogFilter = {};
  for (const [name, value] of query) {
    const word = words.find((each) => each === name);
    if (word !== undefined) filter[word] = value;
    else if (name === "status" || name === "limit") {
      if (!/^\d{1,9}$/.test(value)) throw wrong(name, "must be a whole number");
      filter[name] = Number(value);
    } else if (name === "since" && /^\d{1,15}$/.test(value)) filter.since = Number(value);
    else if (name === "since") {
      filter.notBefore = Date.parse(value);
      if (!Number.isFinite(filter.notBefore))
        throw wrong(name, "must be the sequence number of an entry, or a time");
    } else
      throw wrong(name, `is not known here; known are ${words.join(", ")}, status, since, limit`);
  }
  return filter;
}
