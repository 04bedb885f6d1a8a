import { readFile } from "node:fs/promises";
import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { Arm, type ArmRequest } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import type { DriftInterval } from "postern/azure/drift-interval.ts";
import {
  type ArmClients,
  type CredentialOf,
  createArmClients,
} from "postern/hosted/arm-clients.ts";
import { clusterAnnotation } from "postern/hosted/names.ts";
import type { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { type Log, silentLog } from "postern/kube/log.ts";
import type { Metrics } from "postern/kube/metrics.ts";
import { type MakeFeature, Runtime } from "postern/kube/runtime.ts";
import { afterAll, beforeAll, describe, inject, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../../manual-clock.ts";
import { type AuditEntry, type Cluster, clusterAt } from "../../setup/cluster.ts";
import type { User } from "../../setup/control-plane.ts";
import { describeWhere } from "../../setup/needs.ts";
import { planningTwice } from "../../setup/plan-twice.ts";
import { type Plane, startPlane } from "../../setup/plane.ts";
import { installKinds } from "../kinds/install.ts";
import { type Azure, frontendOf, managementGroup, type Rights, startAzure } from "./azure.ts";
import { CountingClient } from "./counting-client.ts";
import {
  type ClusterShape,
  controlPlaneObject,
  hostedClusterObject,
  routerService,
} from "./objects.ts";

/** An object as a test reads it. */
export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    deletionTimestamp?: string;
    finalizers?: string[];
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { kind: string; name: string; uid: string; controller?: boolean }[];
  };
  spec: Record<string, unknown>;
  status?: { conditions?: Condition[] } & Record<string, unknown>;
}

/** The controllers of one process. */
export interface Process {
  /** They are made with the two sides of Azure. */
  features: (armClients: ArmClients, azure: Azure, kube: KubeClient) => readonly MakeFeature[];
  /** As whom the controllers come to the API server. */
  user?: User;
  /** The token of a service account instead. */
  token?: () => string;
  /** Only this namespace; all of them when absent. */
  namespace?: string;
  /** A proxy in front of the API server. */
  proxy?: {
    url: string;
    /** How many requests it answers only after the clock has moved. */
    waiting(): number;
  };
}

export interface WorldOptions extends Process {
  simulator?: SimulatorOptions;
  /** What the two identities may do; everything where nothing is said. */
  rights?: Rights;
  /** By which identity a control plane acts; all by the same one where nothing is said. */
  credentialOf?: (azure: Azure) => CredentialOf;
  /** Groups with load balancers, beside the management group. */
  otherLoadBalancerGroups?: readonly ResourceId[];
  log?: Log;
  metrics?: Metrics;
  /** How often drift is checked; every 5 minutes where nothing is said. */
  drift?: DriftInterval;
  /** Called with the controllers of each process before they start. */
  onRuntime?: (runtime: Runtime, client: KubeClient) => void;
  /** Do not start the controllers yet. */
  stopped?: boolean;
}

/** A management cluster and an Azure, with the controllers between them, on a clock that the test moves. */
export interface HostedWorld {
  azure: Azure;
  clock: ManualClock;
  cluster: Cluster;
  armClients: ArmClients;
  /** Start the controllers, as a new process would. */
  start(): Promise<void>;
  /** Start another process beside it. */
  run(process: Process): Promise<void>;
  /** Stop them, as a kill would: what is under way is ended. */
  stop(): Promise<void>;
  /** Wait until nothing goes on but what waits for the clock. */
  settled(): Promise<void>;
  /** Move the clock on, timer by timer, letting everything that follows from each happen before the next. */
  advance(ms: number): Promise<void>;
  /** Move on until this holds; an error after so many simulated minutes. */
  until(what: string, holds: () => Promise<boolean> | boolean, minutes?: number): Promise<void>;
  make(object: { apiVersion: string; kind: string; metadata: object }): Promise<Thing>;
  get(kind: string, namespace: string, name: string): Promise<Thing | undefined>;
  list(kind: string, namespace?: string): Promise<Thing[]>;
  /** A merge patch, of the status where that is said. */
  patch(thing: Thing, change: object, subresource?: "status"): Promise<Thing>;
  remove(thing: Thing): Promise<void>;
  /** What HyperShift makes of a private cluster: HostedCluster, namespace, HostedControlPlane, Service with an address. */
  hostedCluster(name: string, shape?: ClusterShape): Promise<Hosted>;
  /** The status of a Service once the cloud provider has given it an address. */
  giveAddress(service: Thing, ip: string): Promise<void>;
  /** `status reason` of a condition; undefined where it is not there. */
  condition(thing: Thing | undefined, type: string): string | undefined;
  /** Count from here: writes that our controllers made, and requests to Azure. */
  mark(): Promise<void>;
  kubeWrites(): Promise<AuditEntry[]>;
  armRequests(): { method: string; path: string; status: number }[];
}

