import type { KubeObject } from "../model/kind.ts";

const guid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const address = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const groupName = /(?<=\/resourceGroups\/)[^/"\s]+/gi;
const domain =
  /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|local|internal|cloud|azure\.privatelinkservice)\b/gi;
/** Words of products and not of people. */
const known =
  /(^|\.)(k8s\.io|x-k8s\.io|openshift\.io|postern\.io|giantswarm\.io|upbound\.io|hypershift\.local|microsoft\.com|azure\.com)$/i;

/** Puts a word in place of each name, id and address: the same word for the same thing, so that a report still hangs together. */
export class Pseudonyms {
  readonly #words = new Map<string, string>();
  readonly #names: string[];
  readonly #counts = new Map<string, number>();

  /** Names of objects are found in the objects themselves: they may be any word. */
  constructor(parts: readonly unknown[]) {
    const names = new Set<string>();
    const walk = (value: unknown) => {
      if (Array.isArray(value)) value.forEach(walk);
      else if (typeof value === "object" && value !== null) {
        const { metadata } = value as Partial<KubeObject>;
        for (const name of [metadata?.name, metadata?.namespace])
          if (name && name.length > 2 && !/^(default|kube-system|private-router)$/.test(name))
            names.add(name);
        Object.values(value).forEach(walk);
      }
    };
    parts.forEach(walk);
    // Longer ones first: one name may hold another.
    this.#names = [...names].sort((a, b) => b.length - a.length);
  }

  in(text: string): string {
    let hidden = text
      .replace(guid, (found) => this.#word("id", found))
      .replace(groupName, (found) => this.#word("group", found))
      .replace(domain, (found) => (known.test(found) ? found : this.#word("domain", found)))
      .replace(address, (found) => this.#word("address", found));
    for (const name of this.#names)
      hidden = hidden.replace(
        new RegExp(`(?<![a-zA-Z0-9])${escaped(name)}(?![a-zA-Z0-9])`, "g"),
        () => this.#word("name", name),
      );
    return hidden;
  }

  #word(kind: string, found: string): string {
    const key = `${kind} ${found.toLowerCase()}`;
    const held = this.#words.get(key);
    if (held !== undefined) return held;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const word = `${kind}-${number}`;
    this.#words.set(key, word);
    return word;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
