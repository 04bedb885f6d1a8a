import { setTimeout as sleep } from "node:timers/promises";
import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import {
  azureClusterObject,
  clusterObject,
  identityObject,
} from "../system/cluster-api/objects.ts";
import { hostedClusterObject, route } from "../system/hosted/objects.ts";
import type { Kube, Thing } from "./kube.ts";
import {
  apiAddresses,
  apiBalancer,
  clientIdOf,
  groups,
  type HostedSlot,
  hostedSlots,
  network,
  networkIn,
  secret,
  subnetIn,
  subscriptions,
  tenant,
  workloadSlots,
} from "./places.ts";

/** What a person wants of the cluster in a place: nothing, or this one. */
export interface Wish {
  name: string;
  kind: "hosted" | "workload";
  wanted: boolean;
  /** Of a hosted cluster. */
  clusterID?: string;
  /** Whether the OAuth server has a load balancer, and so a link, of its own. */
  ownOAuth: boolean;
  paused: boolean;
}

const capiFinalizer = "cluster.cluster.x-k8s.io";
const home = { hosted: "clusters", workload: "org", management: "org-mc" } as const;
/** Subscriptions of nobody, which people allow to connect. */
const others = [guidFrom("other 0"), guidFrom("other 1"), guidFrom("other 2")];

/**
 * The people who have clusters: each place has one cluster at a time, and what is done to it is done in order. They try
 * until they have their way, also while the API server is away. Also what Cluster API and its provider do to their objects.
 */
export class Clusters {
  readonly wishes = new Map<string, Wish>();
  readonly #kube: Kube;
  readonly #signal: AbortSignal;
  readonly #turns = new Map<string, Promise<void>>();
  readonly #seed: number;
  #made = 0;
  /** What went wrong that no storm explains. */
  readonly faults: string[] = [];

  constructor(kube: Kube, seed: number, signal: AbortSignal) {
    this.#kube = kube;
    this.#seed = seed;
    this.#signal = signal;
    for (const { name } of hostedSlots)
      this.wishes.set(name, {
        name,
        kind: "hosted",
        wanted: false,
        ownOAuth: false,
        paused: false,
      });
    for (const name of workloadSlots)
      this.wishes.set(name, {
        name,
        kind: "workload",
        wanted: false,
        ownOAuth: false,
        paused: false,
      });
  }

