import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import type { JournalRequest, JournalStep } from "@postern/core/dashboard/journal-step.ts";
import { cut, redact } from "@postern/core/redact.ts";

/** Steps name things that tenants have named, and thousands of steps are remembered. */
const longestText = 1_024;

/** Recent steps: a bounded list in memory, for the dashboard. Nothing else depends on it. */
export class Journal {
  readonly #most: number;
  readonly #steps: JournalStep[] = [];
  readonly #ofPass = new Map<string, JournalStep[]>();
  /** What goes on in Azure, by controller and object. */
  readonly #running = new Map<string, JournalStep[]>();
  readonly #listeners = new Set<(step: JournalStep) => void>();
  /** When reconciles failed, the newest last. */
  readonly #failures: number[] = [];
  #number = 0;

  readonly #clock: Clock;

  constructor(most = 2_000, clock: Clock = realClock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** A step begins. */
  begin(
    reconcile: string,
    step: Omit<JournalStep, "number" | "requests" | "reconcile">,
  ): JournalStep {
    const why = redact(cut(step.why, longestText));
    const made = {
      ...step,
      do: cut(step.do, longestText),
      name: cut(step.name, longestText),
      why,
      number: ++this.#number,
      reconcile,
      requests: [],
    };
    this.#steps.push(made);
    if (this.#steps.length > this.#most) this.#forget(this.#steps.shift());
    const beside = this.#ofPass.get(reconcile);
    if (beside) beside.push(made);
    else this.#ofPass.set(reconcile, [made]);
    this.#notify(made);
    return made;
  }

  /** How it went. */
  end(step: JournalStep, outcome: "done" | "running" | "failed", failure?: string): void {
    step.outcome = outcome;
    if (outcome !== "running") step.endedAt = dateBy(this.#clock).toISOString();
    if (failure !== undefined) step.failure = cut(failure, longestText);
    const place = placeOf(step);
    if (outcome === "running")
      this.#running.set(place, [...(this.#running.get(place) ?? []), step]);
    this.#notify(step);
  }

  /** A reconcile failed, in a step or before there were any. */
  failed(): void {
    this.#failures.push(dateBy(this.#clock).getTime());
    if (this.#failures.length > this.#most) this.#failures.shift();
  }

  /** How many reconciles have failed since a time. */
  failuresSince(ms: number): number {
    return this.#failures.filter((at) => at >= ms).length;
  }

  /** An object came to rest: what was begun for it in Azure has come to its end. */
  settle(controller: string, key: string): void {
    const place = placeOf({ controller, key });
    const over = this.#running.get(place) ?? [];
    this.#running.delete(place);
    for (const step of over) this.end(step, "done");
  }

  /** A reconcile is over: no request belongs to it any more. */
  over(reconcile: string): void {
    this.#ofPass.delete(reconcile);
  }

  /** A request to Azure. Only writes are recorded: with the steps that name its resource, or with the only step of the reconcile. */
  request(
    reconcile: string | undefined,
    request: JournalRequest & { expectedMs?: number | undefined },
  ): void {
    const steps = reconcile === undefined ? undefined : this.#ofPass.get(reconcile);
    if (request.verb === "GET" || steps === undefined) return;
    const name = request.thing.split("/").at(-1) ?? "";
    const meant = steps.filter((step) => names(`${step.name} ${step.why}`, name));
    for (const step of meant.length > 0 ? meant : steps.length === 1 ? steps : []) {
      const { verb, thing, code, requestId, expectedMs } = request;
      step.requests.push({ verb, thing, code, requestId });
      // The longest of them decides.
      if (expectedMs !== undefined) step.expectedMs = Math.max(step.expectedMs ?? 0, expectedMs);
    }
  }

  /** The newest last; of some objects only, where they are named. */
  steps(keys?: ReadonlySet<string>): JournalStep[] {
    return keys === undefined ? [...this.#steps] : this.#steps.filter(({ key }) => keys.has(key));
  }

  /** Calls back for every step when it begins and when it ends; returns a function that stops this. */
  listen(listener: (step: JournalStep) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #forget(step: JournalStep | undefined): void {
    if (step?.outcome !== "running") return;
    const place = placeOf(step);
    const remaining = (this.#running.get(place) ?? []).filter((each) => each !== step);
    if (remaining.length > 0) this.#running.set(place, remaining);
    else this.#running.delete(place);
  }

  #notify(step: JournalStep): void {
    for (const listener of this.#listeners) listener(step);
  }
}

function placeOf({ controller, key }: Pick<JournalStep, "controller" | "key">): string {
  return `${controller} ${key}`;
}

/** Whether a text has a name as a word of its own: `api.zone` names `api`, and `api-int.zone` and `x.api` do not. */
function names(text: string, name: string): boolean {
  if (name === "") return false;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/[\w.-]/.test(text[at - 1] ?? " ") && !/[\w-]/.test(text[at + name.length] ?? " "))
      return true;
  return false;
}
