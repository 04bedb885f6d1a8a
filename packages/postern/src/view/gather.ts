import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import type { OperatorPresence, Unread } from "@postern/core/dashboard/picture.ts";
import { isExplained } from "@postern/core/failure.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { idKey, subscriptionId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../azure/arm.ts";
import type { ResourceGateway } from "../azure/gateway.ts";
import { loadBalancers } from "../azure/gateways/load-balancers.ts";
import { networkInterfaces } from "../azure/gateways/network-interfaces.ts";
import {
  type PrivateDnsZone,
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { privateEndpoints } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../azure/gateways/private-link-services.ts";
import { virtualNetworks } from "../azure/gateways/virtual-networks.ts";
import { isMisplaced } from "../hosted/tenancy.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { groupsIn, subscriptionsIn } from "./places.ts";
import type { Refusals } from "./refusals.ts";
import { neededKinds, unservedKind } from "./unserved-kinds.ts";
import type { AzureWorld, KubeWorld, World, Zone } from "./world.ts";

export interface GatherOptions {
  kube: KubeClient;
  arm: ArmClient;
  signal: AbortSignal;
  /** Subscriptions to list beside those that objects name. */
  subscriptions?: readonly string[];
  /** How old a list may be that is used again. */
  maxAgeMs?: number;
  /** The zones whose records are read; all where nothing is said. */
  zones?: (zone: PrivateDnsZone, kube: KubeWorld) => boolean;
  /** The AzureCluster of the management cluster, as far as the caller knows: then their kind is needed. */
  management?: string | undefined;
  /** Whether an operator runs, where the caller knows. */
  operator?: OperatorPresence | undefined;
  clock?: Clock;
  /** What was refused before; nothing is remembered where it is left out. */
  refusals?: Refusals;
}

/** Read both sides once. What may not be read is noted, and the rest is read all the same. */
export async function gather(options: GatherOptions): Promise<World> {
  const unread: Unread[] = [];
  const { clock = realClock, operator, management } = options;
  // A list that was read before makes the whole as old as that.
  const read = { oldest: clock.now() };
  const kube = await gatherKube(options, unread);
  const azure = await gatherAzure(options, kube, { unread, read });
  const ageMs = clock.now() - read.oldest;
  const observedAt = new Date(dateBy(clock).getTime() - ageMs).toISOString();
  return {
    ...{ kube, azure, observedAt, unread },
    ...(operator && { operator }),
    ...(management !== undefined && { management }),
  };
}

/** The objects that Postern serves. A kind that is needed and is not served is noted as not read. */
export async function gatherKube(
  { kube, signal, management }: Pick<GatherOptions, "kube" | "signal" | "management">,
  unread: Unread[],
): Promise<KubeWorld> {
  const unserved = new Set<Definition>();
  const all = async <T extends KubeObject>(kind: Definition & Kind<T>): Promise<T[]> => {
    const found: T[] = [];
    try {
      for await (const { items } of kube.list<T>(kind, { signal })) found.push(...items);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) {
        unserved.add(kind);
        return [];
      }
      if (!(error instanceof KubeError) || error.status !== 403) throw error;
      unread.push({ what: kind.plural, why: error.explain().message, type: kind.plural });
    }
    return found;
  };
  const [hostedClusters, controlPlanes, links, azureClusters] = await Promise.all([
    all(hostedCluster),
    all(hostedControlPlane),
    all(azurePrivateLinkService),
    all(azureCluster),
  ]);
  const hasHosted = hostedClusters.length + controlPlanes.length + links.length > 0;
  const hasClusterApi = management !== undefined;
  unread.push(...neededKinds(unserved, { hasHosted, hasClusterApi }).map(unservedKind));
  // Whoever has a namespace can write the name of another's cluster on an object.
  const placed = <T extends KubeObject>(objects: T[]) =>
    objects.filter((each) => !isMisplaced(each));
  return {
    hostedClusters,
    controlPlanes: placed(controlPlanes),
    links: placed(links),
    azureClusters,
  };
}