  /** The namespaces, the identities and the management cluster of Cluster API. */
  async begin(): Promise<void> {
    for (const name of Object.values(home))
      await this.#kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await this.#identity(home.management, "mc");
    for (const name of workloadSlots) await this.#identity(home.workload, name);
    await this.#kube.create(
      azureClusterObject(home.management, "mc", {
        subscriptionID: subscriptions.management,
        resourceGroup: "mc",
        identityRef: { kind: "AzureClusterIdentity", name: "mc" },
        networkSpec: networkSpec("mc", [link("mc-gateway-privatelink", [subscriptions.guests])]),
      }),
    );
  }

  async #identity(namespace: string, name: string): Promise<void> {
    await this.#kube.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name },
      stringData: { clientSecret: secret },
    });
    await this.#kube.create(
      identityObject(namespace, name, {
        type: "ServicePrincipal",
        clientID: clientIdOf(name),
        tenantID: tenant,
        clientSecret: { name, namespace },
        allowedNamespaces: { list: [namespace] },
      }),
    );
  }

  /** Do something to the cluster of a place, after what was asked for before. */
  act(
    what: "create" | "delete" | "change" | "pause" | "unpause",
    name: string,
    variant: number,
  ): Promise<void> {
    const before = this.#turns.get(name) ?? Promise.resolve();
    const now = before
      .then(() => this.#act(what, name, variant))
      .catch((error: unknown) => {
        if (!this.#signal.aborted) this.faults.push(`${what} ${name}: ${String(error)}`);
      });
    this.#turns.set(name, now);
    return now;
  }

  /** When everything that was asked for is done. */
  async settled(): Promise<void> {
    await Promise.all(this.#turns.values());
  }

  async #act(
    what: "create" | "delete" | "change" | "pause" | "unpause",
    name: string,
    variant: number,
  ): Promise<void> {
    const wish = this.wishes.get(name);
    if (!wish) throw new Error(`no place ${name}`);
    const isHosted = wish.kind === "hosted";
    switch (what) {
      case "create":
        if (wish.wanted) return;
        await this.#goneFirst(wish);
        if (isHosted) await this.#createHosted(wish, variant);
        else await this.#createWorkload(wish);
        wish.wanted = true;
        return;
      case "delete":
        if (!wish.wanted) return;
        // Nobody acts for a Cluster that is paused, not even to delete it.
        if (wish.paused && !isHosted) await this.#act("unpause", name, variant);
        wish.wanted = false;
        wish.paused = false;
        if (isHosted) await this.#kube.remove("HostedCluster", home.hosted, name);
        else await this.#kube.remove("Cluster", home.workload, name);
        return;
      case "change":
        if (wish.wanted)
          await (isHosted
            ? this.#changeHosted(wish, variant)
            : this.#changeWorkload(wish, variant));
        return;
      case "pause":
      case "unpause":
        if (!wish.wanted) return;
        wish.paused = what === "pause";
        if (isHosted)
          await this.#kube.patch(
            { kind: "HostedCluster", metadata: { namespace: home.hosted, name } },
            { spec: { pausedUntil: wish.paused ? "true" : null } },
          );
        else
          await this.#kube.patch(
            { kind: "Cluster", metadata: { namespace: home.workload, name } },
            { spec: { paused: wish.paused } },
          );
    }
  }

  /** Names are used again as soon as Kubernetes lets them be. */
  async #goneFirst({ name, kind }: Wish): Promise<void> {
    const kinds = kind === "hosted" ? ["HostedCluster"] : ["Cluster", "AzureCluster"];
    for (const each of kinds)
      while (await this.#kube.get(each, kind === "hosted" ? home.hosted : home.workload, name))
        await sleep(50, undefined, { signal: this.#signal });
  }

  async #createHosted(wish: Wish, variant: number): Promise<void> {
    const slot = hostedSlots.find(({ name }) => name === wish.name);
    if (!slot) return;
    wish.clusterID = guidFrom(`chaos ${this.#seed} ${wish.name} ${++this.#made}`);
    wish.ownOAuth = variant >= 7;
    await this.#kube.create(hostedObject(slot, wish.clusterID, variant));
  }

  async #changeHosted({ name }: Wish, variant: number): Promise<void> {
    const place = { kind: "HostedCluster", metadata: { namespace: home.hosted, name } };
    const azure =
      variant < 6
        ? {
            private: {
              privateLink: { additionalAllowedSubscriptions: others.slice(0, variant % 4) },
            },
          }
        : { topology: variant % 2 === 0 ? "Private" : "PublicAndPrivate" };
    await this.#kube.patch(place, { spec: { platform: { azure } } });
  }

  async #createWorkload({ name }: Wish): Promise<void> {
    const workload = name as (typeof workloadSlots)[number];
    const namespace = home.workload;
    const cluster = clusterObject(namespace, name);
    // Cluster API keeps a Cluster until its infrastructure is gone.
    const metadata = { ...cluster.metadata, finalizers: [capiFinalizer] };
    const made = await this.#kube.create({ ...cluster, metadata });
    const uid = made?.metadata.uid;
    const owner = { apiVersion: apiVersionOf(capiCluster), kind: "Cluster", name, uid };
    await this.#kube.create({
      ...azureClusterObject(namespace, name, {
        subscriptionID: subscriptions.guests,
        resourceGroup: name,
        identityRef: { kind: "AzureClusterIdentity", name },
        networkSpec: networkSpec(workload, [
          link(`${name}-api-privatelink`, [subscriptions.management]),
        ]),
      }),
      metadata: { namespace, name, ownerReferences: [{ ...owner, controller: false }] },
    });
    await this.#kube.create({
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: { namespace, name, ownerReferences: [{ ...owner, controller: true }] },
      spec: {},
    });
    await this.#kube.patch(
      { kind: "Cluster", metadata: { namespace, name } },
      { status: { phase: "Provisioned" } },
      "status",
    );
  }

  async #changeWorkload({ name }: Wish, variant: number): Promise<void> {
    const allowed = [subscriptions.management, ...others.slice(0, variant % 4)];
    await this.#kube.patch(
      { kind: "AzureCluster", metadata: { namespace: home.workload, name } },
      {
        spec: {
          networkSpec: {
            apiServerLB: { privateLinks: [link(`${name}-api-privatelink`, allowed)] },
          },
        },
      },
    );
  }

  /** What Cluster API and its provider do, once: say that load balancers are ready, and delete what a Cluster has. */
  async tend(): Promise<void> {
    for (const each of await this.#kube.list("AzureCluster", home.workload))
      await this.#sayBalancerReady(each);
    for (const { metadata } of await this.#kube.list("Cluster", home.workload)) {
      const { name, namespace, deletionTimestamp, finalizers = [] } = metadata;
      if (deletionTimestamp === undefined) continue;
      await this.#kube.remove("KubeadmControlPlane", namespace, name);
      await this.#kube.remove("AzureCluster", namespace, name);
      if (await this.#kube.get("AzureCluster", namespace, name)) continue;
      const left = finalizers.filter((finalizer) => finalizer !== capiFinalizer);
      if (left.length < finalizers.length)
        await this.#kube.patch(
          { kind: "Cluster", metadata },
          { metadata: { resourceVersion: metadata.resourceVersion, finalizers: left } },
        );
    }
  }

  async #sayBalancerReady({ kind, metadata, status }: Thing): Promise<void> {
    const held = status?.conditions ?? [];
    if (metadata.deletionTimestamp || held.some(({ type }) => type === "LoadBalancersReady"))
      return;
    const ready = {
      type: "LoadBalancersReady",
      status: "True",
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ""),
    };
    const { resourceVersion } = metadata;
    await this.#kube.patch(
      { kind, metadata },
      { metadata: { resourceVersion }, status: { conditions: [...held, ready] } },
      "status",
    );
  }
}

