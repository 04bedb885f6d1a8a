import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { createArmClients } from "postern/hosted/arm-clients.ts";
import { linkFeature } from "postern/hosted/link/feature.ts";
import { clusterAnnotation, conditions, linkFinalizer } from "postern/hosted/names.ts";
import type { Change } from "postern/kube/cache.ts";
import type { Feature } from "postern/kube/feature.ts";
import { silentLog } from "postern/kube/log.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import { ManualClock } from "../manual-clock.ts";
import { observeTwice } from "../setup/plan-twice.ts";
import {
  type Azure,
  balancer,
  guestGroup,
  guestNetwork,
  guestSubnet,
  guestSubscription,
  location,
  managementGroup,
  managementNetwork,
  startAzure,
} from "../system/hosted/azure.ts";

/** What happens in a random world. */
export type LinkChange = { kind: "restart" } | OneLinkChange;

/** What happens to one link. */
type OneLinkChange =
  | { kind: "pass" | "drop service" | "move address" | "connect" | "delete"; link: number }
  | { kind: "spoil service"; link: number; how: number };

/** A random world. */
export interface LinkScript {
  links: number;
  mode: "shared" | "per-cluster";
  prefixLength: number;
  /** What other people have that stands in the way. */
  strangers: { service: boolean; subnet: boolean; clusterSubnet: boolean };
  changes: readonly LinkChange[];
}

type LinkObject = AzurePrivateLinkService & { status?: Record<string, unknown> };

const provider = "providers/Microsoft.Network";
const services = `${managementGroup}/${provider}/privateLinkServices`;
const disabled = { privateLinkServiceNetworkPolicies: "Disabled" };

/**
 * Links between the simulator and objects that are kept here: the loop of the controller without an API server, so that
 * hundreds of worlds fit into a test.
 */
export class LinkWorld {
  readonly #script: LinkScript;
  readonly #azure: Azure;
  readonly #clock: ManualClock;
  readonly #objects = new Map<string, LinkObject>();
  readonly #clusters = new Map<string, HostedCluster>();
  /** The annotations of the namespaces. */
  readonly #notes = new Map<string, Record<string, string>>();
  readonly #before: string[];
  readonly #story: string[] = [];
  readonly #stranger: string | undefined;
  #addresses = 0;
  #writes = 0;
  #arm!: Arm;
  #feature!: Feature<LinkObject>;
  #tell!: (change: Change<LinkObject>) => void;

  static async start(script: LinkScript): Promise<LinkWorld> {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    return new LinkWorld(script, await startAzure({ clock }), clock);
  }

