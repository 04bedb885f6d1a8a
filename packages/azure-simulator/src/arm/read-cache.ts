import type { Store } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { Answer } from "./wire.ts";

/** How many characters the cache holds. */
const maxLength = 8_000_000;

/**
 * Caches the answers to reads, as text, until anything is written: clients that wait for a change repeat the same read.
 * Only for answers that depend on the store alone and are the same for everyone who may read.
 */
export class ReadCache {
  readonly #store: Store;
  /** By the address, which is the same object for the same path as long as its route is remembered. */
  readonly #answers = new Map<Address, { query: URLSearchParams; answer: Answer }>();
  #changes = 0;
  #length = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get(address: Address, query: URLSearchParams): Answer | undefined {
    if (this.#changes !== this.#store.changes) this.#clear();
    const cached = this.#answers.get(address);
    return cached?.query === query ? cached.answer : undefined;
  }

  /** Cache an answer, and return it in its cached form. */
  set(address: Address, query: URLSearchParams, { body, ...rest }: Answer): Answer {
    const answer = { ...rest, text: JSON.stringify(body) };
    this.#length += answer.text.length;
    if (this.#length > maxLength) this.#clear();
    this.#answers.set(address, { query, answer });
    return answer;
  }

  #clear(): void {
    this.#answers.clear();
    this.#length = 0;
    this.#changes = this.#store.changes;
  }
}