function hostedObject(slot: HostedSlot, clusterID: string, variant: number): object {
  const { name, group, baseDomain } = slot;
  const made = hostedClusterObject(home.hosted, name, {
    clusterID,
    infraID: `${name}-${clusterID.slice(0, 5)}`,
    baseDomain,
    topology: variant % 2 === 0 ? "Private" : "PublicAndPrivate",
    azure: {
      resourceGroup: group,
      vnetID: networkIn(group),
      subnetID: subnetIn(group),
      subscriptionID: subscriptions.guests,
      tenantID: tenant,
      azureAuthenticationConfig: {
        azureAuthenticationConfigType: "WorkloadIdentities",
        workloadIdentities: { controlPlaneOperator: { clientID: clientIdOf(name) } },
      },
    },
    services: [
      route("APIServer", `api-${name}.${baseDomain}`),
      variant >= 7
        ? {
            service: "OAuthServer",
            servicePublishingStrategy: {
              type: "LoadBalancer",
              loadBalancer: { hostname: `oauth-${name}.${baseDomain}` },
            },
          }
        : route("OAuthServer", `oauth-${name}.${baseDomain}`),
      route("Konnectivity"),
      route("Ignition"),
    ],
  });
  const zone = `${groups[group]}/${network}/privateDnsZones/${name}.${baseDomain}`;
  return { ...made, spec: { ...made.spec, dns: { baseDomain, privateZoneID: zone } } };
}

function networkSpec(
  cluster: "mc" | (typeof workloadSlots)[number],
  privateLinks: object[],
): object {
  return {
    vnet: { name: cluster, id: networkIn(cluster) },
    subnets: [{ name: "nodes", role: "node" }],
    apiServerLB: {
      name: apiBalancer(cluster).split("/").at(-1),
      type: "Internal",
      frontendIPs: [{ name: "front", privateIP: apiAddresses[cluster] }],
      privateLinks,
    },
  };
}

function link(name: string, allowed: string[]): object {
  return {
    name,
    natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
    lbFrontendIPConfigNames: ["front"],
    allowedSubscriptions: allowed,
    autoApprovedSubscriptions: [allowed[0]],
  };
}
