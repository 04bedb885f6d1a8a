import type { WatchCache } from "postern/kube/cache.ts";
import type { Caches } from "postern/kube/caches.ts";
import { KubeClient } from "postern/kube/client.ts";

/** Something that was written and that the caches have yet to hear of; without a version it was deleted. */
interface Written {
  root: string;
  plural: string;
  key: string;
  version: number | undefined;
  /** Of what was deleted: another of the same name may be there by now. */
  uid: string | undefined;
}

/** A client that knows what it still waits for: answers, and the watches' word of what was written. */
export class CountingClient extends KubeClient {
  caches: Caches | undefined;
  /** How many of its requests are answered only after the clock has moved. */
  waiting: () => number = () => 0;
  #open = 0;
  #unheard: Written[] = [];

  override async request(...asked: Parameters<KubeClient["request"]>): Promise<string> {
    this.#open++;
    try {
      const text = await super.request(...asked);
      this.wrote(asked[0], asked[1], text);
      return text;
    } finally {
      this.#open--;
    }
  }

  /** Remember a write, by this client or by a test. */
  wrote(method: string, path: string, text: string): void {
    const parts =
      /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/.exec(
        path.replace(/[?].*$/, "").replace(/\/status$/, ""),
      );
    if (method === "GET" || parts === null) return;
    const [, root = "", namespace, plural = "", name = nameIn(text)] = parts;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const version = Number(/"resourceVersion":"(\d+)"/.exec(text)?.[1]) || undefined;
    if (version !== undefined || method === "DELETE")
      this.#unheard.push({ root, plural, key, version, uid: /"uid":"([^"]+)"/.exec(text)?.[1] });
  }

  /** Whether every request is answered and the caches have heard of everything that was written. */
  get calm(): boolean {
    const caches = this.caches?.all() ?? [];
    this.#unheard = this.#unheard.filter((each) => !caches.every((cache) => heard(cache, each)));
    return this.#open === this.waiting() && this.#unheard.length === 0;
  }
}

function heard(cache: WatchCache, { root, plural, key, version, uid }: Written): boolean {
  const { group, version: served, plural: ours } = cache.kind;
  const ourRoot = group === "" ? `/api/${served}` : `/apis/${group}/${served}`;
  if (root !== ourRoot || plural !== ours) return true;
  const { filled, version: newest, connected, failure } = cache.health();
  // It waits for the clock before it connects again.
  if (failure !== undefined && !connected) return true;
  if (!filled) return false;
  if (version !== undefined) return Number(newest) >= version;
  const object = cache.get(key);
  return object?.metadata.uid !== uid || object?.metadata.deletionTimestamp !== undefined;
}

function nameIn(text: string): string {
  return (JSON.parse(text) as { metadata?: { name?: string } }).metadata?.name ?? "";
}
