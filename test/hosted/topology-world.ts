import type { KubeObject } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Namespace, Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Topology } from "@postern/core/kinds/private-access.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import {
  clusterAnnotation,
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
  hostedClusterFinalizer,
} from "postern/hosted/names.ts";
import type { Observed } from "postern/hosted/topology/observed.ts";
import { plan } from "postern/hosted/topology/plan.ts";
import type { TopologyStep } from "postern/hosted/topology/steps.ts";
import { planTwice } from "../setup/plan-twice.ts";

const network =
  "/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/guest/providers/Microsoft.Network/virtualNetworks/guest";

type Azure = NonNullable<HostedCluster["spec"]["platform"]["azure"]>;

/** How a cluster of these tests is published. */
export interface Shape {
  topology?: Topology | "none";
  api?: "Route" | "named Route" | "LoadBalancer";
  oauth?: "Route" | "named Route" | "LoadBalancer";
  azure?: Partial<Azure>;
  spec?: Partial<HostedCluster["spec"]>;
  metadata?: Partial<HostedCluster["metadata"]>;
}

/** A HostedCluster with its numbers. */
export function clusterOf(shape: Shape = {}): HostedCluster {
  const { topology = "Private", api = "named Route", oauth = "Route" } = shape;
  const isPrivate = topology === "Private" || topology === "PublicAndPrivate";
  return {
    metadata: {
      name: "one",
      namespace: "clusters",
      uid: "cluster-uid",
      generation: 1,
      ...shape.metadata,
    },
    spec: {
      clusterID: "44444444-4444-4444-8444-444444444444",
      infraID: "one-infra",
      services: [
        published("APIServer", api, "api-one.example.com"),
        published("OAuthServer", oauth, "oauth-one.example.com"),
        published("Konnectivity", "Route"),
        published("Ignition", "Route"),
      ],
      platform: {
        type: "Azure",
        azure: {
          location: "westeurope",
          resourceGroup: "guest",
          vnetID: network,
          subnetID: `${network}/subnets/workers`,
          subscriptionID: "33333333-3333-4333-8333-333333333333",
          tenantID: "22222222-2222-4222-8222-222222222222",
          azureAuthenticationConfig: {
            azureAuthenticationConfigType: "WorkloadIdentities",
            workloadIdentities: {
              controlPlaneOperator: { clientID: "55555555-5555-4555-8555-555555555555" },
            },
          },
          ...(topology !== "none" && { topology }),
          ...(isPrivate && { private: { type: "PrivateLink" } }),
          ...shape.azure,
        },
      },
      ...shape.spec,
    },
  };
}

type Published = NonNullable<HostedCluster["spec"]["services"]>[number];

export function published(
  service: string,
  how: "Route" | "named Route" | "LoadBalancer" | "NodePort",
  hostname?: string,
): Published {
  const type = how === "named Route" ? "Route" : how;
  const name = hostname && { hostname };
  return {
    service: service as Published["service"],
    servicePublishingStrategy: {
      type,
      ...(how === "named Route" && name && { route: name }),
      ...(how === "LoadBalancer" && name && { loadBalancer: name }),
    },
  };
}

/** What is seen of a cluster of which nothing exists yet. */
export function observedOf(
  cluster: HostedCluster = clusterOf(),
  over: Partial<Observed> = {},
): Observed {
  return {
    cluster,
    hyperShift: false,
    pause: { paused: false },
    namespace: undefined,
    controlPlane: undefined,
    account: undefined,
    services: [],
    routes: [],
    links: [],
    ...over,
  };
}

/** A link object, with what it says of itself. */
export function linkOf(
  name: string,
  problem: Partial<
    Record<keyof typeof conditions, [status: string, reason: string, generation?: number]>
  >,
  over: Partial<AzurePrivateLinkService["metadata"]> = {},
): AzurePrivateLinkService {
  const list = Object.entries(problem).map(([key, [status, reason, observedGeneration = 1]]) => ({
    type: conditions[key as keyof typeof conditions],
    status: status as "True",
    reason,
    message: `${key} is ${status}`,
    observedGeneration,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }));
  return {
    metadata: {
      name,
      namespace: "clusters-one",
      uid: `${name}-uid`,
      generation: 1,
      annotations: { [clusterAnnotation]: "clusters/one" },
      ...over,
    },
    spec: {} as AzurePrivateLinkService["spec"],
    ...(list.length > 0 && { status: { conditions: list } }),
  };
}

/** A management cluster in memory: what the API server and those around it do with the steps of a plan. */
export class TopologyWorld {
  readonly cluster: HostedCluster;
  namespace: Namespace | undefined;
  readonly #objects = new Map<string, KubeObject>();
  #uids = 0;
  /** Every step that was taken. */
  readonly taken: TopologyStep[] = [];

  constructor(cluster: HostedCluster) {
    this.cluster = structuredClone(cluster);
  }

  see(): Observed {
    return structuredClone(
      observedOf(this.cluster, {
        namespace: this.namespace,
        controlPlane: this.#of<HostedControlPlane>("HostedControlPlane")[0],
        account: this.#of("ServiceAccount")[0],
        services: this.#of<Service>("Service"),
        routes: this.#of<Route>("Route"),
        links: this.#of<AzurePrivateLinkService>("AzurePrivateLinkService"),
      }),
    );
  }

