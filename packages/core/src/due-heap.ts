interface Due<T> {
  key: string;
  at: number;
  value: T;
  index: number;
}

/** Keys with the time at which each is due, the earliest first. One entry for a key: the earlier time holds. */
export class DueHeap<T> {
  readonly #heap: Due<T>[] = [];
  readonly #byKey = new Map<string, Due<T>>();

  get size(): number {
    return this.#heap.length;
  }

  get earliest(): number | undefined {
    return this.#heap[0]?.at;
  }

  set(key: string, at: number, value: T): void {
    const present = this.#byKey.get(key);
    if (present) {
      if (at >= present.at) return;
      present.at = at;
      present.value = value;
      this.#rise(present);
      return;
    }
    const due = { key, at, value, index: this.#heap.length };
    this.#byKey.set(key, due);
    this.#heap.push(due);
    this.#rise(due);
  }

  remove(key: string): void {
    const due = this.#byKey.get(key);
    if (!due) return;
    this.#byKey.delete(key);
    const last = this.#heap.pop();
    if (!last || last === due) return;
    last.index = due.index;
    this.#heap[last.index] = last;
    this.#rise(last);
    this.#sink(last);
  }

  /** Take out everything that is due at `now`, earliest first. */
  *takeUntil(now: number): Generator<{ key: string; value: T }> {
    for (let first = this.#heap[0]; first && first.at <= now; first = this.#heap[0]) {
      this.remove(first.key);
      yield first;
    }
  }

  #rise(due: Due<T>): void {
    while (due.index > 0) {
      const parent = this.#heap[(due.index - 1) >> 1] as Due<T>;
      if (parent.at <= due.at) return;
      this.#swap(due, parent);
    }
  }

  #sink(due: Due<T>): void {
    for (;;) {
      const left = this.#heap[due.index * 2 + 1];
      const right = this.#heap[due.index * 2 + 2];
      const least = right && left && right.at < left.at ? right : left;
      if (!least || least.at >= due.at) return;
      this.#swap(least, due);
    }
  }

  #swap(up: Due<T>, down: Due<T>): void {
    const index = up.index;
    up.index = down.index;
    down.index = index;
    this.#heap[up.index] = up;
    this.#heap[down.index] = down;
  }
}
