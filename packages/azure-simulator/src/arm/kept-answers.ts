import type { Store } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { Answer } from "./wire.ts";

/** How many characters are kept, all told. */
const most = 8_000_000;

/**
 * The answers to reads, as text, until anything at all is written: clients that wait for a change ask for the same again
 * and again. Only for answers that follow from the store alone and are the same for everyone who may read.
 */
export class KeptAnswers {
  readonly #store: Store;
  /** By the address, which is the same object for the same path as long as its route is remembered. */
  readonly #answers = new Map<Address, { query: URLSearchParams; answer: Answer }>();
  #changes = 0;
  #length = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get(address: Address, query: URLSearchParams): Answer | undefined {
    if (this.#changes !== this.#store.changes) this.#forget();
    const kept = this.#answers.get(address);
    return kept?.query === query ? kept.answer : undefined;
  }

  /** Keep an answer, and give it as it is kept. */
  keep(address: Address, query: URLSearchParams, { body, ...rest }: Answer): Answer {
    const answer = { ...rest, text: JSON.stringify(body) };
    this.#length += answer.text.length;
    if (this.#length > most) this.#forget();
    this.#answers.set(address, { query, answer });
    return answer;
  }

  #forget(): void {
    this.#answers.clear();
    this.#length = 0;
    this.#changes = this.#store.changes;
  }
}
