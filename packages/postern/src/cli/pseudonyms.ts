import type { KubeObject } from "@postern/core/kind.ts";

/** With hyphens, or without, as frontends of Services have it. */
const guid =
  /(?<![0-9a-f])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{31,32})(?![0-9a-f])/gi;
const address = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
/** An IPv6 address has at least two colons; a time has none next to each other, and no letters. */
const longAddress =
  /(?<![0-9a-f:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![0-9a-f:])|(?<![0-9a-z:])(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*)?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*)?(?![0-9a-z:])/gi;
const email = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
/** Any name with a dot in it: what a company calls its domain, no list knows. */
const domain = /(?<![\w.-])(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]+(?![\w-])/gi;
/** Words of products and not of people. */
const known =
  /^microsoft\.|\.(json|yaml|gz|ts)$|(^|\.)(k8s\.io|kubernetes\.io|x-k8s\.io|openshift\.io|postern\.io|giantswarm\.io|upbound\.io|crossplane\.io|hypershift\.local|management\.azure\.com|login\.microsoftonline\.com|kubernetes\.default\.svc)$/i;
/** Names that are the same for everyone. */
const common =
  /^(default|kube-system|private-router(-pe)?|kubernetes(-internal)?(-\d+)?|api|oauth|apiserver|gateway|ingress|apps|@|\*|global|succeeded)$/i;

/** Puts a word in place of each name, id and address: the same word for the same thing, so that a report still hangs together. */
export class Pseudonyms {
  readonly #words = new Map<string, string>();
  readonly #names: string[];
  readonly #counts = new Map<string, number>();

  /** Names are found in the objects and in the ids themselves: they may be any word. */
  constructor(parts: readonly unknown[]) {
    const names = new Set<string>();
    for (const part of parts) collect(part, names);
    // Longer ones first: one name may hold another.
    this.#names = [...names]
      .filter((name) => name.length > 1 && !common.test(name))
      .sort((a, b) => b.length - a.length);
  }

  in(text: string): string {
    const hidden = text
      .replace(email, (found) => this.#word("email", found))
      .replace(guid, (found) => this.#word("id", found))
      .replace(domain, (found) => (known.test(found) ? found : this.#word("domain", found)))
      .replace(address, (found) => this.#word("address", found))
      .replace(longAddress, (found) => this.#word("address", found));
    if (this.#names.length === 0) return hidden;
    // One reconcile for all names: a world has thousands, and the text is long.
    const any = new RegExp(
      `(?<![a-zA-Z0-9])(?:${this.#names.map(escaped).join("|")})(?![a-zA-Z0-9])`,
      "gi",
    );
    return hidden.replace(any, (found) => this.#word("name", found));
  }

  #word(kind: string, found: string): string {
    const key = `${kind} ${found.toLowerCase()}`;
    const existing = this.#words.get(key);
    if (existing !== undefined) return existing;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const word = `${kind}-${number}`;
    this.#words.set(key, word);
    return word;
  }
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value === "string") for (const name of namesIn(value)) names.add(name);
  else if (Array.isArray(value)) for (const each of value) collect(each, names);
  else if (typeof value === "object" && value !== null) {
    const { metadata } = value as Partial<KubeObject>;
    for (const name of [metadata?.name, metadata?.namespace]) if (name) names.add(name);
    for (const [key, each] of Object.entries(value)) {
      if (
        /^(baseDomain|hostname|resourceGroup|resourceGroupName)$/.test(key) &&
        typeof each === "string"
      )
        names.add(each);
      collect(each, names);
    }
  }
}

/** What people chose in the ids of Azure that stand in a text: `…/resourceGroups/NAME`, `…/providers/SPACE/type/NAME/type/NAME`. */
function namesIn(text: string): string[] {
  if (!/\/subscriptions\//i.test(text)) return [];
  const found: string[] = [];
  for (const [, path = ""] of text.matchAll(/\/subscriptions\/[^/\s"']+(\/[^\s"',;]*)/gi)) {
    const parts = path.split("/").slice(1);
    const from = parts.findIndex((each) => /^providers$/i.test(each));
    if (/^resourceGroups$/i.test(parts[0] ?? "") && parts[1]) found.push(parts[1]);
    if (from >= 0) found.push(...parts.slice(from + 2).filter((_, at) => at % 2 === 1));
  }
  return found;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
