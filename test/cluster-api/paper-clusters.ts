import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import type { AzureError } from "postern/azure/errors.ts";
import type { PrivateEndpoint } from "postern/azure/gateways/private-endpoints.ts";
import { groupKey } from "postern/cluster-api/endpoints/claims/claims.ts";
import { serviceOf } from "postern/cluster-api/endpoints/claims/desired.ts";
import { plan as planManagement } from "postern/cluster-api/endpoints/management/plan.ts";
import type { ManagementStep } from "postern/cluster-api/endpoints/management/steps.ts";
import { factsOf } from "postern/cluster-api/endpoints/spec/facts.ts";
import type { EndpointsWrite } from "postern/cluster-api/endpoints/spec/write.ts";
import {
  RemainingSince,
  remainingInAzure,
  remainingInSpec,
} from "postern/cluster-api/endpoints/workload/cluster/observe-delete.ts";
import {
  type Caches,
  endpointToObserve,
  neighboursOf,
  observeKubernetes,
} from "postern/cluster-api/endpoints/workload/observe.ts";
import type { Observed } from "postern/cluster-api/endpoints/workload/observed.ts";
import { plan as planWorkload } from "postern/cluster-api/endpoints/workload/plan.ts";
import type { WorkloadStep } from "postern/cluster-api/endpoints/workload/steps.ts";
import { GroupClaims } from "postern/cluster-api/group-claims.ts";
import { endpointsFinalizer, type ManagementLink } from "postern/cluster-api/names.ts";
import { privateLinksOf } from "postern/cluster-api/requested-links.ts";
import { refusalOf } from "postern/cluster-api/tenancy.ts";
import type { Plan } from "postern/kube/feature.ts";
import { planTwice } from "../setup/plan-twice.ts";

export const managementSubscription = "11111111-1111-4111-8111-111111111111";
export const workloadSubscription = "33333333-3333-4333-8333-333333333333";
export const managementKey = "org-mc/mc";
const usualAddress = "10.0.0.7";

/** A link of a cluster, where it differs. */
export interface LinkShape {
  name: string;
  allowed?: (string | null)[] | null;
  approved?: string[];
}

/** A cluster, where it differs. */
export interface Shape {
  name?: string;
  namespace?: string;
  uid?: string;
  created?: string;
  subscription?: string;
  group?: string;
  location?: string;
  type?: string | null;
  links?: readonly (LinkShape | null)[];
  linksReady?: "True" | "False" | "Unknown" | undefined;
  subnets?: readonly unknown[];
  endpoints?: readonly (PrivateEndpointSpec | null)[];
  annotations?: Record<string, string>;
  deleting?: boolean;
  hasFinalizer?: boolean;
}

/** A private workload cluster with one link that admits the management cluster and approves it. */
export function workload(over: Shape = {}): AzureCluster {
  const { name = "wc1", namespace = "org-acme" } = over;
  const links = over.links ?? [{ name: `${name}-api-privatelink` }];
  const apiServerLB =
    over.type === null
      ? null
      : {
          type: over.type ?? "Internal",
          privateLinks: links.map((each) => each && linkOf(each)),
        };
  const subnets = over.subnets ?? [
    { name: "cp", role: "control-plane" },
    { name: "nodes", role: "node", privateEndpoints: over.endpoints ?? [] },
  ];
  const ready = "linksReady" in over ? over.linksReady : "True";
  const conditions = ready === undefined ? [] : [{ type: "PrivateLinksReady", status: ready }];
  return {
    metadata: {
      name,
      namespace,
      uid: over.uid ?? `${namespace}-${name}`,
      creationTimestamp: over.created ?? "2026-01-01T00:00:00Z",
      annotations: over.annotations ?? {},
      finalizers: over.hasFinalizer ? [endpointsFinalizer] : [],
      ...(over.deleting && { deletionTimestamp: "2026-02-01T00:00:00Z" }),
    },
    spec: {
      location: over.location ?? "westeurope",
      subscriptionID: over.subscription ?? workloadSubscription,
      ...(over.group !== undefined && { resourceGroup: over.group }),
      networkSpec: { subnets, apiServerLB },
    },
    status: { conditions },
  } as unknown as AzureCluster;
}

