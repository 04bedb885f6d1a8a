/** A map whose keys are in order, as lists need them: `namespace/name`, or `name`. */
export class Sorted<T> {
  readonly #values = new Map<string, T>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#at(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#at(key), 1);
  }

  /** The values of a namespace, or all of them, from a key on. */
  range(namespace?: string, from = ""): T[] {
    const first = namespace === undefined ? from : later(`${namespace}/`, from);
    // "0" comes next after "/".
    const end = namespace === undefined ? this.#keys.length : this.#at(`${namespace}0`);
    const found: T[] = [];
    for (let i = first === "" ? 0 : this.#at(first); i < end; i++)
      found.push(this.#values.get(this.#keys[i] as string) as T);
    return found;
  }

  /** Where a key is, or would be. */
  #at(key: string): number {
    // Who makes many objects often counts up.
    const last = this.#keys.at(-1);
    if (last === undefined || last < key) return this.#keys.length;
    return ranged(this.#keys, (each) => each < key);
  }
}

function later(a: string, b: string): string {
  return a < b ? b : a;
}

/** How many of the first items are `before`; all of those come first. */
export function ranged<T>(items: readonly T[], before: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
