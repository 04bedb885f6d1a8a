import { isDeepStrictEqual } from "node:util";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { Json, JsonObject } from "@postern/azure-simulator/state/store.ts";
import type { Wish } from "./clusters.ts";
import { groupOf } from "./deploy.ts";
import type { Fleet } from "./fleet.ts";
import type { Kube } from "./kube.ts";
import type { KubernetesProxy, LeaseWrite } from "./kubernetes-proxy.ts";
import type { Claim } from "./observer.ts";
import {
  applianceNames,
  groups,
  hostedSlots,
  machineInterface,
  network,
  poolId,
  posternPrefix,
} from "./places.ts";

/** A write of a process of Postern, to Azure or to Kubernetes. */
export interface Write {
  at: number;
  by: string;
  what: string;
}

/** Every write of Postern since a time, in order. */
export function writesOf(simulator: Simulator, proxy: KubernetesProxy, since = 0): Write[] {
  const azure = simulator.log
    .entries({ notBefore: since })
    .filter(
      ({ method, identity, path }) =>
        !["GET", "HEAD"].includes(method) &&
        (identity.startsWith(posternPrefix) ||
          path.toLowerCase().startsWith(`${groups.appliances.toLowerCase()}/`)),
    )
    .map(({ at, userAgent = "", method, path, status }) => ({
      at,
      by: nameIn(userAgent),
      what: `${method} ${path} ${status}`,
    }));
  const kubernetes = proxy.writes
    .filter(({ at, path }) => at >= since && !changesNothing.test(path))
    .map(({ at, by, method, path, status }) => ({
      at,
      by: nameIn(by),
      what: `${method} ${path} ${status}`,
    }));
  return [...azure, ...kubernetes].sort((a, b) => a.at - b.at);
}

/** Questions that are asked by POST. */
const changesNothing = /\/(token|selfsubjectreviews|selfsubjectaccessreviews)$/;