async function gatherAzure(
  options: GatherOptions,
  kube: KubeWorld,
  { unread, read }: { unread: Unread[]; read: { oldest: number } },
): Promise<AzureWorld> {
  const { arm, maxAgeMs = 0, zones: wanted = () => true, refusals } = options;
  const groups = groupsIn(kube);
  const subscriptions = subscriptionsIn(kube, options.subscriptions ?? []);

  const list = async <T extends { id?: string }>(gateway: ResourceGateway<T>, scope: string) => {
    const found = await gateway.list(scope, maxAgeMs);
    read.oldest = Math.min(read.oldest, gateway.listedAt(scope) ?? read.oldest);
    return found;
  };

  /** By subscription, which is one list however many clusters there are; by group where only that may be read. */
  const all = async <T extends { id?: string }>(
    gateway: ResourceGateway<T>,
    what: string,
  ): Promise<T[]> => {
    const lists = subscriptions.map(async (subscription) => {
      const ask = (scope: string) =>
        unlessRefused(() => list(gateway, scope), `${what} in ${scope}`, refusals);
      const whole = await ask(subscriptionId(subscription));
      if (!("why" in whole)) return whole;
      const within = groups.filter((group) =>
        idKey(group).startsWith(idKey(subscriptionId(subscription))),
      );
      const parts = await Promise.all(
        within.map(async (group) => {
          const part = await ask(group);
          if (!("why" in part)) return part;
          unread.push(unreadIn(what, group, part.why));
          return [];
        }),
      );
      if (within.length === 0) unread.push(unreadIn(what, subscription, whole.why));
      return parts.flat();
    });
    return (await Promise.all(lists)).flat();
  };

  const [networks, balancers, linkServices, endpoints, interfaces, zones] = await Promise.all([
    all(virtualNetworks(arm), "networks"),
    all(loadBalancers(arm), "load balancers"),
    all(privateLinkServices(arm), "link services"),
    all(privateEndpoints(arm), "endpoints"),
    all(networkInterfaces(arm), "network interfaces"),
    all(privateDnsZones(arm), "private zones"),
  ]);
  const inZone = async <T extends { id?: string }>(
    gateway: ResourceGateway<T>,
    id: string,
    what: string,
  ) => {
    const name = `${what} in ${id}`;
    const found = await unlessRefused(() => list(gateway, id), name, refusals);
    if (!("why" in found)) return found;
    unread.push(unreadIn(what, id, found.why));
    return [];
  };
  const full = zones
    .filter((zone) => wanted(zone, kube))
    .map(async (zone): Promise<Zone> => {
      const id = zone.id ?? "";
      const [links, records] = await Promise.all([
        inZone(virtualNetworkLinks(arm), id, "links"),
        inZone(privateRecordSets(arm), id, "records"),
      ]);
      return { zone, links, records };
    });
  return {
    networks,
    loadBalancers: balancers,
    linkServices,
    endpoints,
    interfaces,
    zones: await Promise.all(full),
    unopened: zones.filter((zone) => !wanted(zone, kube)).flatMap(({ id }) => id ?? []),
  };
}

/** Resources of one type that could not be read in one place. */
export function unreadIn(type: string, scope: string, why: string): Unread {
  return { what: `${type} in ${scope}`, why, type, scope };
}

/** A list, or why it was refused or nobody is there to ask for it. Anything else that goes wrong is an error of the whole. */
export async function unlessRefused<T>(
  list: () => Promise<T[]>,
  what: string,
  refusals?: Refusals,
): Promise<T[] | { why: string }> {
  const before = refusals?.of(what);
  if (before !== undefined) return { why: before };
  try {
    return await list();
  } catch (error) {
    if (!isExplained(error)) throw error;
    const { kind, reason, message } = error.explain();
    const isMissing = reason === "CredentialMissing";
    if (kind !== "forbidden" && !isMissing) throw error;
    // A credential may be there any moment; a role that is given counts in Azure after some minutes as well.
    if (!isMissing) refusals?.keep(what, message);
    return { why: message };
  }
}
