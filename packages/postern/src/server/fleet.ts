import { type Clock, dateBy } from "@postern/core/clock.ts";
import type { BudgetLine, Fleet } from "@postern/core/dashboard/fleet.ts";
import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import {
  type AzureClusterIdentity,
  azureClusterIdentity,
} from "@postern/core/kinds/azure-cluster-identity.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { Budgets } from "../azure/budget.ts";
import type { Journal } from "../kube/journal.ts";
import type { Runtime } from "../kube/runtime.ts";
import type { KubeWorld } from "../view/world.ts";

const recentMs = 10 * 60_000;
const mostNames = 10;

/** What the controllers of this process have to do now, and what Azure lets them do. */
export function fleetOf(given: {
  operator: OperatorPresence;
  runtime: Runtime | undefined;
  journal: Journal;
  budgets: ReturnType<Budgets["states"]>;
  kube: KubeWorld;
  clock: Clock;
  identityNames?: ReadonlyMap<string, string>;
}): Fleet {
  const { operator, runtime, journal, budgets, kube, clock } = given;
  const counts = (runtime?.controllers ?? []).map(({ queue }) => queue.counts());
  const steps = journal.steps();
  const since = dateBy(clock).getTime() - recentMs;
  const names = namesOfIdentities(kube, identitiesIn(runtime));
  return {
    operator,
    queued: counts.reduce((sum, { queued }) => sum + queued, 0),
    running: counts.reduce((sum, { running }) => sum + running, 0),
    errors: journal.failuresSince(since),
    operations: steps.filter(({ outcome }) => outcome === "running").length,
    budgets: budgets.map(
      ({ identity, subscription, reads, writes, deletes }): BudgetLine => ({
        name:
          shortList(names.get(clientOf(identity))) ??
          ownName(given.identityNames?.get(clientOf(identity))) ??
          shortName(identity),
        identity,
        subscription,
        reads,
        writes,
        deletes,
      }),
    ),
  };
}

/** The first names, and how many more there are: a tenant may have thousands of clusters. */
function shortList(names: ReadonlySet<string> | undefined): string | undefined {
  if (names === undefined) return undefined;
  const more = names.size - mostNames;
  const shown = [...names].slice(0, mostNames).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** An identity is `tenant/client`, or a word for that of this process. */
function clientOf(identity: string): string {
  return identity.slice(identity.indexOf("/") + 1).toLowerCase();
}

/** The same as the process's own identity, where it is named by its client id: Azure counts them together, and the process does not. */
function ownName(name: string | undefined): string | undefined {
  return name && `${name} (by client id)`;
}

/** The ids of a directory often begin alike, and end differently. */
function shortName(identity: string): string {
  const client = clientOf(identity);
  return client.length > 12 ? `…${client.slice(-12)}` : client;
}

function identitiesIn(runtime: Runtime | undefined): AzureClusterIdentity[] {
  const cache = runtime?.caches.all().find(({ kind }) => kind.kind === azureClusterIdentity.kind);
  return (cache?.list() ?? []) as AzureClusterIdentity[];
}

/** Who uses an identity, by its client id: clusters, or the AzureClusterIdentity. */
function namesOfIdentities(
  { hostedClusters }: KubeWorld,
  identities: readonly AzureClusterIdentity[],
): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  const add = (client: string, name: string) => {
    const key = client.toLowerCase();
    const known = names.get(key);
    if (known) known.add(name);
    else names.set(key, new Set([name]));
  };
  for (const each of identities)
    if (typeof each.spec.clientID === "string") add(each.spec.clientID, keyOf(each));
  for (const cluster of hostedClusters)
    for (const { role, client } of clientsOf(cluster))
      add(client, `${keyOf(cluster)} ${role}`.trim());
  return names;
}

/** The workload identities that a hosted cluster names, by their role. */
function clientsOf({ spec }: HostedCluster): { role: string; client: string }[] {
  const found: { role: string; client: string }[] = [];
  const collect = (value: unknown, role: string, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > 5) return;
    for (const [name, each] of Object.entries(value)) {
      if (/^client_?id$/i.test(name) && typeof each === "string")
        found.push({ role, client: each });
      else collect(each, name, depth + 1);
    }
  };
  collect(spec.platform?.azure?.azureAuthenticationConfig, "", 0);
  return found;
}
