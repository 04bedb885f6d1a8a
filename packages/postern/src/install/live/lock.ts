import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { type Clock, dateBy, wait } from "@postern/core/clock.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { CommandFailure } from "../../cli/command-failure.ts";
import { type KubeClient, pathOf } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import { micro } from "../../kube/events.ts";
import { leaseKind } from "../../kube/lease.ts";

const lockName = "postern-install";
/** How long a command that was killed keeps others from beginning. */
const lockSeconds = 120;

interface LeaseObject extends KubeObject {
  spec?: {
    holderIdentity?: string | null;
    renewTime?: string | null;
    leaseDurationSeconds?: number;
  };
}

/** Do something while no other command installs, upgrades or uninstalls in the same namespace. The signal of the work is aborted where another took the lock over. */
export async function withLock<T>(
  kube: KubeClient,
  namespace: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lease = await acquire(kube, namespace, clock, signal);
  const ended = new AbortController();
  const lost = new AbortController();
  const renewal = renewUntil(ended.signal, { kube, lease, clock }).catch((error) => {
    lost.abort(error);
    return undefined;
  });
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } catch (error) {
    lost.signal.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
    await remove(kube, await renewal);
  }
}

async function acquire(
  kube: KubeClient,
  namespace: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<LeaseObject> {
  const identity = `${userInfo().username}@${hostname()}_${randomBytes(4).toString("hex")}`;
  const found = await kube.get<LeaseObject>({ kind: leaseKind, namespace, name: lockName }, signal);
  const holder = found && holderOf(found, clock);
  if (holder !== undefined) throw inUse(namespace, holder);
  const lease: LeaseObject = {
    metadata: {
      name: lockName,
      namespace,
      ...(found?.metadata.resourceVersion && { resourceVersion: found.metadata.resourceVersion }),
    },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: lockSeconds,
      renewTime: micro(dateBy(clock)),
    },
  };
  try {
    return await (found
      ? kube.replace(leaseKind, lease, signal)
      : kube.create(leaseKind, lease, signal));
  } catch (error) {
    if (error instanceof KubeError && error.status === 409) throw inUse(namespace, "another user");
    throw error;
  }
}

/** Renew the lock until the work has ended, and return the Lease as it is then ours. Fails as soon as the lock is lost. */
async function renewUntil(
  ended: AbortSignal,
  { kube, lease, clock }: { kube: KubeClient; lease: LeaseObject; clock: Clock },
): Promise<LeaseObject> {
  let last = lease;
  let renewedAt = clock.now();
  for (;;) {
    await wait(clock, (lockSeconds * 1_000) / 4, ended).catch(() => undefined);
    if (ended.aborted) return last;
    try {
      const spec = { ...last.spec, renewTime: micro(dateBy(clock)) };
      last = await kube.replace(leaseKind, { ...last, spec });
      renewedAt = clock.now();
    } catch (error) {
      const taken = error instanceof KubeError && (error.status === 409 || error.status === 404);
      const found = taken ? await current(kube, lease).catch(() => undefined) : undefined;
      // A write whose answer was lost is sent twice, and conflicts with itself.
      if (found) last = found;
      else if (!taken && clock.now() < renewedAt + (lockSeconds * 1_000) / 2) continue;
      else throw lostLock(lease.metadata.namespace ?? "", taken);
    }
  }
}

/** The Lease as it is, where it is still ours. */
async function current(kube: KubeClient, lease: LeaseObject): Promise<LeaseObject | undefined> {
  const { namespace, name } = lease.metadata;
  const found = await kube.get<LeaseObject>({ kind: leaseKind, namespace, name });
  return found?.spec?.holderIdentity === lease.spec?.holderIdentity ? found : undefined;
}

/** Remove our lock, and no other that has taken its place. One that cannot be removed expires. */
async function remove(kube: KubeClient, lease: LeaseObject | undefined): Promise<void> {
  if (lease === undefined) return;
  const { namespace, name, uid, resourceVersion } = lease.metadata;
  const body = JSON.stringify({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid, resourceVersion },
  });
  await kube
    .request("DELETE", pathOf({ kind: leaseKind, namespace, name }), { body })
    .catch(() => undefined);
}

/** Who holds the lock; undefined where nobody does any more. */
function holderOf({ spec }: LeaseObject, clock: Clock): string | undefined {
  const renewed = Date.parse(spec?.renewTime ?? "");
  const endsAt = renewed + (spec?.leaseDurationSeconds ?? lockSeconds) * 1_000;
  return endsAt > dateBy(clock).getTime() ? (spec?.holderIdentity ?? undefined) : undefined;
}

function inUse(namespace: string, holder: string): CommandFailure {
  return new CommandFailure(
    `namespace ${namespace} is in use by another install, upgrade or uninstall · ${holder.replace(/_[0-9a-f]+$/, "")} runs it · wait until it ends; one that was killed is ignored after ${lockSeconds} s`,
  );
}

function lostLock(namespace: string, taken: boolean): CommandFailure {
  const why = taken
    ? "another install, upgrade or uninstall took the lock over"
    : "the lock could not be renewed";
  return new CommandFailure(
    `not everything is written in namespace ${namespace} · ${why} · run the same command again when no other runs: it completes what is missing`,
  );
}
