import { isExplained } from "@postern/core/failure.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { type PrivateAccess, privateAccess } from "@postern/core/kinds/private-access.ts";
import { whyNamesUnusable } from "../../dns-names.ts";
import { topologyReasons } from "../reasons.ts";
import { type Publishing, publishingOf } from "./publishing.ts";

/** Something that only the owner of a cluster can put right. */
export interface Problem {
  reason: string;
  /** What · why · what to do. */
  message: string;
}

/** A cluster as it is understood, or why it cannot be. */
export type Checked =
  | {
      ok: true;
      access: PrivateAccess;
      publishing: Publishing;
      /** A cluster with this is not created; an existing one is still reconciled. */
      unusable?: Problem;
      warning?: Problem;
    }
  | { ok: false; problem: Problem };

type Azure = NonNullable<HostedCluster["spec"]["platform"]["azure"]>;

/**
 * The rules of the schema once more: the CRD may be HyperShift's, which has other rules, or an old one.
 * What the schema of every version lets through but cannot work is a warning: nothing else stops because of it.
 */
export function check(cluster: HostedCluster): Checked {
  const { azure } = cluster.spec.platform;
  if (azure === undefined)
    return refused(
      topologyReasons.azureMissing,
      "nothing is created for this cluster · its platform is Azure but spec.platform.azure is missing · add it",
    );
  let access: PrivateAccess;
  try {
    access = privateAccess(azure);
  } catch (error) {
    if (!isExplained(error)) throw error;
    const { reason, message } = error.explain();
    return { ok: false, problem: { reason, message } };
  }
  const publishing = publishingOf(cluster.spec.services, access);
  const problem = inAccess(azure, access) ?? inPublishing(cluster, azure);
  if (problem) return { ok: false, problem };
  const warning = unreachable(access, publishing);
  const names = access.type === "PrivateLink" ? whyNamesUnusable(cluster) : undefined;
  return {
    ok: true,
    access,
    publishing,
    ...(names && { unusable: { reason: topologyReasons.nameUnusable, message: names } }),
    ...(warning && { warning }),
  };
}

function inAccess(azure: Azure, access: PrivateAccess): Problem | undefined {
  const settings = azure.private;
  if (settings !== undefined && !access.reachablePrivately)
    return {
      reason: topologyReasons.privateForbidden,
      message: `spec.platform.azure.private is set · topology ${access.topology} has no private access · remove it, or set topology to PublicAndPrivate or Private`,
    };
  const other = settings?.type === "PrivateLink" ? "swift" : "privateLink";
  if (settings?.[other] !== undefined)
    return {
      reason: topologyReasons.privateMismatch,
      message: `spec.platform.azure.private.${other} is set · its type is ${settings.type} · remove it, or change the type`,
    };
  if (access.type === "PrivateLink" && azure.cloud === "AzureStackCloud")
    return {
      reason: topologyReasons.cloudNotSupported,
      message:
        "nothing is created for this cluster · spec.platform.azure.cloud is AzureStackCloud, which has no private link services · create the cluster in another cloud, or with topology Public",
    };
  const { azureAuthenticationConfig: authentication } = azure;
  const needsIdentity =
    access.type === "PrivateLink" &&
    authentication?.azureAuthenticationConfigType === "WorkloadIdentities";
  if (needsIdentity && authentication.workloadIdentities?.controlPlaneOperator === undefined)
    return {
      reason: topologyReasons.identityMissing,
      message:
        "the endpoint cannot be created · spec.platform.azure.azureAuthenticationConfig.workloadIdentities.controlPlaneOperator is missing · add it with its clientID",
    };
  return undefined;
}

function inPublishing(cluster: HostedCluster, azure: Azure): Problem | undefined {
  const ownIdentities =
    azure.azureAuthenticationConfig?.azureAuthenticationConfigType === "WorkloadIdentities";
  const allowed: Record<string, readonly string[]> = {
    APIServer: ["Route", "LoadBalancer"],
    OAuthServer: ownIdentities ? ["Route", "LoadBalancer"] : ["Route"],
    Konnectivity: ["Route"],
    Ignition: ["Route"],
  };
  for (const { service, servicePublishingStrategy } of cluster.spec.services ?? []) {
    const types = allowed[service];
    if (types === undefined || types.includes(servicePublishingStrategy.type)) continue;
    return {
      reason: topologyReasons.strategy,
      message: `${service} is published as ${servicePublishingStrategy.type} · on Azure it must be ${types.join(" or ")} · create the cluster with that type`,
    };
  }
  return undefined;
}

/**
 * The workers of a private cluster ask for the API server at port 6443 where a load balancer publishes it, and the
 * link serves 443 only: port 6443 of the load balancer is the management cluster's own.
 */
export function unreachable(access: PrivateAccess, { apiServer }: Publishing): Problem | undefined {
  if (access.type !== "PrivateLink" || apiServer.type !== "LoadBalancer") return undefined;
  return {
    reason: topologyReasons.apiServer,
    message:
      "workers cannot reach the API server through the private link · APIServer is published as LoadBalancer, on a port that the link does not serve · create the cluster with APIServer published as Route",
  };
}

function refused(reason: string, message: string): Checked {
  return { ok: false, problem: { reason, message } };
}
