import { withConditions } from "@postern/core/conditions.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { conditions, privateLinksFinalizer } from "postern/cluster-api/names.ts";
import { privateLinksFeature } from "postern/cluster-api/private-links/feature.ts";
import type { Feature } from "postern/kube/feature.ts";
import { silentLog } from "postern/kube/log.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import { ManualClock } from "../manual-clock.ts";
import { observeTwice } from "../setup/plan-twice.ts";
import {
  type Azure,
  guestGroup,
  guestSubnet,
  guestSubscription,
  location,
  managementSubscription,
  startAzure,
} from "../system/hosted/azure.ts";

/** What a cluster asks for. */
export interface Requested {
  first: boolean;
  second: boolean;
  /** Whether the NAT addresses are in the second subnet too, and which one is first. */
  nat: "nodes" | "other" | "both";
  proxy: boolean;
  open: boolean;
  endpoint: boolean;
  endpointIn: "nodes" | "other";
  /** Whether the links are in the annotation. */
  annotated: boolean;
}

/** What happens in a random world. */
export type PrivateLinksChange =
  | { kind: "restart" }
  | { kind: "reconcile" | "drop link" | "drop endpoint" | "connect" | "delete"; cluster: number }
  | { kind: "spoil link" | "spoil endpoint"; cluster: number; how: number }
  | { kind: "ask"; cluster: number; asked: Requested };

export interface PrivateLinksScript {
  clusters: readonly Requested[];
  /** What other people have under names that the first cluster wants. */
  strangers: { link: boolean; endpoint: boolean };
  changes: readonly PrivateLinksChange[];
}

type Cluster = AzureCluster & { status?: Record<string, unknown> };

const provider = "providers/Microsoft.Network";
const group = resourceGroupId(managementSubscription, "shared");
/** Names that begin with each other, in one group. */
const names = ["wc", "wc1", "wc10"];
const target = `${guestGroup}/${provider}/privateLinkServices/target`;

/** AzureClusters that are kept here, between the simulator and the feature: the loop of the controller without an API server. */
export class PrivateLinksWorld {
  readonly #azure: Azure;
  readonly #clock: ManualClock;
  readonly #objects = new Map<string, Cluster>();
  readonly #stolen: ReadonlySet<string>;
  readonly #before: string[];
  readonly #story: string[] = [];
  #writes = 0;
  #arm!: Arm;
  #feature!: Feature<Cluster>;

  static async start(script: PrivateLinksScript): Promise<PrivateLinksWorld> {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    return new PrivateLinksWorld(script, await startAzure({ clock }), clock);
  }

  private constructor(script: PrivateLinksScript, azure: Azure, clock: ManualClock) {
    this.#azure = azure;
    this.#clock = clock;
    const { simulator } = azure;
    simulator.change(group, { location });
    this.#network(guestGroup, "provider", 90);
    this.#service(target, guestGroup, "provider", "fe-0");
    for (const [n, asked] of script.clusters.entries()) this.#make(n, asked);
    const { link, endpoint } = script.strangers;
    const stolen = new Set<string>();
    if (link || endpoint) this.#network(group, "theirs", 91);
    if (link) {
      const id = linkId("wc", 1);
      this.#service(id, group, "theirs", "fe-0");
      stolen.add(id);
    }
    if (endpoint) {
      const id = endpointId("wc");
      simulator.change(id, endpointBody(`${networkId(group, "theirs")}/subnets/nodes`) as never);
      stolen.add(id);
    }
    this.#stolen = stolen;
    this.#before = this.left();
    this.#boot();
  }

