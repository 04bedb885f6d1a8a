const guid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const nameServer = /\bns\d-\d+(\.ppe)?\.azure-dns\.\w+\./g;
const zero = "00000000-0000-0000-0000-000000000000";

/**
 * Which guid and which public address of a recorded run stands for which of ours: learned from the answers, place by
 * place, and put into the requests that follow.
 */
export class Learned {
  readonly #known = new Map<string, string>();

  /** Compare a recorded text of JSON with ours. */
  learn(recorded: string, ours: string): void {
    let both: [unknown, unknown];
    try {
      both = [JSON.parse(recorded), JSON.parse(ours)];
    } catch {
      return;
    }
    this.#walk(both[0], both[1]);
  }

  /** A recorded text with our values in it. */
  translate(text: string): string {
    return text
      .replace(guid, (each) => this.#known.get(each.toLowerCase()) ?? each)
      .replace(nameServer, (each) => this.#known.get(each) ?? each)
      .replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, (each) => this.#known.get(each) ?? each);
  }

  #walk(recorded: unknown, ours: unknown, name = ""): void {
    if (typeof recorded === "string" && typeof ours === "string") {
      this.#pair(recorded, ours, name);
      return;
    }
    if (typeof recorded !== "object" || recorded === null) return;
    if (typeof ours !== "object" || ours === null) return;
    for (const [name, value] of Object.entries(recorded))
      this.#walk(value, (ours as Record<string, unknown>)[name], name);
  }

  #pair(recorded: string, ours: string, name: string): void {
    const [theirs, mine] = [recorded.match(guid) ?? [], ours.match(guid) ?? []];
    if (theirs.length === mine.length)
      for (const [i, each] of theirs.entries())
        if (each !== zero) this.#known.set(each.toLowerCase(), mine[i] ?? each);
    if (recorded.search(nameServer) === 0) this.#known.set(recorded, ours);
    if (name !== "ipAddress") return;
    const address = /^\d{1,3}(\.\d{1,3}){3}$/;
    if (address.test(recorded) && address.test(ours) && !/^(10|192|172)\./.test(recorded))
      this.#known.set(recorded, ours);
  }
}