function linkOf({ name, allowed, approved }: LinkShape) {
  return {
    name,
    allowedSubscriptions: allowed === undefined ? [managementSubscription] : allowed,
    autoApprovedSubscriptions: approved ?? [managementSubscription],
  };
}

/** The management cluster: public, unless it is said otherwise. */
export function management(over: Shape = {}): AzureCluster {
  return workload({
    name: "mc",
    namespace: "org-mc",
    subscription: managementSubscription,
    type: "Public",
    links: [],
    location: "northeurope",
    ...over,
  });
}

/** Kubernetes, Azure and CAPZ on paper. */
export class PaperClusters {
  readonly objects = new Map<string, AzureCluster>();
  readonly owners = new Map<string, CapiCluster>();
  readonly azure = new Map<string, PrivateEndpoint>();
  /** What we have applied to each cluster, as `subnet/endpoint`. */
  readonly applied = new Map<string, Set<string>>();
  managementLinks: readonly ManagementLink[] = ["gateway"];
  tenants = new Map<string, string>();
  /** A stock CAPZ leaves in Azure what is taken out of the spec. */
  capz: "stock" | "deleting" = "stock";
  /** The address that an endpoint gets, by its id. */
  addressFor: (id: string) => string = () => usualAddress;
  /** Whether Postern acts only for those to whom their resource group belongs. */
  keepsTenants = false;
  writes = 0;
  #now = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;
  readonly #since = new RemainingSince();

  constructor(...all: AzureCluster[]) {
    for (const each of all) this.put(each);
  }

  put(object: AzureCluster): void {
    this.objects.set(keyOf(object), structuredClone(object));
  }

  get(key: string): AzureCluster {
    const found = this.objects.get(key);
    if (found === undefined) throw new Error(`${key} is not there`);
    return found;
  }

  reconcile(ms: number): void {
    this.#now += ms;
  }

  /** As the features are told, by the default policy. */
  refusalOf(cluster: AzureCluster): AzureError | undefined {
    if (!this.keepsTenants) return undefined;
    const claims = new GroupClaims();
    for (const after of this.objects.values()) claims.follow({ before: undefined, after });
    return refusalOf({
      cluster,
      policy: defaultPolicy,
      identity: [],
      claimsOn: (group) => claims.of(group),
      management: this.objects.get(managementKey),
    });
  }

  get known(): Caches {
    const all = () => [...this.objects.values()];
    const valuesOf = (index: string, each: AzureCluster) =>
      index === "endpoints-link"
        ? privateLinksOf(each).links.map(({ name }) => name.toLowerCase())
        : [groupKey(factsOf(each, undefined))];
    return {
      azureClusters: {
        get: (key) => this.objects.get(key),
        byIndex: (index, value) => all().filter((each) => valuesOf(index, each).includes(value)),
      },
      clusters: { get: (key) => this.owners.get(key) },
      identities: {
        get: (key) => {
          const tenantID = this.tenants.get(key);
          return tenantID === undefined ? undefined : ({ spec: { tenantID } } as never);
        },
      },
      managementKey,
      managementLinks: this.managementLinks,
      refusalOf: (each) => this.refusalOf(each),
    };
  }

  planManagement(): Plan<ManagementStep> {
    const facts = (each: AzureCluster) => factsOf(each, this.owners.get(keyOf(each)));
    const found = this.objects.get(managementKey);
    return planTwice(planManagement, {
      management: found && facts(found),
      clusters: [...this.objects.values()]
        .filter((each) => each !== found && this.refusalOf(each) === undefined)
        .map(facts),
      applied: this.applied.get(managementKey) ?? new Set(),
      sinceWriteMs: this.#now - this.#writtenAt,
    });
  }

