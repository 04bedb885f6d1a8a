import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import type { Application } from "@postern/azure-simulator/entra/application.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import type { World as ApiWorld } from "@postern/kubernetes-embedded/call.ts";
import type { Stored } from "@postern/kubernetes-embedded/resource.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { Registry } from "@prometheus-io/client";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { cachedTokens } from "postern/azure/tokens.ts";
import { KubeClient } from "postern/kube/client.ts";
import { silentLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { clusterApiFeatures, hostedFeatures } from "postern/operator/features.ts";
import { settled } from "./activity.ts";
import { type Azure, baseDomain, groups, location, startAzure, subnetIn } from "./azure.ts";
import type { Kubernetes } from "./kubernetes.ts";
import type { Variant } from "./variant.ts";

/** An object as it is sent to the API server. */
export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: object[];
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** One management cluster and one Azure with the whole operator between them, on a clock that the test moves. */
export interface World {
  variant: Variant;
  azure: Azure;
  clock: ManualClock;
  api: ApiWorld;
  /** Send a request to the API server, and give the code of its answer; the caller waits with `settle`. */
  send(method: string, path: string, body?: unknown): Promise<number>;
  create(thing: Thing): Promise<number>;
  /** Everything that exists. */
  objects(): { collection: string; object: Stored }[];
  get(collection: string, key: string): Stored | undefined;
  /** Let everything happen that does not wait for the clock. */
  settle(): Promise<void>;
  /** Move the clock on, timer by timer. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The AzureCluster that the clusters of Cluster API connect to. */
export const managementCluster = { namespace: "org-mc", name: "mc" };

/** Namespaces whose Services the cloud provider leaves alone. */
const unserved = ["evil", "blue-on", "kube"];

const plurals: Record<string, string> = {
  ...Object.fromEntries(
    definitions.map((each) => [each.kind, `/apis/${apiVersionOf(each)}//${each.plural}`]),
  ),
  Service: "/api/v1//services",
  ServiceAccount: "/api/v1//serviceaccounts",
  Secret: "/api/v1//secrets",
  ConfigMap: "/api/v1//configmaps",
  Namespace: "/api/v1//namespaces",
};

/** Where an object of a kind is served. */
export function pathOf(kind: string, namespace?: string, name?: string): string {
  const within = (plurals[kind] ?? "").replace("//", namespace ? `/namespaces/${namespace}/` : "/");
  return name ? `${within}/${name}` : within;
}

/** Start one, on an API server that is begun anew. `beside` acts in it too, step by step, until it returns false. */
export async function startWorld(
  kubernetes: Kubernetes,
  variant: Variant,
  beside?: (world: World) => Promise<boolean>,
): Promise<World> {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const api = await kubernetes.reset(clock, variant);
  const azure = await startAzure(clock, api.tokens.keys() as JsonObject[]);
  const { simulator, applications } = azure;
  const cloud = customCloud({
    resourceManager: simulator.url,
    authorityHost: simulator.httpsUrl ?? "",
  });
  const tokensOf = (application: Application) => {
    const forMs = 3_600_000;
    const token = async () => ({
      token: simulator.directory.tokenFor(application, { forMs }),
      expiresAtMs: clock.now() + forMs,
    });
    return cachedTokens(application.objectId, token, clock);
  };
  const credential = tokensOf(applications.operator);
  const arm = new Arm({ cloud, credential, clock });
  const cloudArm = new Arm({ cloud, credential: tokensOf(applications.cloud), clock });
  const client = new KubeClient(kubernetes.connection, { userAgent: "postern-test", clock });
  const registry = new Registry();
  const parts = {
    azure: {
      arm,
      cloud,
      credential,
      ca: simulator.ca,
      onCertificate: () => undefined,
      checks: [],
      armClientFor: () => arm,
      forgetReads: () => arm.forgetReads(),
      close: () => arm.close(),
    },
    client,
    registry,
    clock,
    env: {},
    policy: variant.policy,
  };
  const runtime = new Runtime({
    client,
    clock,
    log: silentLog,
    features: [
      ...hostedFeatures(
        {
          role: "all",
          natSubnets: variant.natSubnets,
          natPrefixLength: 24,
          management: { managementGroup: groups.management, installation: "0f0f0f0f" },
        },
        parts,
      ),
      ...clusterApiFeatures(
        {
          managementCluster,
          managementLinks: ["gateway"],
          gates: ["GSPrivateLinksReady", "GSDNSZoneReady"],
          dns: { baseDomain, baseZoneGroup: groups.dns },
          others: {},
        },
        parts,
      ),
      cloudProviderFeature({
        arm: (reconcile) => cloudArm.for(reconcile),
        managementGroup: groups.management,
        subnetId: subnetIn(groups.management),
        location,
        // Like a Service with a class of its own, what lies there keeps the status that its owner writes.
        within: ({ metadata }) => !unserved.includes(metadata.name),
      }),
    ],
  });
  const ending = new AbortController();
  const ran = runtime.run(ending.signal);

  const writer = new KubeClient(kubernetes.connection, { userAgent: "tenant", clock });
  const send: World["send"] = async (method, path, body) => {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    try {
      await writer.request(method, path, {
        ...(body !== undefined && { body: JSON.stringify(body), contentType }),
      });
      return 200;
    } catch (error) {
      const { status } = error as { status?: number };
      if (!status) throw error;
      return status;
    }
  };
  const settle = async () => {
    await settled();
    while (await beside?.(world)) await settled();
  };
  const advance = async (ms: number) => {
    const end = clock.now() + ms;
    await settle();
    while (clock.step(end)) await settle();
    await settle();
  };
  await Promise.all(runtime.caches.all().map((cache) => cache.filled));
  await settled();
  const world: World = {
    variant,
    azure,
    clock,
    api,
    send,
    settle,
    advance,
    create: (thing) => send("POST", pathOf(thing.kind, thing.metadata.namespace), thing),
    objects: () =>
      api.store
        .collections()
        .flatMap((collection) =>
          api.store.list(collection).map(({ object }) => ({ collection, object })),
        ),
    get: (collection, key) => api.store.get(collection, key)?.object,
    close: async () => {
      ending.abort();
      for (let over = false; !over; ) {
        const calm = settled().catch(() => undefined);
        over = await Promise.race([ran.then(() => true), calm.then(() => false)]);
        if (!over && Number.isFinite(clock.nextDue)) clock.step(clock.nextDue);
      }
      writer.close();
      client.close();
      arm.close();
      cloudArm.close();
      await simulator.close();
    },
  };
  return world;
}