/** One hosted cluster as the tests make it. */
export interface Hosted {
  cluster: Thing;
  controlPlane: Thing;
  service: Thing;
  namespace: string;
  address: string;
}

const plurals: Record<string, string> = {
  ...Object.fromEntries(
    definitions.map((each) => [each.kind, `/apis/${apiVersionOf(each)}//${each.plural}`]),
  ),
  Service: "/api/v1//services",
  ServiceAccount: "/api/v1//serviceaccounts",
  Secret: "/api/v1//secrets",
  Event: "/apis/events.k8s.io/v1//events",
};

function pathOf(kind: string, namespace?: string, name?: string): string {
  if (kind === "Namespace") return `/api/v1/namespaces${name ? `/${name}` : ""}`;
  const plural = plurals[kind];
  if (plural === undefined) throw new Error(`the tests do not know where ${kind} is served`);
  const within = plural.replace("//", namespace ? `/namespaces/${namespace}/` : "/");
  return name ? `${within}/${name}` : within;
}

/** A suite with an API server of its own, because its controllers look at every namespace. */
export function describeHosted(
  name: string,
  suite: (world: (options: WorldOptions) => Promise<HostedWorld>) => void,
): void {
  const given = inject("cluster");
  if ("broken" in given) {
    describe(name, () => {
      test("has an API server", () => {
        throw new Error(given.broken);
      });
    });
    return;
  }
  describeWhere("missing" in given ? given.missing : undefined, name, () => {
    let plane: Plane;
    let cluster: Cluster;
    beforeAll(async () => {
      plane = await startPlane();
      cluster = clusterAt(plane.address);
      await installKinds(cluster);
    }, 120_000);
    afterAll(() => plane?.stop());
    suite((options) => startWorld(cluster, options));
  });
}