  see(key: string): Observed {
    const observed = observeKubernetes(this.get(key), this.known, this.applied.get(key));
    const { cluster, management } = observed;
    if (management === undefined) return observed;
    const observedIn = (group: string, name: string) => {
      const found = this.azure.get(idOf(group, name));
      return found
        ? ({ state: "exists", resource: found } as const)
        : ({ state: "absent" } as const);
    };
    const looked = <T extends Observed["claims"][number] | Observed["connections"][number]>(
      each: T,
      group: string,
    ) => {
      const endpoint = endpointToObserve(each);
      return endpoint ? { ...each, observation: observedIn(group, endpoint.name) } : each;
    };
    const managementGroup = groupPath(this.get(managementKey));
    const claims = observed.claims.map((each) => looked(each, managementGroup));
    const connections = observed.connections.map((each) => looked(each, groupPath(this.get(key))));
    if (!cluster.deleting) return { ...observed, claims, connections };
    const neighbours = neighboursOf(groupKey(cluster), this.known);
    const applied = this.applied.get(managementKey) ?? new Set();
    const managementObject = this.get(managementKey);
    const deletion = { cluster, deletedAt: 0, management, neighbours, managementObject, applied };
    const inSpec = remainingInSpec(deletion);
    const state = inSpec.length > 0 ? "asked for" : "clean";
    const sinceMs = this.#since.ms(key, state, this.#now);
    const inGroup = [...this.azure.values()].filter(({ id = "" }) =>
      idKey(id).startsWith(`${idKey(managementGroup)}/`),
    );
    const inAzure = remainingInAzure(deletion, inGroup).map((each) => ({
      ...each,
      observation: {
        state: "exists",
        resource: this.azure.get(idKey(each.id)) as PrivateEndpoint,
      } as const,
    }));
    const times =
      state === "clean" ? { inSpecMs: 0, cleanMs: sinceMs } : { inSpecMs: sinceMs, cleanMs: 0 };
    return {
      ...observed,
      claims,
      connections,
      remaining: { inSpec, inAzure, ...times, failed: undefined },
    };
  }

  planWorkload(key: string): Plan<WorkloadStep> {
    return planTwice(planWorkload, this.see(key));
  }

  apply(step: ManagementStep | WorkloadStep): void {
    this.writes++;
    switch (step.do) {
      case "update AzureCluster": {
        const key = keyOf({ metadata: step.target });
        if ("write" in step) {
          this.#writtenAt = this.#now;
          this.#write(key, step.write);
          break;
        }
        if (step.endpoints) this.#write(key, step.endpoints);
        const annotations = this.get(key).metadata.annotations ?? {};
        for (const [name, value] of Object.entries(step.annotations ?? {}))
          if (value === null) delete annotations[name];
          else annotations[name] = value;
        break;
      }
      case "delete private endpoint":
        this.azure.delete(idKey(step.id));
    }
  }

