import type { Clock } from "@postern/core/clock.ts";
import { type Follower, type Resource, Store } from "./store.ts";

interface Change {
  at: number;
  key: string;
  /** The resource before and after, as JSON; undefined where there was none. */
  before: string | undefined;
  after: string | undefined;
}

/** How many changes are remembered; the oldest are forgotten first. */
const longest = 50_000;

/** Remembers changes from the moment it is told to, so that a read can see the world as it was. */
export class History implements Follower {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #last = new Map<string, string>();
  readonly #changes: Change[] = [];
  /** The world as it was when the first so many changes had been made. Kept, since the next look is seldom far from it. */
  readonly #past = new Store();
  #made = 0;
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
    for (const text of this.#last.values()) this.#past.load(JSON.parse(text) as Resource);
  }

  saved(resource: Resource): void {
    const { key } = resource;
    const after = JSON.stringify(resource);
    const before = this.#last.get(key);
    if (before === after) return;
    this.#last.set(key, after);
    this.#remember({ at: this.#clock.now(), key, before, after });
  }

  removed(key: string): void {
    const before = this.#last.get(key);
    this.#last.delete(key);
    this.#remember({ at: this.#clock.now(), key, before, after: undefined });
  }

  #remember(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length <= longest) return;
    const forgotten = longest / 2;
    if (this.#made < forgotten) this.#moveTo(forgotten);
    this.#changes.splice(0, forgotten);
    this.#made -= forgotten;
  }

  /** The world as it was at a time, as far back as it is remembered. It is good until the next look. */
  at(time: number): Store {
    let made = this.#changes.length;
    while (made > 0 && (this.#changes[made - 1]?.at ?? 0) > time) made--;
    this.#moveTo(made);
    return this.#past;
  }

  #moveTo(made: number): void {
    for (; this.#made < made; this.#made++) {
      const change = this.#changes[this.#made];
      if (change) this.#write(change.key, change.after);
    }
    for (; this.#made > made; this.#made--) {
      const change = this.#changes[this.#made - 1];
      if (change) this.#write(change.key, change.before);
    }
  }

  #write(key: string, text: string | undefined): void {
    if (text === undefined) this.#past.remove(key);
    else this.#past.load(JSON.parse(text) as Resource);
  }
}