async function startWorld(cluster: Cluster, options: WorldOptions): Promise<HostedWorld> {
  const clock = new ManualClock(Date.now());
  const azure = await startAzure({ ...options.simulator, clock }, options.rights);
  const { simulator } = azure;
  const told: ArmRequest[] = [];
  const userAgent = `postern-test/${Math.random().toString(36).slice(2)}`;
  const running = new Set<{ end: () => Promise<void>; client: CountingClient; within: string }>();
  let armMark = 0;
  let auditMark = "";

  const arm = () =>
    new Arm({
      cloud: customCloud({ resourceManager: simulator.url }),
      credential: azure.operator,
      clock,
      onRequest: (request) => {
        told.push(request);
        if (request.priority === "drift" && request.verb === "GET") options.drift?.read();
      },
    });
  let armClient = arm();
  const credentialOf = options.credentialOf?.(azure) ?? (() => azure.guest);
  const armClientsNow = () =>
    createArmClients({ ...options, arm: armClient, managementGroup, credentialOf });

  const problems: unknown[] = [];
  async function start() {
    armClient = arm();
    await run(options);
  }

  async function run(given: Process) {
    const client = new CountingClient(await connectionOf(cluster, given), { userAgent });
    const runtime = new Runtime({
      client,
      clock,
      log: options.log ?? silentLog,
      ...(options.metrics && { metrics: options.metrics }),
      namespace: given.namespace,
      features: given
        .features(armClientsNow(), azure, client)
        .map((make) => planningTwice(make, problems)),
      drift: options.drift,
    });
    client.caches = runtime.caches;
    options.onRuntime?.(runtime, client);
    if (given.proxy) client.waiting = given.proxy.waiting;
    const signal = new AbortController();
    const ran = runtime.run(signal.signal);
    const process = {
      client,
      end,
      within: given.namespace ? `/namespaces/${given.namespace}/` : "",
    };
    async function end() {
      signal.abort();
      // A stop may wait for the clock.
      for (let over = false; !over; await settle()) {
        over = await Promise.race([ran.then(() => true), settle().then(() => false)]);
        if (!over && clock.nextDue < clock.now() + 60_000) clock.step(clock.nextDue);
      }
      client.close();
      running.delete(process);
    }
    running.add(process);
    await Promise.all(runtime.caches.all().map((cache) => cache.filled));
    await settled();
  }

  async function stop() {
    if (running.size === 0) return;
    for (const { end } of running) await end();
    armClient.close();
    for (const problem of problems) throw problem;
  }

  /** Quiet is what stays so for a few looks: an answer may be on its way through a socket. */
  async function settled() {
    for (let calm = 0, looks = 0; calm < 3; looks++) {
      await simulator.advance(0);
      await settle();
      calm = [...running].every(({ client }) => client.calm) ? calm + 1 : 0;
      if (looks > 20_000) throw new Error("the world does not come to rest");
    }
  }

  async function advance(ms: number) {
    const end = clock.now() + ms;
    await settled();
    while (clock.step(end)) await settled();
    await settled();
  }

  const ask = async (method: string, path: string, body?: unknown, contentType?: string) => {
    const answer = await cluster.request<Thing>(
      method,
      path,
      body,
      contentType ? { contentType } : {},
    );
    if (answer.status >= 300) {
      const { message } = answer.body as unknown as { message: string };
      throw new Error(`${method} ${path}: ${answer.status} ${message}`);
    }
    for (const { client, within } of running)
      if (path.includes(within)) client.wrote(method, path, JSON.stringify(answer.body));
    return answer.body;
  };
  const make: HostedWorld["make"] = async (object) => {
    const { namespace } = object.metadata as { namespace?: string };
    return ask("POST", pathOf(object.kind, namespace), object);
  };
  const get: HostedWorld["get"] = async (kind, namespace, name) => {
    const { status, body } = await cluster.request<Thing>("GET", pathOf(kind, namespace, name));
    return status === 404 ? undefined : body;
  };
  const list: HostedWorld["list"] = async (kind, namespace) =>
    (await cluster.request<{ items: Thing[] }>("GET", pathOf(kind, namespace))).body.items.map(
      (each) => ({ ...each, kind }),
    );
  const pathTo = ({ kind, metadata }: Thing) => pathOf(kind, metadata.namespace, metadata.name);
  const patch: HostedWorld["patch"] = (thing, change, subresource) =>
    ask(
      "PATCH",
      `${pathTo(thing)}${subresource ? `/${subresource}` : ""}`,
      change,
      "application/merge-patch+json",
    );
  const remove: HostedWorld["remove"] = async (thing) => {
    // Where a garbage collector runs, it may have been first.
    await ask("DELETE", pathTo(thing)).catch((error: Error) => {
      if (!error.message.includes(": 404 ")) throw error;
    });
  };

  async function hostedCluster(name: string, shape: ClusterShape = {}): Promise<Hosted> {
    const made = hostedClusterObject("clusters", name, shape);
    await ensureNamespace("clusters");
    const hc = await make(made);
    const namespace = `clusters-${name}`;
    await ensureNamespace(namespace, { [clusterAnnotation]: `clusters/${name}` });
    const controlPlane = await make(controlPlaneObject(made));
    const service = await make(routerService(controlPlane));
    const address = azure.addFrontend(frontendOf(service));
    await giveAddress(service, address);
    return { cluster: hc, controlPlane, service, namespace, address };
  }

  const giveAddress: HostedWorld["giveAddress"] = async (service, ip) => {
    await patch(service, { status: { loadBalancer: { ingress: [{ ip }] } } }, "status");
  };

  async function ensureNamespace(name: string, annotations?: object): Promise<void> {
    const { status } = await cluster.request("POST", "/api/v1/namespaces", {
      metadata: { name, ...(annotations && { annotations }) },
    });
    if (status === 409 && annotations !== undefined)
      await ask(
        "PATCH",
        pathOf("Namespace", "", name),
        { metadata: { annotations } },
        "application/merge-patch+json",
      );
  }

  /** Nothing of one test may be there for the next: they share the API server. */
  async function clear(): Promise<void> {
    // From the outside in, so that nobody makes again what has just gone.
    const hosted = ["HostedCluster", "HostedControlPlane", "AzurePrivateLinkService"];
    for (const kind of hosted) await clearKind(kind);
    const others = definitions.map(({ kind }) => kind).filter((kind) => !hosted.includes(kind));
    for (const kind of [...others, "Service", "Event"]) await clearKind(kind);
    await endNamespaces();
  }

  /** What a namespace controller does, which an API server alone has not: let those go that are to go. */
  async function endNamespaces(): Promise<void> {
    for (const { metadata } of await list("Namespace"))
      if (metadata.deletionTimestamp !== undefined)
        await cluster.request("PUT", `${pathOf("Namespace", "", metadata.name)}/finalize`, {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: metadata.name },
          spec: { finalizers: [] },
        });
  }

  async function clearKind(kind: string): Promise<void> {
    const things = (await list(kind).catch(() => [])) ?? [];
    const clearOne = async ({ metadata }: Thing) => {
      if (kind === "Service" && metadata.name === "kubernetes") return;
      const path = pathOf(kind, metadata.namespace, metadata.name);
      const free = { metadata: { finalizers: null } };
      await cluster.request("PATCH", path, free, { contentType: "application/merge-patch+json" });
      await cluster.request("DELETE", path);
    };
    for (let first = 0; first < things.length; first += 20)
      await Promise.all(things.slice(first, first + 20).map(clearOne));
  }

  onTestFinished(async () => {
    await stop();
    await clear();
  }, 60_000);

  const world: HostedWorld = {
    azure,
    clock,
    cluster,
    get armClients() {
      return armClientsNow();
    },
    start,
    run,
    stop,
    settled,
    advance,
    until: async (what, holds, minutes = 30) => {
      const end = clock.now() + minutes * 60_000;
      for (;;) {
        await settled();
        if (await holds()) return;
        if (clock.now() >= end) throw new Error(`after ${minutes} simulated minutes: ${what}`);
        await advance(5_000);
      }
    },
    make,
    get,
    list,
    patch,
    remove,
    hostedCluster,
    giveAddress,
    condition: (thing, type) => {
      const found = thing?.status?.conditions?.find((each) => each.type === type);
      return found && `${found.status} ${found.reason}`;
    },
    mark: async () => {
      await settled();
      armMark = told.length;
      auditMark = new Date().toISOString();
      await new Promise((resolve) => setTimeout(resolve, 2));
    },
    kubeWrites: () =>
      cluster.audit(
        ({ userAgent: by, verb, requestReceivedTimestamp }) =>
          by === userAgent &&
          !["get", "list", "watch"].includes(verb) &&
          requestReceivedTimestamp > auditMark,
      ),
    armRequests: () =>
      told.slice(armMark).map(({ verb, resource, code }) => ({
        method: verb,
        path: resource,
        status: Number(code),
      })),
  };
  await clear();
  if (!options.stopped) await start();
  return world;
}

/** The way to the API server, by the token of one of its users or of a service account. */
async function connectionOf(cluster: Cluster, { user = "admin", token, proxy }: Process) {
  const text = await readFile(cluster.kubeconfig, "utf8");
  const own = text
    .replaceAll(cluster.tokens.admin, token?.() ?? cluster.tokens[user])
    .replaceAll(cluster.url, proxy?.url ?? cluster.url);
  return fromKubeconfigText(own, cluster.kubeconfig);
}
