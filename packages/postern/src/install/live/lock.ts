import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { type Clock, dateBy } from "@postern/core/clock.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { CommandFailure } from "../../cli/command-failure.ts";
import type { KubeClient } from "../../kube/client.ts";
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

/** Do something while no other command installs, upgrades or uninstalls in the same namespace. */
export async function withLock<T>(
  kube: KubeClient,
  namespace: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const identity = `${userInfo().username}@${hostname()}_${randomBytes(4).toString("hex")}`;
  const place = { kind: leaseKind, namespace, name: lockName };
  const found = await kube.get<LeaseObject>(place, signal);
  const holder = found && holderOf(found, clock);
  if (holder !== undefined) throw inUse(namespace, holder);
  const now = micro(dateBy(clock));
  const lease: LeaseObject = {
    metadata: {
      name: lockName,
      namespace,
      ...(found?.metadata.resourceVersion && { resourceVersion: found.metadata.resourceVersion }),
    },
    spec: { holderIdentity: identity, leaseDurationSeconds: lockSeconds, renewTime: now },
  };
  try {
    await (found ? kube.replace(leaseKind, lease, signal) : kube.create(leaseKind, lease, signal));
  } catch (error) {
    if (error instanceof KubeError && error.status === 409) throw inUse(namespace, "another user");
    throw error;
  }
  try {
    return await work();
  } finally {
    await kube.remove(place).catch(() => undefined);
  }
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
