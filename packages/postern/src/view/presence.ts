import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import type { KubeClient } from "../kube/client.ts";
import { type LeaseObject, leaseKind } from "../kube/lease.ts";

/** client-go's default, where a Lease does not say how long it lasts. */
const defaultSeconds = 15;

/** The Leases of operators, one for each role. */
export async function operatorLeases(
  kube: KubeClient,
  signal: AbortSignal,
): Promise<LeaseObject[]> {
  const found: LeaseObject[] = [];
  for await (const { items } of kube.list<LeaseObject>(leaseKind, { signal }))
    found.push(...items.filter(({ metadata }) => metadata.name.startsWith("postern-")));
  return found;
}

/** Whether somebody holds a Lease and has renewed it in time. */
export function isHeld({ spec }: LeaseObject, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(spec?.renewTime ?? "");
  return (
    Boolean(spec?.holderIdentity) && ageMs < (spec?.leaseDurationSeconds ?? defaultSeconds) * 1000
  );
}

/** Whether an operator runs, by the Leases. Where there is none, nothing is known. */
export function presenceByLeases(leases: readonly LeaseObject[], now: Date): OperatorPresence {
  const held = leases.find((lease) => isHeld(lease, now));
  if (held) return { state: "leads", holder: held.spec?.holderIdentity ?? "" };
  const [last] = leases.toSorted((a, b) => renewedAt(b) - renewedAt(a));
  if (last === undefined) return { state: "unknown" };
  const { holderIdentity, renewTime } = last.spec ?? {};
  return {
    state: "lost",
    ...(holderIdentity && { holder: holderIdentity }),
    ...(renewTime && { since: renewTime }),
  };
}

function renewedAt({ spec }: LeaseObject): number {
  return Date.parse(spec?.renewTime ?? "") || 0;
}