  private constructor(script: LinkScript, azure: Azure, clock: ManualClock) {
    this.#script = script;
    this.#azure = azure;
    this.#clock = clock;
    const { subnet, clusterSubnet, service } = script.strangers;
    const { simulator } = azure;
    const put = (name: string, addressPrefix: string) =>
      simulator.change(`${managementNetwork}/subnets/${name}`, {
        properties: { addressPrefix, ...disabled },
      });
    if (subnet) put("postern-nat-ffffffff-0", "10.0.64.0/24");
    if (clusterSubnet) put("c0-infra-pls-nat", "10.0.70.0/24");
    for (let n = 0; n < script.links; n++) this.#make(n);
    if (service) {
      // Somebody has a service under the very name that the first link wants, before a frontend of its own.
      put("theirs", "10.0.80.0/24");
      azure.addFrontend("theirs", "10.0.30.30");
      this.#stranger = `${services}/pls-c0-${clusterID(0)}`;
      simulator.change(this.#stranger, {
        location,
        properties: {
          loadBalancerFrontendIpConfigurations: [
            { id: `${balancer}/frontendIPConfigurations/theirs` },
          ],
          ipConfigurations: [
            { name: "n", properties: { subnet: { id: `${managementNetwork}/subnets/theirs` } } },
          ],
        },
      });
    }
    this.#before = this.left();
    this.#boot();
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
    const credentialOf = () => this.#azure.guest;
    const armClients = createArmClients({ arm, managementGroup, credentialOf } as never);
    const { mode: natSubnets, prefixLength: natPrefixLength } = this.#script;
    const make = linkFeature({ armClients, natSubnets, natPrefixLength, installation: "0a1b2c3d" });
    const handlers: ((change: Change<LinkObject>) => void)[] = [];
    const none = { get: () => undefined, index: () => {}, byIndex: () => [], onChange: () => {} };
    const objects = {
      ...none,
      onChange: (handler: (change: Change<LinkObject>) => void) => handlers.push(handler),
    };
    const found: Record<string, (key: string) => unknown> = {
      HostedCluster: (key) => this.#clusters.get(key),
      HostedControlPlane: (key) => controlPlaneAt(key),
      Service: (key) => this.#serviceAt(key),
      Namespace: (name) => ({ metadata: { name, annotations: this.#notes.get(name) ?? {} } }),
    };
    const of = ({ kind }: { kind: string }) => {
      const get = found[kind];
      return get ? { ...none, get } : objects;
    };
    const kube = {
      patch: async (place: { name: string }, _type: string, change: LinkObject) => {
        const all = { ...this.#notes.get(place.name), ...change.metadata.annotations };
        const present = Object.entries(all).filter(([, value]) => value !== null);
        this.#notes.set(place.name, Object.fromEntries(present));
        return "";
      },
    };
    this.#feature = make({ caches: { of }, kube } as never).feature as never;
    this.#tell = (change) => {
      for (const handler of handlers) handler(change);
    };
    for (const [key, after] of this.#objects) this.#tell({ key, before: undefined, after });
  }

  #make(n: number): void {
    const name = `c${n}`;
    const spec = { clusterID: clusterID(n), infraID: `${name}-infra` };
    this.#clusters.set(`clusters/${name}`, {
      metadata: { namespace: "clusters", name },
      spec,
    } as never);
    this.#objects.set(name, {
      metadata: {
        namespace: `clusters-${name}`,
        name,
        uid: `uid-${n}`,
        generation: 1,
        annotations: { [clusterAnnotation]: `clusters/${name}` },
        ownerReferences: [
          {
            apiVersion: "hypershift.openshift.io/v1beta1",
            kind: "HostedControlPlane",
            name,
            uid: `plane-${name}`,
            controller: true,
          },
        ],
      },
      spec: {
        loadBalancerIP: this.#address(name),
        subscriptionID: guestSubscription,
        resourceGroupName: "guest",
        location,
        guestSubnetID: guestSubnet,
        guestVNetID: guestNetwork,
      },
    });
  }

  /** A frontend of the Service of a link, named as the cloud provider names it. */
  #address(name: string): string {
    return this.#azure.addFrontend(`a${name}uid-${this.#addresses++}`);
  }

  #serviceAt(key: string): unknown {
    const [, name = ""] = key.split("/");
    const ip = this.#objects.get(name)?.spec.loadBalancerIP;
    return {
      metadata: { name, uid: `${name}uid` },
      status: { loadBalancer: { ingress: [{ ip }] } },
    };
  }

  /** Let something happen. */
  async change(change: LinkChange): Promise<void> {
    this.#story.push(JSON.stringify(change));
    if (change.kind === "restart") return this.#boot();
    return this.#changeLink(change);
  }

  async #changeLink(change: OneLinkChange): Promise<void> {
    const object = this.#objects.get(`c${change.link}`);
    if (object === undefined) return;
    const id = serviceOf(object);
    const there = this.#azure.at(id);
    const isOwn = there !== undefined && id !== this.#stranger;
    const { simulator } = this.#azure;
    switch (change.kind) {
      case "pass":
        await this.#reconcile(object);
        return;
      case "drop service":
        if (isOwn && this.#azure.ids("/privateendpointconnections/").length === 0)
          simulator.drop(id);
        return;
      case "spoil service":
        if (isOwn) simulator.change(id, spoiled(there, change.how) as never);
        return;
      case "move address":
        this.#update(object, { spec: { loadBalancerIP: this.#address(object.metadata.name) } });
        return;
      case "connect":
        if (isOwn) this.#connect(id, object.metadata.name);
        return;
      case "delete":
        this.#delete(object);
        return;
    }
  }

  #connect(service: string, name: string): void {
    const id = `${guestGroup}/${provider}/privateEndpoints/theirs-${name}`;
    if (this.#azure.at(id) !== undefined) return;
    this.#azure.simulator.change(id, {
      location,
      properties: {
        subnet: { id: guestSubnet },
        manualPrivateLinkServiceConnections: [
          { name, properties: { privateLinkServiceId: service, requestMessage: "please" } },
        ],
      },
    });
  }

  #delete(object: LinkObject): void {
    if (object.metadata.deletionTimestamp !== undefined) return;
    const deletionTimestamp = new Date(this.#clock.now()).toISOString();
    this.#update(object, { deletionTimestamp });
    this.#collect(object.metadata.name);
  }

  async deleteAll(): Promise<void> {
    for (const object of this.#objects.values()) this.#delete(object);
  }

  /** One look at each, minutes after the last. */
  async passAll(): Promise<void> {
    await this.#clock.move(10 * 60_000);
    for (const object of [...this.#objects.values()]) await this.#reconcile(object);
  }

  #state(): string {
    return JSON.stringify([this.#writes, ...this.#objects.values(), ...this.#notes]);
  }

  /** Look at all until nobody has anything to do. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      const before = this.#state();
      await this.passAll();
      if (before === this.#state()) return;
    }
    throw new Error(`it does not settle\n${this.story()}`);
  }

  /** See, plan, apply, and write the status, as the controller does. */
  async #reconcile(given: LinkObject): Promise<void> {
    const { name } = given.metadata;
    const object = this.#objects.get(name);
    if (object === undefined) return;
    const { signal } = new AbortController();
    const now = () => new Date(this.#clock.now());
    const reconcile = {
      id: "p",
      key: name,
      priority: "drift",
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
    if (plan.finalizer === "add") this.#update(object, { finalizers: [linkFinalizer] });
    const outcomes = await Promise.allSettled(
      plan.steps.map((step) => this.#feature.apply(step, context, reconcile)),
    );
    for (const outcome of outcomes)
      if (outcome.status === "rejected") this.#story.push(`    ${String(outcome.reason)}`);
    if (plan.finalizer === "remove" && plan.steps.length === 0) {
      this.#update(object, { finalizers: [] });
      this.#collect(name);
      return;
    }
    const status = { ...plan.status, conditions: plan.conditions };
    this.#update(object, { status });
  }

  #update(
    { metadata: { name } }: LinkObject,
    over: {
      finalizers?: string[];
      deletionTimestamp?: string;
      spec?: object;
      status?: object;
    },
  ): void {
    const before = this.#objects.get(name);
    if (before === undefined) return;
    const { spec, status, ...metadata } = over;
    const after = {
      ...before,
      metadata: {
        ...before.metadata,
        ...metadata,
      },
      spec: { ...before.spec, ...spec },
      ...(status && { status }),
    } as LinkObject;
    this.#objects.set(name, after);
    this.#tell?.({ key: name, before, after });
  }

  /** An object that is deleted and that nobody holds is gone. */
  #collect(name: string): void {
    const object = this.#objects.get(name);
    if (object?.metadata.deletionTimestamp === undefined) return;
    if ((object.metadata.finalizers ?? []).length > 0) return;
    this.#objects.delete(name);
    this.#tell({ key: name, before: object, after: undefined });
  }

  /** The objects that are there and not being deleted. */
  living(): LinkObject[] {
    return [...this.#objects.values()].filter((each) => !each.metadata.deletionTimestamp);
  }

  /** The objects that are held although they are being deleted. */
  present(): string[] {
    return [...this.#objects.keys()];
  }

  /** Whether a link is published, or told that another is in its place. */
  ready(object: LinkObject): boolean {
    const found = object.status?.conditions?.find(({ type }) => type === conditions.link);
    if (serviceOf(object) === this.#stranger) return found?.reason === "OwnedByAnother";
    return found?.status === "True";
  }

  writes(): number {
    return this.#writes;
  }

  /** All link services and subnets of the management side, with what they are. */
  left(): string[] {
    const { resources } = this.#azure.simulator.snapshot() as { resources: Record<string, object> };
    return Object.entries(resources)
      .filter(([id]) => /\/management\/subnets\/|\/privatelinkservices\//i.test(id))
      .map(
        ([id, present]) =>
          `${id} ${JSON.stringify((present as { properties: object }).properties)}`,
      )
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

function clusterID(n: number): string {
  return `99999999-9999-4999-8999-99999999999${n}`;
}

function serviceOf({ metadata: { name } }: LinkObject): string {
  const n = Number(name.slice(1));
  return `${services}/pls-${name}-${clusterID(n)}`;
}

/** A service as somebody leaves it who changes one thing. */
function spoiled(there: Record<string, unknown>, how: number): object {
  const { top, properties } = there as { top: object; properties: object };
  const changes = [
    { visibility: { subscriptions: [] }, autoApproval: { subscriptions: [] } },
    { enableProxyProtocol: true },
    { autoApproval: { subscriptions: [] } },
    { fqdns: ["kept.example.com"] },
  ];
  if (how === changes.length) return { ...top, tags: { x: "y" }, properties };
  return { ...top, properties: { ...properties, ...changes[how] } };
}

/** The control plane of a cluster in its namespace. */
function controlPlaneAt(key: string): unknown {
  const [namespace, name] = key.split("/");
  const annotations = { [clusterAnnotation]: `clusters/${name}` };
  return { metadata: { namespace, name, uid: `plane-${name}`, annotations }, spec: {} };
}
