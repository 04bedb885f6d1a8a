import type { Clock } from "@postern/core/clock.ts";
import type { Course, Operation } from "../arm/operations.ts";
import { type Effect, type FaultRule, type Moment, matches } from "./fault-rule.ts";
import { seededRandom } from "./seeded-random.ts";

/** A rule that is in force, with what has come of it. */
export interface Fault extends FaultRule {
  readonly id: string;
  /** How many requests matched. */
  seen: number;
  /** How many of them it happened to. */
  hit: number;
}

interface Armed extends Fault {
  /** Each rule has its own random numbers, so that adding a rule changes nothing for the others. */
  random: () => number;
  endsAt: number;
}

/** Injected faults: the first rule that matches and is due applies. */
export class Faults {
  readonly #clock: Clock;
  readonly #seed: string;
  #rules: Armed[] = [];
  #made = 0;
  /** The course of the operation that the request in hand begins. */
  #course: Course | undefined;

  constructor(options: { clock: Clock; seed: string }) {
    this.#clock = options.clock;
    this.#seed = options.seed;
  }

  get none(): boolean {
    return this.#rules.length === 0;
  }

  /** Put a rule in force and give its id. */
  add(rule: FaultRule): string {
    const id = rule.id ?? `fault-${++this.#made}`;
    const endsAt =
      rule.forMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + rule.forMs;
    const random = seededRandom(`${this.#seed} ${rule.seed ?? id}`);
    this.#rules = this.#rules.filter((each) => each.id !== id);
    this.#rules.push({ ...rule, id, seen: 0, hit: 0, random, endsAt });
    return id;
  }

  /** Take a rule back; false where there is none of that id. */
  remove(id: string): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((each) => each.id !== id);
    return this.#rules.length < before;
  }

  clear(): void {
    this.#rules = [];
  }

  list(): Fault[] {
    return this.#rules.map(({ random: _random, endsAt: _endsAt, ...fault }) => fault);
  }

  /** The fault of a request, called once for each. The course of its operation is remembered until `settled`. */
  strike(moment: Moment): Effect | undefined {
    this.#course = undefined;
    if (this.#rules.length === 0) return undefined;
    const now = this.#clock.now();
    for (const rule of this.#rules) {
      if (now >= rule.endsAt || !matches(rule.match, moment) || !concerns(rule.effect, moment))
        continue;
      if (!this.#turnOf(rule)) continue;
      rule.hit++;
      if (rule.effect.kind !== "operation") return rule.effect;
      const { ms, never, error } = rule.effect;
      this.#course = {
        ms: never ? Number.POSITIVE_INFINITY : (ms ?? 0),
        ...(error && { error: { details: [], ...error } }),
      };
    }
    return undefined;
  }

  /** How an operation goes where it does not go as usual. */
  course(_operation: Pick<Operation, "type" | "verb" | "key">): Course | undefined {
    return this.#course;
  }

  /** The request in hand is answered: what begins from now on goes as usual. */
  settled(): void {
    this.#course = undefined;
  }

  #turnOf(rule: Armed): boolean {
    rule.seen++;
    if (rule.nth !== undefined && rule.seen !== rule.nth) return false;
    if (rule.count !== undefined && rule.hit >= rule.count) return false;
    // Drawn last, and for every match that counts, so that the numbers are the same in every run.
    return rule.probability === undefined || rule.random() < rule.probability;
  }
}

/** Whether an effect can happen to a request: only writes begin operations, and only reads can be stale. */
function concerns(effect: Effect, { method }: Moment): boolean {
  const reads = method === "GET" || method === "HEAD";
  return effect.kind === "operation" ? !reads : effect.kind === "stale" ? reads : true;
}