  #network(within: string, name: string, n: number): void {
    const { simulator } = this.#azure;
    simulator.change(networkId(within, name), {
      location,
      properties: {
        addressSpace: { addressPrefixes: [`10.${n}.0.0/16`] },
        subnets: [
          { name: "nodes", properties: { addressPrefix: `10.${n}.0.0/24` } },
          { name: "other", properties: { addressPrefix: `10.${n}.1.0/24` } },
        ],
      },
    });
    const frontends = [0, 1].map((at) => ({
      name: `fe-${at}`,
      properties: {
        subnet: { id: `${networkId(within, name)}/subnets/nodes` },
        privateIPAddress: `10.${n}.0.${10 + at}`,
        privateIPAllocationMethod: "Static",
      },
    }));
    simulator.change(balancerId(within, name), {
      location,
      sku: { name: "Standard" },
      properties: { frontendIPConfigurations: frontends },
    });
  }

  #service(id: string, within: string, name: string, frontend: string): void {
    const subnet = `${networkId(within, name)}/subnets/other`;
    const prefix = (this.#azure.at(subnet) as { properties: { addressPrefix: string } }).properties;
    this.#azure.simulator.change(subnet, {
      properties: {
        addressPrefix: prefix.addressPrefix,
        privateLinkServiceNetworkPolicies: "Disabled",
      },
    });
    this.#azure.simulator.change(id, {
      location,
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${balancerId(within, name)}/frontendIPConfigurations/${frontend}` },
        ],
        ipConfigurations: [{ name: "n", properties: { subnet: { id: subnet } } }],
        visibility: { subscriptions: ["*"] },
        autoApproval: { subscriptions: [managementSubscription] },
      },
    });
  }

  #make(n: number, asked: Requested): void {
    const name = names[n] ?? "";
    this.#network(group, name, n + 1);
    this.#objects.set(name, {
      metadata: { namespace: "org", name, uid: `uid-${n}`, generation: 1 },
      spec: { location, subscriptionID: managementSubscription, resourceGroup: "shared" },
    } as Cluster);
    this.#ask(name, asked);
  }

  #ask(name: string, asked: Requested): void {
    const links = [
      ...(asked.first ? [linkSpec(name, 1, asked)] : []),
      ...(asked.second ? [linkSpec(name, 2, asked)] : []),
    ];
    const endpoint = {
      name: `${name}-pe`,
      privateLinkServiceConnections: [{ name: "c", privateLinkServiceID: target }],
    };
    const subnets = ["nodes", "other"].map((each) => ({
      name: each,
      role: "node",
      privateEndpoints: asked.endpoint && asked.endpointIn === each ? [endpoint] : null,
    }));
    this.#update(name, {
      annotations: asked.annotated ? { "postern.io/private-links": JSON.stringify(links) } : {},
      spec: {
        networkSpec: {
          vnet: { name },
          subnets,
          apiServerLB: { name, type: "Internal", privateLinks: asked.annotated ? null : links },
        },
      },
    });
  }

  /** What a new process has: nothing but the objects. */
  #boot(): void {
    const cloud = customCloud({ resourceManager: this.#azure.simulator.url });
    this.#arm?.close();
    this.#arm = new Arm({
      cloud,
      credential: this.#azure.operator,
      clock: this.#clock,
      onRequest: ({ verb }) => {
        if (verb !== "GET") this.#writes++;
      },
    });
    const arm = this.#arm;
    const objects = {
      index: () => {},
      byIndex: () => [],
      onChange: () => {},
      get: (key: string) => this.#objects.get(key),
    };
    const caches = {
      of: ({ kind }: { kind: string }) =>
        kind === "AzureCluster" ? objects : { get: () => undefined },
    };
    const clients = { of: (_: AzureCluster, reconcile: Reconcile) => arm.for(reconcile) };
    this.#feature = privateLinksFeature({ clients })({ caches, kube: {} } as never)
      .feature as never;
  }

  /** Let something happen. */
  async change(change: PrivateLinksChange): Promise<void> {
    this.#story.push(JSON.stringify(change));
    const name = "cluster" in change ? (names[change.cluster] ?? "") : "";
    if (change.kind !== "restart" && !this.#objects.has(name)) return;
    const { simulator } = this.#azure;
    const link = linkId(name, 1);
    const has = (id: string) => this.#azure.at(id) !== undefined && !this.#stolen.has(id);
    switch (change.kind) {
      case "restart":
        return this.#boot();
      case "reconcile":
        return this.#reconcile(name, "change");
      case "ask":
        return this.#ask(name, change.asked);
      case "drop link":
        if (has(link) && this.#azure.ids(`${link}/`).length === 0) simulator.drop(link);
        return;
      case "drop endpoint":
        if (has(endpointId(name))) simulator.drop(endpointId(name));
        return;
      case "spoil link":
        if (has(link)) simulator.change(link, this.#spoiled(link, change.how));
        return;
      case "spoil endpoint":
        if (has(endpointId(name)))
          simulator.change(endpointId(name), this.#spoiled(endpointId(name), 4 + (change.how % 2)));
        return;
      case "connect":
        if (has(link)) this.#connect(link, name);
        return;
      case "delete":
        return this.#delete(name);
    }
  }

  #spoiled(id: string, how: number): never {
    const { top, properties } = this.#azure.at(id) as { top: { tags: object }; properties: object };
    const changes = [
      { visibility: { subscriptions: [] }, autoApproval: { subscriptions: [] } },
      {
        enableProxyProtocol: !(properties as { enableProxyProtocol?: boolean }).enableProxyProtocol,
      },
      { autoApproval: { subscriptions: [] } },
      { fqdns: ["kept.example.com"] },
      { applicationSecurityGroups: [{ id: `${group}/${provider}/applicationSecurityGroups/a` }] },
      {},
    ];
    const tags = how === 5 ? { ...top.tags, team: "a" } : top.tags;
    return { ...top, tags, properties: { ...properties, ...changes[how] } } as never;
  }

  #connect(service: string, name: string): void {
    const id = `${guestGroup}/${provider}/privateEndpoints/visitor-${name}`;
    if (this.#azure.at(id) !== undefined) return;
    const body = endpointBody(guestSubnet, service);
    this.#azure.simulator.change(id, body as never);
  }

  #delete(name: string): void {
    const deletionTimestamp = new Date(this.#clock.now()).toISOString();
    this.#update(name, { deletionTimestamp });
    this.#collect(name);
  }

  deleteAll(): void {
    for (const name of this.#objects.keys()) this.#delete(name);
  }

  /** One look at each: minutes after the last, or at once, when what was seen before still counts. */
  async reconcileAll(priority: "drift" | "change" = "drift"): Promise<void> {
    await this.#clock.move(priority === "drift" ? 10 * 60_000 : 1000);
    for (const name of [...this.#objects.keys()]) await this.#reconcile(name, priority);
  }

  /** Look at all until nobody has anything to do: first in quick succession, then minutes apart. */
  async settle(): Promise<void> {
    await this.#settleBy("change");
    await this.#settleBy("drift");
  }

  async #settleBy(priority: "drift" | "change"): Promise<void> {
    for (let round = 0; round < 40; round++) {
      const before = `${this.#writes} ${JSON.stringify([...this.#objects.values()])}`;
      await this.reconcileAll(priority);
      if (before === `${this.#writes} ${JSON.stringify([...this.#objects.values()])}`) return;
    }
    throw new Error(`it does not settle\n${this.story()}`);
  }

  /** See, plan, apply, and write the status, as the controller does. */
  async #reconcile(name: string, priority: "drift" | "change"): Promise<void> {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    const { signal } = new AbortController();
    const now = () => new Date(this.#clock.now());
    const reconcile = {
      id: "p",
      key: name,
      priority,
      signal,
      log: silentLog,
      now,
      date: now,
      mayWrite: () => true,
      failedReads: [],
    } as unknown as Reconcile;
    const { context, plan } = await observeTwice(this.#feature, object, reconcile, () =>
      this.story(),
    );
    this.#story.push(`  ${name}: ${plan.steps.map((step) => step.do).join(", ") || "nothing"}`);
    const ids = plan.steps.map((step) => (step as { id?: string }).id?.toLowerCase());
    if (new Set(ids).size < ids.length) throw new Error(`one thing twice\n${this.story()}`);
    if (plan.finalizer === "add") this.#update(name, { finalizers: [privateLinksFinalizer] });
    const outcomes = await Promise.allSettled(
      plan.steps.map((step) => this.#feature.apply(step, context, reconcile)),
    );
    for (const outcome of outcomes)
      if (outcome.status === "rejected") this.#story.push(`    ${String(outcome.reason)}`);
    if (plan.finalizer === "remove" && plan.steps.length === 0) {
      this.#update(name, { finalizers: [] });
      this.#collect(name);
      return;
    }
    // A fixed time: how long a condition stands must not keep a world from coming to rest.
    const conditions = withConditions([], plan.conditions, [], new Date("2026-01-01T00:00:00Z"));
    this.#update(name, { status: { conditions } });
  }

  #update(
    name: string,
    over: {
      annotations?: Record<string, string>;
      finalizers?: string[];
      deletionTimestamp?: string;
      spec?: object;
      status?: object;
    },
  ): void {
    const before = this.#objects.get(name);
    if (before === undefined) return;
    const { spec, status, ...metadata } = over;
    this.#objects.set(name, {
      ...before,
      metadata: { ...before.metadata, ...metadata },
      spec: { ...before.spec, ...spec },
      ...(status && { status }),
    } as Cluster);
  }

  /** An object that is deleted and that nobody holds is gone. */
  #collect(name: string): void {
    const object = this.#objects.get(name);
    if (object?.metadata.deletionTimestamp === undefined) return;
    if ((object.metadata.finalizers ?? []).length === 0) this.#objects.delete(name);
  }

  /** The conditions of the clusters that exist, in short. */
  reported(): string[] {
    return [...this.#objects.values()].flatMap(({ metadata, status }) =>
      ((status?.conditions ?? []) as { type: string; status: string; reason: string }[]).map(
        (each) => `${metadata.name} ${each.type} ${each.status} ${each.reason}`,
      ),
    );
  }

  /** The conditions that should be reported, by what is desired and who owns the names. */
  expected(): string[] {
    return [...this.#objects.values()].flatMap(({ metadata: { name }, spec }) => {
      const { subnets = [] } = spec.networkSpec ?? {};
      const endpoint = subnets.some((each) => (each.privateEndpoints ?? []).length > 0);
      const text = this.#objects.get(name)?.metadata.annotations?.["postern.io/private-links"];
      const links = (spec.networkSpec?.apiServerLB?.privateLinks ?? JSON.parse(text ?? "[]")) as {
        name: string;
      }[];
      const stolen = (id: string, desired: boolean) => desired && this.#stolen.has(id);
      const first = stolen(
        linkId(name, 1),
        links.some((each) => each.name === `${name}-link-1`),
      );
      const line = (type: string, taken: boolean) =>
        `${name} ${type} ${taken ? "False OwnedByAnother" : "True Realised"}`;
      return [
        ...(links.length > 0 ? [line(conditions.privateLinks, first)] : []),
        ...(endpoint
          ? [line(conditions.privateEndpoints, stolen(endpointId(name), endpoint))]
          : []),
      ];
    });
  }

  /** The objects that are there, deleted or not. */
  withFinalizer(): string[] {
    return [...this.#objects.keys()];
  }

  writes(): number {
    return this.#writes;
  }

  /** All link services, endpoints and subnets, with what they are, without what visitors left. */
  left(): string[] {
    const { resources } = this.#azure.simulator.snapshot() as {
      resources: Record<string, { top: object; properties: Record<string, unknown> }>;
    };
    return Object.entries(resources)
      .filter(([id]) => /\/subnets\/|\/privatelinkservices\/[^/]+$|\/privateendpoints\//i.test(id))
      .filter(([id]) => !/\/privateendpoints\/visitor-/i.test(id))
      .map(([id, { top, properties }]) => {
        const { privateLinkServiceNetworkPolicies: _, ...rest } = properties;
        return `${id.toLowerCase()} ${JSON.stringify([top, rest])}`;
      })
      .sort();
  }

  /** What was there before the first reconcile. */
  strangers(): string[] {
    return this.#before;
  }

  /** What happened, for whoever has to understand a failure. */
  story(): string {
    return this.#story.join("\n");
  }

  async close(): Promise<void> {
    this.#arm.close();
    await this.#azure.simulator.close();
  }
}

