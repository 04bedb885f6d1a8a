import { idKey } from "@postern/core/resource-id.ts";

/** Does what concerns one resource one after another, and what concerns different ones at once. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Do the work when all that came before it for this resource has ended. */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const key = idKey(id);
    const before = this.#last.get(key);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
