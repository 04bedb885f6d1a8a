import type { Clock } from "../model/clock.ts";
import { type Follower, type Resource, Store } from "./store.ts";

interface Change {
  at: number;
  key: string;
  /** What was kept before, as JSON; undefined where there was nothing. */
  before: string | undefined;
}

/** How many changes are remembered; the oldest are forgotten first. */
const longest = 50_000;

/** Remembers changes from the moment it is told to, so that a read can see the world as it was. */
export class History implements Follower {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #last = new Map<string, string>();
  readonly #changes: Change[] = [];
  #following = false;

  constructor(options: { store: Store; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** Begin to remember. It costs a copy of the world, so it is done only when someone will look back. */
  start(): void {
    if (this.#following) return;
    this.#following = true;
    this.#store.follow(this);
    // The copy is where remembering begins, not a change.
    this.#changes.length = 0;
  }

  kept(resource: Resource): void {
    const text = JSON.stringify(resource);
    const before = this.#last.get(resource.key);
    if (before === text) return;
    this.#last.set(resource.key, text);
    this.#remember({ at: this.#clock.now(), key: resource.key, before });
  }

  removed(key: string): void {
    this.#remember({ at: this.#clock.now(), key, before: this.#last.get(key) });
    this.#last.delete(key);
  }

  #remember(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > longest) this.#changes.splice(0, longest / 2);
  }

  /** The world as it was at a time, as far back as it is remembered. */
  at(time: number): Store {
    const texts = new Map(this.#last);
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (!change || change.at <= time) break;
      if (change.before === undefined) texts.delete(change.key);
      else texts.set(change.key, change.before);
    }
    const store = new Store();
    for (const text of texts.values()) store.load(JSON.parse(text) as Resource);
    return store;
  }
}