function nameIn(userAgent: string): string {
  return userAgent.replace(/^postern\//, "").split(" ")[0] ?? "";
}

/**
 * Writes of a process that no longer led: after the first write of another, a process writes only when it has taken the Lease
 * again.
 */
export function writesOfTwo(writes: readonly Write[], held: readonly LeaseWrite[]): string[] {
  const found: string[] = [];
  const leases = Map.groupBy(
    held.filter(({ holder }) => holder !== ""),
    ({ holder }) => groupOf(holderName(holder)),
  );
  for (const [group, all] of leases) {
    const terms = all
      .map(({ at, holder }) => ({ at, name: holderName(holder) }))
      .filter(({ name }, n, list) => n === 0 || list[n - 1]?.name !== name);
    let term = 0;
    for (const { at, by, what } of writes) {
      if (groupOf(by) !== group) continue;
      const next = terms.findIndex(
        (each, n) => n >= term && each.name === by && each.at <= at + 20,
      );
      if (next < 0)
        found.push(
          `${by} wrote at ${timeOf(at)} and ${terms[term]?.name} had taken over at ${timeOf(terms[term]?.at ?? 0)}: ${what}`,
        );
      else term = next;
    }
  }
  return found;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

/** The name of the process in the identity of a Lease. */
export function holderName(holder: string): string {
  return holder.replace(/_[0-9a-f]+$/, "");
}

/** What is not as people want it, of clusters. */
export function unfulfilled(wishes: Iterable<Wish>, claims: readonly Claim[]): string[] {
  return [...wishes].flatMap((wish) => {
    const claim = claims.find(({ name }) => name === wish.name);
    if (!wish.wanted) return claim ? [`${wish.name} was deleted and is still there`] : [];
    if (!claim) return [`${wish.name} is not there`];
    if (claim.deleting) return [`${wish.name} is being deleted and nobody asked for it`];
    if (!claim.available)
      return [`${wish.name} is not Available${claim.broken ? ` (${claim.broken})` : ""}`];
    return claim.broken === undefined
      ? []
      : [`${wish.name} is Available and cannot be reached: ${claim.broken}`];
  });
}

/** The kinds of all objects that belong to clusters. */
export const kinds = [
  "HostedCluster",
  "HostedControlPlane",
  "AzurePrivateLinkService",
  "AzureCluster",
  "Cluster",
  "KubeadmControlPlane",
  "Service",
  "Namespace",
];

/** Objects that are being deleted and are not gone. */
export async function stuck(kube: Kube): Promise<string[]> {
  const lists = await Promise.all(kinds.map((kind) => kube.list(kind)));
  return lists.flat().flatMap(({ kind, metadata }) => {
    const { deletionTimestamp, namespace, name, finalizers = [] } = metadata;
    if (deletionTimestamp === undefined) return [];
    return [
      `${kind} ${namespace ? `${namespace}/` : ""}${name} is being deleted (${finalizers.join(", ")})`,
    ];
  });
}

/** What is in Azure and should not be: of no cluster that is wanted, not of the world, and not of others. */
export function orphans(
  simulator: Simulator,
  baseline: ReadonlySet<string>,
  strangers: ReadonlyMap<string, JsonObject>,
  wishes: Iterable<Wish>,
): string[] {
  const wanted = [...wishes].filter((wish) => wish.wanted);
  const allowed = [always, ...wanted.map(allowedOf)];
  if (wanted.some(({ kind }) => kind === "hosted")) allowed.push(sharedNat);
  return (
    [...simulator.store.all()]
      .map(({ key }) => key)
      // A zone has it as long as there is the zone.
      .filter((key) => !key.endsWith("/soa/@"))
      .filter(
        (key) =>
          !baseline.has(key) && !strangers.has(key) && !allowed.some((each) => each.test(key)),
      )
  );
}

const inManagement = `^${groups.management}/${network}`.toLowerCase();
/** The load balancers of the cloud provider, and the link of the management cluster of Cluster API with all that it has. */
const always = new RegExp(
  `${inManagement}/(loadbalancers|publicipaddresses)/kubernetes|^${groups.mc}/${network}/(privatelinkservices|networkinterfaces)/mc-gateway-privatelink`.toLowerCase(),
);
const sharedNat = new RegExp(`${inManagement}/virtualnetworks/management/subnets/postern-`);

function allowedOf({ name, kind, clusterID = "" }: Wish): RegExp {
  const slot = hostedSlots.find((each) => each.name === name);
  if (kind === "hosted" && slot) {
    const own = `${groups[slot.group]}/${network}`;
    const zones = `(${name}.hypershift.local|${slot.baseDomain})`;
    return new RegExp(
      [
        `${inManagement}/(privatelinkservices|networkinterfaces)/pls-[^/]*${clusterID}`,
        `^${own}/(privateendpoints|networkinterfaces)/(private-router|oauth-openshift)-pe(\\.|-${clusterID}|$)`,
        `^${own}/privatednszones/${zones}(/|$)`,
      ]
        .join("|")
        .toLowerCase(),
    );
  }
  const own = `${groups[name as "amber"]}/${network}`;
  const management = `${groups.mc}/${network}`;
  return new RegExp(
    [
      `^${own}/(privatelinkservices|networkinterfaces)/${name}-api-privatelink`,
      `^${own}/(privateendpoints|networkinterfaces)/${name}-to-mc-`,
      `^${own}/(privatednszones|dnszones)/`,
      `^${management}/(privateendpoints|networkinterfaces)/${name}-api-privatelink-`,
      `^${management}/privatednszones/${name}\\.`,
      `^${groups.dns}/${network}/dnszones/[^/]+/ns/${name}$`,
    ]
      .join("|")
      .toLowerCase(),
  );
}

/** What others made and what is not there any more, or not as they made it. */
export function harmed(simulator: Simulator, strangers: ReadonlyMap<string, JsonObject>): string[] {
  return [...strangers].flatMap(([id, body]) => {
    const found = simulator.store.get(id);
    if (!found) return [`${id} is another's, and is gone`];
    const now = { ...found.top, properties: found.properties } as JsonObject;
    return contains(now, body) ? [] : [`${id} is another's, and was changed`];
  });
}

function contains(value: Json | undefined, part: Json): boolean {
  if (Array.isArray(part))
    return Array.isArray(value) && part.every((each, n) => contains(value[n], each));
  if (typeof part !== "object" || part === null) return isDeepStrictEqual(value, part);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(part).every(
    ([name, each]) => each === undefined || contains(value[name], each),
  );
}

/** Machines whose agent runs and that are not in the pool. */
export function outside(simulator: Simulator): string[] {
  return applianceNames.flatMap((name) => {
    const interfaceText = JSON.stringify(
      simulator.store.get(machineInterface(name))?.properties ?? {},
    );
    const address = /"privateIPAddress":"([^"]+)"/.exec(interfaceText)?.[1] ?? "none";
    const poolText = JSON.stringify(simulator.store.get(poolId)?.properties ?? {});
    const balancer = JSON.stringify(
      simulator.store.get(poolId.split("/backendAddressPools")[0] ?? "")?.properties ?? {},
    );
    const joined =
      interfaceText.toLowerCase().includes(poolId.toLowerCase()) ||
      [poolText, balancer].some((text) => text.includes(`"${address}"`));
    return joined ? [] : [`${name} is not in its pool`];
  });
}

/** How much more a process may use at the end than when it led first: heaps grow, and sockets are kept for the next request. */
export const growth = { rssMB: 80, descriptors: 96 };

/** Processes that use more and more. */
export function grown(fleet: Fleet): string[] {
  return fleet.usage().flatMap(({ name, first, now }) => {
    const found: string[] = [];
    if (now.rssMB > first.rssMB + growth.rssMB)
      found.push(`${name} grew from ${first.rssMB.toFixed(0)} to ${now.rssMB.toFixed(0)} MB`);
    if (now.descriptors > first.descriptors + growth.descriptors)
      found.push(`${name} went from ${first.descriptors} to ${now.descriptors} descriptors`);
    return found;
  });
}
