import { setTimeout as sleep } from "node:timers/promises";
import { definitions } from "@postern/core/definitions.ts";
import type { Cluster } from "../setup/cluster.ts";

/** An object of any kind, as the API server gives it. */
export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    annotations?: Record<string, string>;
    ownerReferences?: { kind: string; name: string; uid: string }[];
  };
  spec?: Record<string, unknown>;
  status?: { conditions?: Condition[] } & Record<string, unknown>;
}

/** A condition of an object. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

const core: Record<string, { plural: string; namespaced: boolean }> = {
  Namespace: { plural: "namespaces", namespaced: false },
  Service: { plural: "services", namespaced: true },
  Secret: { plural: "secrets", namespaced: true },
};

/** The API server as a person with kubectl and patience uses it: directly, and trying again while it is away. */
export class Kube {
  readonly #cluster: Cluster;
  readonly #signal: AbortSignal;

  constructor(cluster: Cluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  create(thing: object): Promise<Thing | undefined> {
    const { kind, metadata } = thing as Thing;
    return this.#ask("POST", pathOf(kind, metadata.namespace), thing, [409]);
  }

  get(kind: string, namespace: string | undefined, name: string): Promise<Thing | undefined> {
    return this.#ask("GET", pathOf(kind, namespace, name), undefined, [404]);
  }

  async list(kind: string, namespace?: string): Promise<Thing[]> {
    const path = namespace === undefined ? pathOf(kind) : pathOf(kind, namespace);
    const found = await this.#ask("GET", path, undefined, []);
    const { items } = (found ?? {}) as unknown as { items?: Thing[] };
    return (items ?? []).map((each) => ({ ...each, kind }));
  }

  /** Merge a change; undefined where there is no such object, or somebody else changed the given version. */
  patch(
    { kind, metadata }: Pick<Thing, "kind"> & { metadata: { namespace?: string; name: string } },
    change: object,
    subresource?: "status",
  ): Promise<Thing | undefined> {
    const path = pathOf(kind, metadata.namespace, metadata.name);
    const place = subresource ? `${path}/${subresource}` : path;
    return this.#ask("PATCH", place, change, [404, 409, 422]);
  }

  async remove(kind: string, namespace: string | undefined, name: string): Promise<void> {
    await this.#ask("DELETE", pathOf(kind, namespace, name), undefined, [404]);
  }

  async #ask(
    method: string,
    path: string,
    body: unknown,
    expected: readonly number[],
  ): Promise<Thing | undefined> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    for (let tries = 0; ; tries++) {
      this.#signal.throwIfAborted();
      const answer = await this.#cluster
        .request<Thing>(method, path, body, { contentType })
        .catch(() => undefined);
      const status = answer?.status ?? 0;
      if (answer && status < 300) return answer.body;
      if (expected.includes(status)) return undefined;
      // While it starts again it knows neither users nor kinds.
      const away = status === 0 || status >= 500 || [401, 403, 404, 429].includes(status);
      if (!away || tries > 300)
        throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer?.body)}`);
      await sleep(100);
    }
  }
}

function pathOf(kind: string, namespace?: string, name?: string): string {
  const own = definitions.find((each) => each.kind === kind);
  const known = own ?? core[kind];
  if (!known) throw new Error(`no kind ${kind}`);
  const root = own ? `/apis/${own.group}/${own.version}` : "/api/v1";
  const within = known.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : "";
  return `${root}${within}/${known.plural}${name === undefined ? "" : `/${name}`}`;
}

/** The status of a condition of an object. */
export function statusOf(thing: Thing | undefined, type: string): string | undefined {
  return thing?.status?.conditions?.find((each) => each.type === type)?.status;
}
