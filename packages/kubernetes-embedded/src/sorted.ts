/** A map that lists its values by their keys, `namespace/name` or `name`. The keys are put in order when a list is asked for. */
export class Sorted<T> {
  readonly #values = new Map<string, T>();
  #keys: string[] = [];
  #inOrder = true;

  get size(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) {
      // Who makes many objects often counts up.
      this.#inOrder &&= this.#keys.length === 0 || (this.#keys.at(-1) as string) < key;
      this.#keys.push(key);
    }
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#inOrder = false;
  }

  /** The values of a namespace, or all of them, from a key on. */
  range(namespace?: string, from = ""): T[] {
    this.#order();
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
    return ranged(this.#keys, (each) => each < key);
  }

  #order(): void {
    if (this.#inOrder) return;
    this.#keys = [...this.#values.keys()].sort();
    this.#inOrder = true;
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
