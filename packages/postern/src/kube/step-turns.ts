import type { Step } from "./feature.ts";

/** How many steps of one object begin in one reconcile. */
export const mostSteps = 32;

/**
 * Which steps of an object begin, where its plan has more than begin at once: those that did not fail before, then those that failed
 * longest ago. A tenant may ask for hundreds of things that fail; what others need from the same object must not wait for them.
 */
export class StepTurns {
  readonly #failed = new Map<string, Map<string, number>>();
  #turn = 0;

  /** The steps to begin, in the order of the plan, and whether others wait that did not fail before. */
  choose(key: string, steps: readonly Step[]): { begin: readonly Step[]; more: boolean } {
    if (steps.length <= mostSteps) {
      this.#failed.delete(key);
      return { begin: steps, more: false };
    }
    const failed = this.#failed.get(key);
    const turnOf = (step: Step) => failed?.get(nameOf(step)) ?? 0;
    const inTurn = [...steps].sort((a, b) => turnOf(a) - turnOf(b));
    const begin = new Set(inTurn.slice(0, mostSteps));
    const [next] = inTurn.slice(mostSteps);
    return {
      begin: steps.filter((step) => begin.has(step)),
      more: next !== undefined && turnOf(next) === 0,
    };
  }

  /** Remember which of a plan's steps failed now. What the plan has no more is forgotten. */
  failed(key: string, steps: readonly Step[], failed: ReadonlySet<Step>): void {
    if (steps.length <= mostSteps) return;
    const before = this.#failed.get(key);
    const turn = ++this.#turn;
    const after = new Map<string, number>();
    for (const step of steps) {
      const name = nameOf(step);
      const at = failed.has(step) ? turn : before?.get(name);
      if (at !== undefined) after.set(name, at);
    }
    this.#failed.set(key, after);
  }

  delete(key: string): void {
    this.#failed.delete(key);
  }
}

function nameOf({ do: what, name }: Step): string {
  return `${what} ${name}`;
}