function linkSpec(cluster: string, n: number, { nat, proxy, open }: Requested): object {
  const from = nat === "both" ? ["nodes", "other"] : [nat];
  const subscriptions = open ? [managementSubscription, guestSubscription] : [];
  return {
    name: `${cluster}-link-${n}`,
    natIpConfigurations: from.map((subnet) => ({ subnet, allocationMethod: "Dynamic" })),
    lbFrontendIPConfigNames: [`fe-${n - 1}`],
    allowedSubscriptions: subscriptions,
    autoApprovedSubscriptions: [null, ...subscriptions],
    enableProxyProtocol: proxy,
  };
}

function endpointBody(subnet: string, service = target): object {
  const properties = { privateLinkServiceId: service, requestMessage: "please" };
  return {
    location,
    properties: {
      subnet: { id: subnet },
      manualPrivateLinkServiceConnections: [{ name: "c", properties }],
    },
  };
}

function linkId(cluster: string, n: number): string {
  return `${group}/${provider}/privateLinkServices/${cluster}-link-${n}`;
}

function endpointId(cluster: string): string {
  return `${group}/${provider}/privateEndpoints/${cluster}-pe`;
}

function networkId(within: string, name: string): string {
  return `${within}/${provider}/virtualNetworks/${name}`;
}

function balancerId(within: string, name: string): string {
  return `${within}/${provider}/loadBalancers/${name}`;
}
