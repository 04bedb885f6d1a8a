import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { clusterIDKey } from "@postern/core/ownership.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import { clusterAnnotation } from "../../names.ts";
import { whyNotAllowed } from "../../policy.ts";
import { clusterKeyIn, controllerOf, isHomeOf, unverifiedMessage } from "../../tenancy.ts";
import { allowedSubscriptions } from "../service/desired.ts";
import type { LinkParts } from "./dependencies.ts";
import { clusterSubscriptionOf } from "./subject.ts";

/** What Kubernetes says of the cluster that a link object belongs to. */
export interface Belonging {
  /** The HostedCluster that it names, if this is the namespace of that cluster's control plane. */
  cluster: HostedCluster | undefined;
  /** Why the object is not obeyed. */
  unverified: string | undefined;
  /** Why the cluster may not have what it asks for. */
  notAllowed: string | undefined;
  /** The Service of the link. */
  service: Service | undefined;
  /** Another HostedCluster says that it has the same clusterID. */
  sharesClusterID: boolean;
}

/** The cluster of a link object. Everything in the object may be written by a tenant, so everything is verified. */
export function belongingOf(object: AzurePrivateLinkService, parts: LinkParts): Belonging {
  const { namespace = "", name } = object.metadata;
  const key = clusterKeyIn(object);
  const home = key !== undefined && isHomeOf(namespace, key);
  const cluster = home ? parts.hostedClusters.get(`${key.namespace}/${key.name}`) : undefined;
  const clusterID = cluster?.spec.clusterID;
  const sharing =
    clusterID === undefined
      ? []
      : parts.hostedClusters.byIndex(byClusterID, clusterIDKey(clusterID));
  return {
    cluster,
    unverified: whyNotObeyed(object, parts),
    notAllowed: cluster && whyForbidden(object, cluster, parts),
    service: parts.services.get(`${namespace}/${name}`),
    sharesClusterID: sharing.length > 1,
  };
}

/** The index of HostedClusters by `clusterIDKey`. */
export const byClusterID = "link: clusterID";

function whyNotObeyed(object: AzurePrivateLinkService, parts: LinkParts): string | undefined {
  const { namespace = "", name } = object.metadata;
  const refused = (why: string) =>
    `AzurePrivateLinkService ${namespace}/${name} is ignored · ${why} · let the control plane create it`;
  const controller = controllerOf(object);
  if (controller === undefined) return refused("its controller is not a HostedControlPlane");
  const controlPlane = parts.controlPlanes.get(`${namespace}/${controller.name}`);
  if (controlPlane === undefined || controlPlane.metadata.uid !== controller.uid)
    return refused(`HostedControlPlane ${controller.name} with uid ${controller.uid} is not here`);
  const unverified = unverifiedMessage(controlPlane, parts.registered);
  if (unverified !== undefined) return unverified;
  const [own, expected] = [object, controlPlane].map(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation],
  );
  return own === expected
    ? undefined
    : refused(`it names another HostedCluster than HostedControlPlane ${controller.name}`);
}

function whyForbidden(
  { spec }: AzurePrivateLinkService,
  { metadata }: HostedCluster,
  { policy = defaultPolicy }: LinkParts,
): string | undefined {
  const { namespace = "" } = metadata;
  const subscription = clusterSubscriptionOf(spec.guestSubnetID);
  const { additionalAllowedSubscriptions = [] } = spec;
  const subscriptions = allowedSubscriptions(subscription ?? "", additionalAllowedSubscriptions);
  return whyNotAllowed(policy.rulesOf(namespace), namespace, {
    subscriptions: subscriptions.filter((each) => each !== ""),
  });
}
