import { readFile } from "node:fs/promises";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { WatchCache } from "postern/kube/cache.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { EventRecorder } from "postern/kube/events.ts";
import { Journal } from "postern/kube/journal.ts";
import { Lease } from "postern/kube/lease.ts";
import { silentLog } from "postern/kube/log.ts";
import { OwnObjects } from "postern/kube/own-objects.ts";
import type { Runtime } from "postern/kube/runtime.ts";
import { installationOf } from "postern/operator/installation.ts";
import { clusterPage } from "postern/server/source.ts";
import { gather } from "postern/view/gather.ts";
import { onTestFinished } from "vitest";
import type { Cluster } from "../../setup/cluster.ts";
import type { HostedWorld, Thing } from "./world.ts";

/** A client with a token, until the test ends. */
export async function clientOf(cluster: Cluster, token: string): Promise<KubeClient> {
  const text = await readFile(cluster.kubeconfig, "utf8");
  const client = new KubeClient(
    await fromKubeconfigText(text.replaceAll(cluster.tokens.admin, token), cluster.kubeconfig),
  );
  onTestFinished(() => client.close());
  return client;
}

/** Acquire a Lease, and release it. */
export async function lead(client: KubeClient, namespace: string, name: string): Promise<void> {
  const ending = new AbortController();
  await new Lease({ namespace, name, identity: "one", client, log: silentLog }).run(ending.signal, {
    begin: () => ending.abort(),
    end: async () => undefined,
  });
}

/** Record an event that happens twice. */
export async function recordTwice(client: KubeClient, object: Thing): Promise<void> {
  const { namespace, name, uid } = object.metadata;
  const events = new EventRecorder({ client, log: silentLog, instance: "one" });
  for (let times = 0; times < 2; times++)
    events.record(
      "test",
      hostedCluster,
      { metadata: { namespace, name, uid } },
      {
        type: "Normal",
        reason: "Tested",
        action: "Test",
        note: "An event of a test.",
      },
    );
  await events.flush();
}

/** Fill a cache of each kind that a process watches, as where the API server does not stream lists. */
export async function fillByPages(
  client: KubeClient,
  runtime: Runtime | undefined,
  namespace?: string,
): Promise<void> {
  const ending = new AbortController();
  for (const { kind } of runtime?.caches.all() ?? []) {
    const cache = new WatchCache({ client, kind, namespace, log: silentLog, pagedList: true });
    void cache.run(ending.signal);
    await cache.filled;
  }
  ending.abort();
}

/** Create an object, read it before a watch has it, and delete it. */
export async function readOwnWrite<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
): Promise<void> {
  const { signal } = new AbortController();
  const notFilled = new WatchCache({ client, kind, log: silentLog });
  const own = new OwnObjects(notFilled, client, "test");
  await own.create(object, signal);
  const found = await own.get(object.metadata, signal);
  if (found === undefined) throw new Error(`there is no ${kind.kind}`);
  await own.remove(found, signal);
}

/** Write nothing new into a status, and read the object before a watch has that. */
export async function readOwnStatus<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { metadata: { namespace, name } }: Thing,
): Promise<void> {
  const { signal } = new AbortController();
  const own = new OwnObjects(new WatchCache({ client, kind, log: silentLog }), client, "test");
  const object = { metadata: { namespace, name } };
  await own.change(object as T, { status: {} }, signal, "status");
  await own.get(object.metadata, signal);
}

/** Write nothing new into an object, and read it before a watch has that. */
export async function readOwnChange<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { metadata: { namespace, name } }: Thing,
): Promise<void> {
  const { signal } = new AbortController();
  const own = new OwnObjects(new WatchCache({ client, kind, log: silentLog }), client, "test");
  const object = { metadata: { namespace, name } };
  await own.change(object as T, { metadata: {} }, signal);
  await own.get(object.metadata, signal);
}

/** What the operator of a whole cluster does beside its controllers; gives the events that the dashboard shows. */
export async function besideControllers(
  { azure, clock, get }: HostedWorld,
  client: KubeClient,
  object: Thing,
): Promise<string[]> {
  const signal = AbortSignal.timeout(30_000);
  await installationOf(client, { log: silentLog, clock }).read(signal);
  await recordTwice(client, object);
  const { namespace, name } = object.metadata;
  const within = `${namespace}-${name}`;
  const plane = await get("HostedControlPlane", within, name);
  const link = await get("AzurePrivateLinkService", within, "private-router");
  if (!plane || !link) throw new Error(`${name} has no control plane or no link`);
  await readOwnStatus(client, hostedCluster, object);
  await readOwnStatus(client, hostedControlPlane, plane);
  await readOwnStatus(client, azurePrivateLinkService, link);
  const cloud = customCloud({ resourceManager: azure.simulator.url });
  const caller = { priority: "drift", signal, mayWrite: () => false, id: "dashboard" } as const;
  const arm = new Arm({ cloud, credential: azure.operator, clock }).for(caller);
  const page = await clusterPage(
    {
      kube: () => client,
      runtime: () => undefined,
      journal: () => new Journal(),
      budgets: () => [],
      gather: (zones) => gather({ kube: client, arm, signal, zones }),
    },
    `${namespace}/${name}`,
  );
  return page?.events.map(({ reason }) => reason) ?? [];
}
