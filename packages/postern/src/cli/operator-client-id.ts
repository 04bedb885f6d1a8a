import {
  type ClusterRoleBinding,
  clusterRoleBinding,
  serviceAccount,
} from "@postern/core/kinds/core.ts";
import { KubeError } from "../kube/errors.ts";
import type { Session } from "./session.ts";

/** What client ids and object ids of Entra look like. */
export const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const annotation = "azure.workload.identity/client-id";
/** The bindings of an operator's ServiceAccount; which of them exist depends on the roles of the installation. */
const bindings = ["postern-operator", "postern-management", "postern-cluster-api"];

/**
 * The client id on the ServiceAccount of the installed operator. Which ServiceAccount that is, only bindings for the whole cluster
 * prove: a tenant can create one of the same name and labels in a namespace of its own.
 */
export async function operatorClientId({
  kube,
  signal,
}: Pick<Session, "kube" | "signal">): Promise<string | undefined> {
  try {
    for (const name of bindings) {
      const binding = await kube.get<ClusterRoleBinding>(
        { kind: clusterRoleBinding, name },
        signal,
      );
      for (const { kind, namespace, name } of binding?.subjects ?? []) {
        if (kind !== serviceAccount.kind || namespace === undefined) continue;
        const account = await kube.getMetadata({ kind: serviceAccount, namespace, name }, signal);
        const id = account?.metadata.annotations?.[annotation];
        if (id !== undefined && guid.test(id)) return id;
      }
    }
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  return undefined;
}
