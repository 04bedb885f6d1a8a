import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { isPauseReadable, type Pause, paused } from "@postern/core/pause.ts";
import { addressKey } from "../../../private-link/link-service/frontends.ts";
import { clusterAnnotation, linkServiceName } from "../../names.ts";
import { clusterKeyIn, isHomeOf } from "../../tenancy.ts";
import { reasons } from "../reasons.ts";
import { clusterSubscriptionOf } from "./subject.ts";
import type { Belonging } from "./verified-cluster.ts";

/** What is known of a link without asking Azure: either why nothing can be done, or what is desired. */
export type Known =
  | { is: "stopped"; reason: string; message: string }
  | { is: "paused"; pause: Pause & { paused: true } }
  | {
      is: "desired";
      hostedCluster: string;
      clusterID: string;
      infraID: string | undefined;
      serviceName: string;
      clusterSubscription: string;
      /** Empty where the Service is being deleted and never had one. */
      loadBalancerIP: string;
      /** The Service is being deleted. Its load balancer cannot be deleted before the link service. */
      isServiceDeleting: boolean;
      /** Something about the cluster that stops nothing, and that its owner should know. */
      warning?: string;
    };

/** Azure's limit for the name of a link service. */
export const longestName = 80;

/** The key of the HostedCluster that an object names; undefined where it names none in the right form. */
export function clusterKeyOf(object: AzurePrivateLinkService): string | undefined {
  const key = clusterKeyIn(object);
  return key && `${key.namespace}/${key.name}`;
}

/** Read an object and its cluster. Each thing that is missing or wrong has a reason and a remedy. */
export function known(
  object: AzurePrivateLinkService,
  { cluster, unverified, notAllowed, service }: Belonging,
  now: Date,
): Known {
  const annotation = object.metadata.annotations?.[clusterAnnotation];
  const key = clusterKeyIn(object);
  if (key === undefined)
    return stopped(
      reasons.clusterAnnotation,
      annotation === undefined
        ? `the annotation ${clusterAnnotation} is missing · it names the cluster of this link · set it to <namespace>/<name> of the HostedCluster`
        : `the annotation ${clusterAnnotation} is not <namespace>/<name> · it names the cluster of this link · correct it`,
    );
  const isHome = isHomeOf(object.metadata.namespace, key);
  if (unverified !== undefined && (cluster !== undefined || !isHome))
    return stopped(reasons.unverified, unverified);
  if (cluster === undefined)
    return stopped(
      reasons.clusterNotFound,
      `HostedCluster ${annotation} does not exist · this link belongs to it · create it, or delete this object`,
    );
  const pause = paused(cluster.spec.pausedUntil, now);
  if (pause.paused) return { is: "paused", pause };
  if (notAllowed !== undefined) return stopped(reasons.notAllowed, notAllowed);
  const { clusterID, infraID } = cluster.spec;
  if (clusterID === undefined || clusterID === "")
    return stopped(
      reasons.clusterID,
      `HostedCluster ${annotation} has no spec.clusterID · names and tags in Azure are derived from it · set it`,
    );
  const { name } = object.metadata;
  const serviceName = linkServiceName(name, clusterID);
  if (serviceName.length > longestName)
    return stopped(
      reasons.nameTooLong,
      `the link service name ${serviceName} is too long · Azure allows at most ${longestName} characters · use a Service with a shorter name`,
    );
  const clusterSubscription = clusterSubscriptionOf(object.spec.guestSubnetID);
  if (clusterSubscription === undefined)
    return stopped(
      reasons.invalidSubnet,
      "spec.guestSubnetID is not the id of a subnet · the guest's subscription is read from it · correct subnetID of the HostedCluster",
    );
  const { loadBalancerIP = "" } = object.spec;
  const isServiceDeleting = service?.metadata.deletionTimestamp !== undefined;
  if (loadBalancerIP === "" && !isServiceDeleting)
    return stopped(
      reasons.addressMissing,
      `spec.loadBalancerIP is not set yet · it is the address of Service ${name} · wait until the Service has an internal load balancer`,
    );
  const ingress = service?.status?.loadBalancer?.ingress ?? [];
  const hasAddress = ingress.some(({ ip = "" }) => addressKey(ip) === addressKey(loadBalancerIP));
  if (!hasAddress && !isServiceDeleting)
    return stopped(
      reasons.addressUnverified,
      `the link service is not changed · Service ${name} does not have the address ${loadBalancerIP} in its status · wait until the control plane reports the new address`,
    );
  const hostedCluster = cluster.metadata.name;
  const { pausedUntil } = cluster.spec;
  const warning = isPauseReadable(pausedUntil)
    ? {}
    : {
        warning: `HostedCluster ${annotation} is not paused · its spec.pausedUntil is ${JSON.stringify(pausedUntil?.slice(0, 60))} · set it to true, false or a time such as 2030-01-01T00:00:00Z`,
      };
  return {
    is: "desired",
    hostedCluster,
    clusterID,
    infraID,
    serviceName,
    clusterSubscription,
    loadBalancerIP,
    isServiceDeleting,
    ...warning,
  };
}

function stopped(reason: string, message: string): Known {
  return { is: "stopped", reason, message };
}
