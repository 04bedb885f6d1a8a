/**
 * Knows which changes that the watch brings are the echo of our own writes, so that they do not wake us.
 * A change may arrive before the answer to the write that made it: it waits until the answer says who wrote it.
 */
export class OwnWrites {
  // The versions that we made and have not heard of, oldest first.
  readonly #made = new Map<string, string[]>();
  // The versions that arrived while a write was under way; an empty one is a deletion.
  readonly #arrived = new Map<string, string[]>();

  /** Whether a change of an object is another's. `version` is undefined where it was deleted. */
  isAnothers(key: string, version: string | undefined): boolean {
    const arrived = this.#arrived.get(key);
    if (arrived) {
      arrived.push(version ?? "");
      return false;
    }
    if (version === undefined) {
      this.#made.delete(key);
      return true;
    }
    return !this.#heard(key, version);
  }

  /** Write, and report whether another's change arrived meanwhile, also where the write fails. `write` gives the versions that it made. */
  async during(
    key: string,
    write: () => Promise<readonly string[]>,
    onAnothers: () => void,
  ): Promise<void> {
    const arrived: string[] = [];
    this.#arrived.set(key, arrived);
    try {
      const versions = await write();
      this.#made.set(key, [...(this.#made.get(key) ?? []), ...versions]);
    } finally {
      this.#arrived.delete(key);
      if (arrived.includes("")) this.#made.delete(key);
      if (arrived.filter((version) => !this.#heard(key, version)).length > 0) onAnothers();
    }
  }

  /** The last version that we made, where the watch has not brought it yet. */
  unheard(key: string): string | undefined {
    return this.#made.get(key)?.at(-1);
  }

  delete(key: string): void {
    this.#made.delete(key);
  }

  #heard(key: string, version: string): boolean {
    const made = this.#made.get(key);
    const at = made?.indexOf(version) ?? -1;
    if (!made || at < 0) return false;
    made.splice(at, 1);
    if (made.length === 0) this.#made.delete(key);
    return true;
  }
}