  /**
   * One reconcile; `between` is called after each single step, and of more than `upTo` steps the others are never taken, as
   * by a process that is killed. Whether there was anything to do.
   */
  reconcile(between: () => void = () => {}, upTo = Number.POSITIVE_INFINITY): boolean {
    const decided = planTwice(plan, this.see());
    const found = this.cluster.metadata.finalizers ?? [];
    if (decided.finalizer === "add" && !found.includes(hostedClusterFinalizer))
      this.cluster.metadata.finalizers = [...found, hostedClusterFinalizer];
    for (const step of decided.steps.slice(0, upTo)) {
      this.#take(step);
      between();
    }
    if (decided.finalizer === "remove" && decided.steps.length === 0)
      this.cluster.metadata.finalizers = found.filter((each) => each !== hostedClusterFinalizer);
    return decided.steps.length > 0;
  }

  /** Passes until there is nothing left to do; an error when that never comes. */
  settle(between?: () => void): void {
    for (let reconciles = 0; this.reconcile(between); reconciles++)
      if (reconciles > 20) throw new Error(`it never ends: ${JSON.stringify(this.taken.at(-1))}`);
  }

  get<T extends KubeObject>(kind: string, name: string): T | undefined {
    return this.#objects.get(`${kind} ${name}`) as T | undefined;
  }

  names(kind: string): string[] {
    return this.#of(kind)
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  put(kind: string, object: KubeObject): void {
    const kept = structuredClone(object);
    dropEmpty(kept.metadata);
    this.#objects.set(`${kind} ${object.metadata.name}`, kept);
  }

  drop(kind: string, name: string): void {
    this.#objects.delete(`${kind} ${name}`);
  }

  /** The cloud gives every Service that asks for one an address. */
  giveAddresses(): void {
    for (const service of this.#of<Service>("Service"))
      if (service.spec?.type === "LoadBalancer")
        service.status = { loadBalancer: { ingress: [{ ip: "10.0.0.4" }] } };
  }

  /** The links come to exist, or say that they are available, or not. */
  setLinks(available: boolean): void {
    const plane = this.get<HostedControlPlane>("HostedControlPlane", "one");
    if (plane === undefined || plane.metadata.deletionTimestamp) return;
    plane.metadata.finalizers = [controlPlaneFinalizer];
    for (const name of ["private-router", "oauth-openshift"]) {
      const internal =
        "service.beta.kubernetes.io/azure-load-balancer-internal" in
        (this.get("Service", name)?.metadata.annotations ?? {});
      const status = available ? "True" : "False";
      if (internal)
        this.put(
          "AzurePrivateLinkService",
          linkOf(name, { available: [status, "Told"] }, { finalizers: [endpointFinalizer] }),
        );
    }
  }

  /** What holds those that are to go lets go of them. */
  finishDeletions(): void {
    for (const [key, object] of this.#objects)
      if (object.metadata.deletionTimestamp && key.startsWith("AzurePrivateLinkService"))
        this.#objects.delete(key);
    const found = this.names("AzurePrivateLinkService").length > 0;
    for (const [key, object] of this.#objects)
      if (object.metadata.deletionTimestamp && !found) this.#objects.delete(key);
  }

  #of<T extends KubeObject>(kind: string): T[] {
    const found = [...this.#objects].filter(([key]) => key.startsWith(`${kind} `));
    return found.map(([, object]) => object as T);
  }

  #take(step: TopologyStep): void {
    this.taken.push(step);
    const { kind, object } = step;
    const key = `${kind} ${object.metadata.name}`;
    if (kind === "HostedCluster" && step.verb === "change") {
      merge(this.cluster, step.change);
      return;
    }
    if (kind === "Namespace") {
      const made = step.verb === "create" ? (object as Namespace) : this.namespace;
      if (step.verb === "delete" && made) made.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
      this.namespace = made;
      return;
    }
    const found = this.#objects.get(key);
    if (step.verb === "create") {
      if (found) throw new Error(`${key} is there already`);
      const uid = `uid-${++this.#uids}`;
      this.put(kind, { ...object, metadata: { ...object.metadata, uid, generation: 1 } });
      return;
    }
    if (found === undefined) throw new Error(`${key} is not there`);
    if (step.verb === "change") {
      merge(found, step.change);
      dropEmpty(found.metadata);
      return;
    }
    if (found.metadata.finalizers?.length)
      found.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    else this.#objects.delete(key);
  }
}

/** The API server keeps no empty maps in the metadata. */
function dropEmpty(metadata: KubeObject["metadata"]): void {
  for (const field of ["annotations", "labels"] as const)
    if (Object.keys(metadata[field] ?? {}).length === 0) delete metadata[field];
}

/** RFC 7386. */
function merge(target: object, patch: object): void {
  const into = target as Record<string, unknown>;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key];
    else if (typeof value === "object" && !Array.isArray(value)) {
      into[key] ??= {};
      merge(into[key] as object, value as object);
    } else into[key] = value;
  }
}
