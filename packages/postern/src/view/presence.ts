import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import { byAge, keyOf } from "@postern/core/kind.ts";
import {
  type ClusterRoleBinding,
  clusterRoleBinding,
  serviceAccount,
} from "@postern/core/kinds/core.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { type LeaseObject, leaseKind, leaseNames } from "../kube/lease.ts";

/** client-go's default, where a Lease does not say how long it lasts. */
const defaultSeconds = 15;

/** It names the ServiceAccount of every process of an installation. No tenant can write it. */
const accountsBinding = "postern-token-review";

/** The ServiceAccounts of the installed operator; undefined where there is no binding that says so, or none may be read. */
export async function operatorAccounts(
  kube: KubeClient,
  signal: AbortSignal,
): Promise<{ namespace: string; name: string }[] | undefined> {
  const binding = await kube
    .get<ClusterRoleBinding>({ kind: clusterRoleBinding, name: accountsBinding }, signal)
    .catch((error: unknown) => {
      if (!(error instanceof KubeError) || error.status !== 403) throw error;
      return undefined;
    });
  return binding?.subjects?.flatMap(({ kind, namespace, name }) =>
    kind === serviceAccount.kind && namespace !== undefined ? { namespace, name } : [],
  );
}

/**
 * The Leases of operators, one for each role. A ServiceAccount leads by the Lease of its own name and namespace. Where it is not
 * known which these are, the oldest Lease of a name counts: a tenant can create one of that name in a namespace of its own.
 */
export async function operatorLeases(
  kube: KubeClient,
  signal: AbortSignal,
): Promise<LeaseObject[]> {
  const accounts = await operatorAccounts(kube, signal);
  const found: LeaseObject[] = [];
  const names = new Set<string>(Object.values(leaseNames));
  for await (const { items } of kube.list<LeaseObject>(leaseKind, { signal }))
    found.push(...items.filter(({ metadata }) => names.has(metadata.name)));
  if (accounts === undefined)
    return [...Map.groupBy(found, ({ metadata }) => metadata.name).values()].flatMap(
      (each) => each.toSorted(byAge)[0] ?? [],
    );
  const own = new Set(accounts.map((metadata) => keyOf({ metadata })));
  return found.filter((each) => own.has(keyOf(each)));
}

/** Whether somebody holds a Lease and has renewed it in time; a time in the future is not one. Clocks may differ a little. */
export function isHeld({ spec }: LeaseObject, now: Date): boolean {
  const ageMs = Math.abs(now.getTime() - Date.parse(spec?.renewTime ?? ""));
  return (
    Boolean(spec?.holderIdentity) && ageMs < (spec?.leaseDurationSeconds ?? defaultSeconds) * 1000
  );
}

/** Whether an operator runs, by the Lease of each role. Where there is none, nothing is known. */
export function presenceByLeases(leases: readonly LeaseObject[], now: Date): OperatorPresence {
  const of = (name: string) => leases.filter(({ metadata }) => metadata.name === name);
  const main = of(leaseNames.all);
  const clusterApi = of(leaseNames["cluster-api"]);
  if (main.length === 0 || clusterApi.length === 0)
    return presenceOf([...main, ...clusterApi], now);
  return { ...presenceOf(main, now), clusterApi: presenceOf(clusterApi, now) };
}

function presenceOf([lease]: readonly LeaseObject[], now: Date): OperatorPresence {
  if (lease === undefined) return { state: "unknown" };
  const { holderIdentity, renewTime } = lease.spec ?? {};
  if (isHeld(lease, now)) return { state: "leads", holder: holderIdentity ?? "" };
  return {
    state: "lost",
    ...(holderIdentity && { holder: holderIdentity }),
    ...(renewTime && { since: renewTime }),
  };
}