  #write(key: string, { subnet, endpoints, removed, retained: strays = [] }: EndpointsWrite): void {
    const subnets = this.get(key).spec.networkSpec?.subnets ?? [];
    const found = subnets.find(({ name }) => name === subnet);
    if (found === undefined) throw new Error(`${key} has no subnet ${subnet}`);
    const desired = new Map(endpoints.map((each) => [each.name, each]));
    const before = this.applied.get(key) ?? new Set();
    const stay = new Set(strays.map((each) => `${each.subnet}/${each.endpoint.name}`));
    for (const each of subnets.filter((other) => other && other !== found))
      if (each.privateEndpoints)
        each.privateEndpoints = each.privateEndpoints.filter((endpoint) => {
          const place = `${each.name}/${endpoint?.name}`;
          return !before.has(place) || stay.has(place);
        });
    const goes = (name: string) => !desired.has(name) && removed.includes(name);
    const retained = (found.privateEndpoints ?? []).filter(
      (each) => each === null || !goes(each.name),
    );
    const names = new Set(retained.map((each) => each?.name));
    const left = [...before].filter((place) => {
      const [within, name = ""] = place.split("/");
      return within === subnet && names.has(name);
    });
    found.privateEndpoints = [
      ...retained.map((each) =>
        each && desired.has(each.name) ? { ...each, ...desired.get(each.name) } : each,
      ),
      ...endpoints.filter(({ name }) => !names.has(name)),
    ] as PrivateEndpointSpec[];
    this.applied.set(
      key,
      new Set([...[...desired.keys()].map((name) => `${subnet}/${name}`), ...left, ...stay]),
    );
  }

  /** What CAPZ does about every cluster: endpoints of the spec are made; others go, if it is one that deletes. */
  runCapz(): void {
    const asked = new Set<string>();
    for (const [key, object] of this.objects) {
      const group = groupPath(object);
      for (const each of this.endpointsOf(key)) {
        const id = idOf(group, each.name);
        asked.add(id);
        if (!this.azure.has(id)) {
          const isOwned = endpointIn(id, object, each);
          const text = JSON.stringify(isOwned).replaceAll(usualAddress, this.addressFor(id));
          this.azure.set(id, JSON.parse(text));
        }
      }
    }
    if (this.capz === "deleting")
      for (const [id, { tags = {} }] of this.azure)
        if (!asked.has(id) && Object.keys(tags).some((tag) => tag.startsWith("sigs.k8s.io_")))
          this.azure.delete(id);
  }

  endpointsOf(key: string): PrivateEndpointSpec[] {
    const subnets = this.objects.get(key)?.spec.networkSpec?.subnets ?? [];
    return subnets.flatMap((each) => each.privateEndpoints ?? []).filter((each) => each !== null);
  }

  /** Everybody's passes, and CAPZ's, until nothing is left to do or so many rounds have gone by. */
  settle(rounds = 30): void {
    for (let round = 0; round < rounds; round++) {
      let still = true;
      const managed = this.planManagement();
      for (const step of managed.steps) this.apply(step);
      still &&= managed.steps.length === 0 && typeof managed.requeue === "string";
      for (const key of [...this.objects.keys()]) still = this.#passOver(key) && still;
      const before = JSON.stringify([...this.azure]);
      this.runCapz();
      if (still && before === JSON.stringify([...this.azure])) return;
      this.reconcile(60_000);
    }
    throw new Error("the clusters do not come to rest");
  }

  #passOver(key: string): boolean {
    const { deletionTimestamp, finalizers = [] } = this.get(key).metadata;
    // Nobody holds it: the API server lets it go at once.
    if (deletionTimestamp && finalizers.length === 0) return !this.objects.delete(key);
    const { steps, finalizer, conditions, requeue } = this.planWorkload(key);
    const { metadata, status = {} } = this.get(key);
    if (finalizer === "add" && !metadata.finalizers?.includes(endpointsFinalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), endpointsFinalizer];
    for (const step of steps) this.apply(step);
    if (finalizer === "remove" && steps.length === 0) {
      this.objects.delete(key);
      return false;
    }
    const others = (status.conditions ?? []).filter(({ type }) => type !== "GSPrivateLinksReady");
    this.get(key).status = { ...status, conditions: [...others, ...(conditions as never[])] };
    return steps.length === 0 && !(metadata.deletionTimestamp && requeue !== "never");
  }
}

/** The group of a cluster in Azure, as the beginning of ids. */
export function groupPath({ metadata, spec }: AzureCluster): string {
  return `/subscriptions/${spec.subscriptionID}/resourceGroups/${spec.resourceGroup ?? metadata.name}`;
}

export function idOf(group: string, name: string): string {
  return idKey(`${group}/providers/Microsoft.Network/privateEndpoints/${name}`);
}

/** An endpoint as CAPZ makes it: approved, unless somebody must do that by hand. */
export function endpointIn(
  id: string,
  cluster: AzureCluster,
  spec: PrivateEndpointSpec,
  state = spec.manualApproval ? "Pending" : "Approved",
): PrivateEndpoint {
  const connection = {
    properties: {
      privateLinkServiceId: serviceOf(spec),
      privateLinkServiceConnectionState: { status: state },
    },
  };
  return {
    id,
    tags: { [`sigs.k8s.io_cluster-api-provider-azure_cluster_${cluster.metadata.name}`]: "owned" },
    properties: {
      provisioningState: "Succeeded",
      [spec.manualApproval
        ? "manualPrivateLinkServiceConnections"
        : "privateLinkServiceConnections"]: [connection],
      networkInterfaces: [
        {
          id: "nic",
          properties: { ipConfigurations: [{ properties: { privateIPAddress: usualAddress } }] },
        },
      ],
    },
  } as PrivateEndpoint;
}
