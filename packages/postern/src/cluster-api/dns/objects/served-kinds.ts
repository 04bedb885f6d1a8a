import type { Explained, Failure } from "@postern/core/failure.ts";
import type { Kind } from "@postern/core/kind.ts";
import { customResourceDefinition } from "@postern/core/kinds/core.ts";
import { type KubeClient, parseBody } from "../../../kube/client.ts";
import { KubeError } from "../../../kube/errors.ts";
import { waits } from "../../../kube/part.ts";
import { reasons } from "../reasons.ts";

/** How long the version of a kind is cached. */
const cachedMs = 10 * 60_000;
/** `cluster.x-k8s.io/v1beta2: v1beta1_v1beta2` on a CRD: these versions of the kind implement that contract. */
const contractPrefix = "cluster.x-k8s.io/";
/** A group has a handful of versions; each is one request. */
const mostVersions = 20;

interface Resource {
  kind?: string;
  name?: string;
  namespaced?: boolean;
}

/**
 * In which version a kind is served. A reference of Cluster API names group and kind only, and the preferred version of a group is
 * the newest version of any of its kinds: `v1beta2` for a VSphereCluster of `v1beta1`, as soon as an AWSCluster of `v1beta2` is
 * installed beside it.
 */
export class ServedKinds {
  readonly #kube: KubeClient;
  readonly #cached = new Map<string, { kind: Kind; atMs: number }>();

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** The kind as found before, where that is not long ago. */
  cached(group: string, called: string, now: Date): Kind | undefined {
    const cached = this.#cached.get(`${group}/${called}`);
    return cached && now.getTime() - cached.atMs < cachedMs ? cached.kind : undefined;
  }

  /** The kind in the version that Cluster API itself would use. Throws where no version has it. */
  async discover(group: string, called: string, now: Date, signal: AbortSignal): Promise<Kind> {
    const key = `${group}/${called}`;
    this.#cached.delete(key);
    const kinds = await this.#servedVersions(group, called, signal);
    const [first] = kinds;
    if (first === undefined) throw new KindNotServedError(group, called);
    const kind = kinds.length === 1 ? first : await this.#byContract(kinds, first, signal);
    this.#cached.set(key, { kind, atMs: now.getTime() });
    return kind;
  }

  /** Every version that has the kind, in the order of the API server: newest first. */
  async #servedVersions(group: string, called: string, signal: AbortSignal): Promise<Kind[]> {
    const path = `/apis/${encodeURIComponent(group)}`;
    const listed = await this.#read<{ versions?: ({ version?: string } | null)[] }>(path, signal);
    const versions = (listed?.versions ?? []).flatMap((each) => each?.version ?? []);
    const found = await Promise.all(
      versions.slice(0, mostVersions).map(async (version): Promise<Kind[]> => {
        const at = `${path}/${encodeURIComponent(version)}`;
        const { resources } =
          (await this.#read<{ resources?: Resource[] | null }>(at, signal)) ?? {};
        const resource = resources?.find(
          ({ kind, name }) => kind === called && name !== undefined && !name.includes("/"),
        );
        if (resource?.name === undefined) return [];
        const { name: plural, namespaced = true } = resource;
        return [{ group, version, kind: called, plural, namespaced }];
      }),
    );
    return found.flat();
  }

  /** Of several versions, the newest one of the newest contract. Without labels, or the permission to read them, the newest. */
  async #byContract(kinds: readonly Kind[], newest: Kind, signal: AbortSignal): Promise<Kind> {
    const name = `${newest.plural}.${newest.group}`;
    const labels = await this.#labelsOf(name, signal);
    const contracts = Object.keys(labels)
      .filter((label) => label.startsWith(contractPrefix))
      .map((label) => ({ label, precedence: precedenceOf(label.slice(contractPrefix.length)) }))
      .filter(({ precedence }) => precedence > 0)
      .sort((a, b) => b.precedence - a.precedence);
    for (const { label } of contracts) {
      const versions = labels[label]?.split("_") ?? [];
      const kind = kinds.find(({ version }) => versions.includes(version));
      if (kind !== undefined) return kind;
    }
    return newest;
  }

  async #labelsOf(name: string, signal: AbortSignal): Promise<Record<string, string>> {
    try {
      const found = await this.#kube.getMetadata({ kind: customResourceDefinition, name }, signal);
      return found?.metadata.labels ?? {};
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) return {};
      throw error;
    }
  }

  async #read<T>(path: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return parseBody<T>(await this.#kube.request("GET", path, { signal }));
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }
}

/** The precedence that Kubernetes gives a version: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha4`. 0 for what is not a version. */
export function precedenceOf(version: string): number {
  const [, major, stage, minor = "0"] =
    /^v(\d{1,3})(?:(alpha|beta)(\d{1,3}))?$/.exec(version) ?? [];
  if (major === undefined) return 0;
  const stages: Record<string, number> = { alpha: 1, beta: 2 };
  return ((stages[stage ?? ""] ?? 3) * 1_000 + Number(major)) * 1_000 + Number(minor);
}

/** No version of the group has the kind: nothing is known about its objects, and they are not taken for deleted. */
class KindNotServedError extends Error implements Explained {
  override readonly name = "KindNotServedError";
  readonly #group: string;
  readonly #called: string;

  constructor(group: string, called: string) {
    super(`the API server does not serve the kind ${called} of ${group}`);
    this.#group = group;
    this.#called = called;
  }

  explain(): Failure {
    return {
      reason: reasons.kindNotServed,
      message: `The infrastructure object cannot be read: the API server does not serve the kind ${this.#called} in any version of ${this.#group}. Install its CRD, or correct spec.infrastructureRef of the Cluster. If the CRD was removed for good, delete the DNS zone by hand and remove our finalizer from the Cluster.`,
      kind: "notFound",
      requeueAfterMs: waits.changeMs,
    };
  }
}
