import { type Kind, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { KubeError } from "../../../kube/errors.ts";
import type { StatusTarget } from "../../../kube/feature.ts";
import { versionIn, type WithStatus } from "../../../kube/status.ts";
import { dnsFinalizer } from "../../names.ts";
import type { ObservedInfrastructure } from "../observed.ts";
import { ServedKinds } from "./served-kinds.ts";

/** The object that the `infrastructureRef` of a Cluster names. */
export interface Infrastructure {
  is: ObservedInfrastructure["is"];
  kind: Kind;
  object: WithStatus;
}

const fieldManager = "postern-dns";

/**
 * The infrastructure objects of clusters, of whatever kind: AzureClusters from their cache, others as the API server gives
 * them. Finalizer and condition are two writes of one object, each of nothing else.
 */
export class InfrastructureObjects {
  readonly #kube: KubeClient;
  readonly #cache: WatchCache<AzureCluster>;
  // Versions that we wrote and that the watch has yet to bring.
  readonly #writtenVersions = new Map<string, number>();
  readonly #served: ServedKinds;

  constructor(kube: KubeClient, cache: WatchCache<AzureCluster>) {
    this.#kube = kube;
    this.#cache = cache;
    this.#served = new ServedKinds(kube);
    cache.onChange(({ key, after }) => {
      if (after === undefined || versionOf(after) >= (this.#writtenVersions.get(key) ?? 0))
        this.#writtenVersions.delete(key);
    });
  }

  /**
   * The infrastructure object of a Cluster; undefined where it does not exist, its kind has no namespaces, or its group is not
   * that of Cluster API's infrastructure. Throws where its kind is not served: whether it exists is not known then.
   */
  async of(
    { metadata, spec }: CapiCluster,
    now: Date,
    signal: AbortSignal,
  ): Promise<Infrastructure | undefined> {
    const { apiGroup, kind: called, name } = spec.infrastructureRef ?? {};
    if (!apiGroup || !called || !name) return undefined;
    const { namespace } = metadata;
    if (apiGroup === azureCluster.group && called === azureCluster.kind) {
      const key = keyOf({ metadata: { ...(namespace && { namespace }), name } });
      const cached = this.#cache.get(key);
      const unheard = this.#writtenVersions.get(key);
      const behind = unheard !== undefined && versionOf(cached) < unheard;
      const object = behind
        ? await this.#kube.get<WithStatus>({ kind: azureCluster, namespace, name }, signal)
        : (cached as WithStatus | undefined);
      return object && { is: "azure", kind: wholeList(azureCluster), object };
    }
    // The reference is a tenant's: what it names gets our finalizer and condition, by the operator's rights.
    if (apiGroup !== azureCluster.group) return undefined;
    const is = called === "AzureASOManagedCluster" ? "aks" : "other";
    const read = async (kind: Kind): Promise<Infrastructure | undefined> => {
      if (!kind.namespaced) return undefined;
      const object = await this.#kube.get<WithStatus>({ kind, namespace, name }, signal);
      return object && { is, kind, object };
    };
    const cached = this.#served.cached(apiGroup, called, now);
    const found = cached && (await read(cached));
    // The API server answers alike where the object does not exist and where the version is no longer served.
    return found ?? read(await this.#served.discover(apiGroup, called, now, signal));
  }

  /** Add our finalizer, or remove it. */
  async setFinalizer(
    { kind, object }: Infrastructure,
    desired: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name, resourceVersion, finalizers = [] } = object.metadata;
    const otherFinalizers = finalizers.filter((each) => each !== dnsFinalizer);
    // With the version the server refuses it when anyone changed the list since we read it.
    const change = {
      metadata: {
        resourceVersion,
        finalizers: desired ? [...otherFinalizers, dnsFinalizer] : otherFinalizers,
      },
    };
    try {
      const place = { kind, namespace, name };
      const text = await this.#kube.patch(place, "merge", change, { fieldManager, signal });
      this.#wrote(object, versionIn(text));
    } catch (error) {
      const isNotFound = error instanceof KubeError && error.status === 404;
      if (desired || !isNotFound) throw error;
    }
  }

  /** The place of our condition; undefined for an AzureASOManagedCluster, whose status has no conditions. */
  statusOf(infrastructure: Infrastructure | undefined): StatusTarget | undefined {
    if (infrastructure === undefined || infrastructure.is === "aks") return undefined;
    const { kind, object } = infrastructure;
    const wrote = (version: string) => this.#wrote(object, version);
    return { kind: wholeList(kind), object, wrote };
  }

  #wrote(object: WithStatus, version: string): void {
    const key = keyOf(object);
    if (object.kind !== undefined && object.kind !== azureCluster.kind) return;
    if (versionOf(this.#cache.get(key)) < Number(version))
      this.#writtenVersions.set(
        key,
        Math.max(Number(version), this.#writtenVersions.get(key) ?? 0),
      );
  }
}

/** The conditions of infrastructure objects are one list to the API server, or may be. */
function wholeList(kind: Kind): Kind {
  return { ...kind, conditionList: "whole" };
}

/** The API server promises that versions of one kind can be compared as numbers. */
function versionOf(object: { metadata: { resourceVersion?: string } } | undefined): number {
  return Number(object?.metadata.resourceVersion ?? 0);
}
