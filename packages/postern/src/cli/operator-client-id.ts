import { whyUnfit } from "@postern/core/forms.ts";
import { serviceAccount } from "@postern/core/kinds/core.ts";
import { KubeError } from "../kube/errors.ts";
import { leaseNames } from "../kube/lease.ts";
import { operatorAccounts } from "../view/presence.ts";
import type { Session } from "./session.ts";

const annotation = "azure.workload.identity/client-id";

/**
 * The client id on the ServiceAccount of the installed operator. Which ServiceAccount that is, only a binding for the whole cluster
 * proves: a tenant can create one of the same name and labels in a namespace of its own.
 */
export async function operatorClientId({
  kube,
  signal,
}: Pick<Session, "kube" | "signal">): Promise<string | undefined> {
  try {
    for (const { namespace, name } of (await operatorAccounts(kube, signal)) ?? []) {
      // That of a control plane acts in the subscription of its cluster only.
      if (name === leaseNames["control-plane"]) continue;
      const account = await kube.getMetadata({ kind: serviceAccount, namespace, name }, signal);
      const id = account?.metadata.annotations?.[annotation];
      if (id !== undefined && whyUnfit(id, "guid") === undefined) return id;
    }
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  return undefined;
}
