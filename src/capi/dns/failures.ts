import { failureOf } from "../../kube/controller.ts";
import type { Explained, Failure } from "../../model/failure.ts";
import type { Problem } from "./seen.ts";

/** How soon the condition tells of something that has just failed for the first time. */
const tellMs = 1_000;

/**
 * What the steps of the last pass could not do, by key. The condition is on another object than the one that is worked on,
 * so it is told by the pass that comes next.
 */
export class Failures {
  readonly #last = new Map<string, Problem[]>();
  readonly #told = new Map<string, string>();

  /** What failed in the last pass. */
  take(key: string): Problem[] {
    const last = this.#last.get(key) ?? [];
    this.#last.delete(key);
    if (last.length === 0) this.#told.delete(key);
    else this.#told.set(key, JSON.stringify(last.map(({ message }) => message)));
    return last;
  }

  /** Note a failure, and give what to throw in its place: the same, looked at again as soon as it can be told. */
  note(key: string, error: unknown): unknown {
    const failure = failureOf(error);
    if (failure.passing) return error;
    const { reason, message, requeueAfterMs } = failure;
    const known = this.#told.get(key)?.includes(JSON.stringify(message)) ?? false;
    this.#last.set(key, [...(this.#last.get(key) ?? []), { reason, message, requeueAfterMs }]);
    return known && !failure.terminal ? error : new Noted(failure, error);
  }
}

/** A failure that nobody has been told of yet. */
class Noted extends Error implements Explained {
  override readonly name = "Noted";
  readonly #failure: Failure;

  constructor(failure: Failure, cause: unknown) {
    super(failure.message, { cause });
    this.#failure = failure;
  }

  explain(): Failure {
    const { reason, message, terminal } = this.#failure;
    return { reason, message, requeueAfterMs: terminal ? 5 * 60_000 : tellMs };
  }
}
