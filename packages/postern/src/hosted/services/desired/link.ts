import type { Metadata } from "@postern/core/kind.ts";
import type { AzurePlatform } from "@postern/core/kinds/azure-platform.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { PrivateAccess } from "@postern/core/kinds/private-access.ts";
import { regionName } from "@postern/core/region.ts";
import { idKey, sameId } from "@postern/core/resource-id.ts";
import { baseDomainOf } from "../../dns-names.ts";
import { clusterAnnotation } from "../../names.ts";

type Spec = AzurePrivateLinkService["spec"];

/** What the API server refuses to change in an object that has it. */
const fixedFields = [
  "subscriptionID",
  "resourceGroupName",
  "location",
  "natSubnetID",
  "guestSubnetID",
  "guestVNetID",
  "baseDomain",
] as const satisfies readonly (keyof Spec)[];

/** The link object of a Service as the control plane wants it. */
export function desiredLink(
  name: string,
  address: string,
  controlPlane: HostedControlPlane,
  azure: AzurePlatform,
  access: PrivateAccess,
  guestSubnetID: string,
): AzurePrivateLinkService {
  const subscriptions = withoutTwins(access.additionalAllowedSubscriptions);
  const baseDomain = baseDomainOf(controlPlane);
  return {
    metadata: {
      name,
      ...(controlPlane.metadata.namespace && { namespace: controlPlane.metadata.namespace }),
      ...annotationsOf(controlPlane.metadata),
      ownerReferences: [
        {
          apiVersion: "hypershift.openshift.io/v1beta1",
          kind: "HostedControlPlane",
          name: controlPlane.metadata.name,
          uid: controlPlane.metadata.uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      loadBalancerIP: address,
      subscriptionID: azure.subscriptionID,
      resourceGroupName: azure.resourceGroup,
      // Azure takes "West Europe" for westeurope; the link object takes only the latter.
      location: regionName(azure.location),
      guestSubnetID,
      guestVNetID: azure.vnetID,
      ...(access.natSubnetID && { natSubnetID: access.natSubnetID }),
      ...(subscriptions.length > 0 && { additionalAllowedSubscriptions: subscriptions }),
      ...(baseDomain && { baseDomain }),
    },
  };
}

/** What must change in a link object so that it is as desired, and what cannot change any more. */
export interface Difference {
  /** A merge patch; undefined where nothing differs that can change. */
  change: object | undefined;
  changed: string[];
  fixed: string[];
}

export function differenceOf(
  found: AzurePrivateLinkService,
  desired: AzurePrivateLinkService,
): Difference {
  const spec: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  const fixed: string[] = [];
  if (found.spec.loadBalancerIP !== desired.spec.loadBalancerIP)
    spec.loadBalancerIP = desired.spec.loadBalancerIP;
  if (
    !sameSet(found.spec.additionalAllowedSubscriptions, desired.spec.additionalAllowedSubscriptions)
  )
    spec.additionalAllowedSubscriptions = desired.spec.additionalAllowedSubscriptions ?? null;
  for (const field of fixedFields) {
    const [is, should] = [found.spec[field], desired.spec[field]];
    if (should === undefined) {
      // A control plane that no longer names a subnet asks for one to be made; a domain is only ever added.
      if (is !== undefined && field === "natSubnetID") spec[field] = null;
    } else if (is === undefined) spec[field] = should;
    else if (!sameId(is, should)) fixed.push(field);
  }
  const cluster = desired.metadata.annotations?.[clusterAnnotation];
  if (cluster !== undefined && found.metadata.annotations?.[clusterAnnotation] !== cluster)
    metadata.annotations = { [clusterAnnotation]: cluster };
  const changed = [...Object.keys(spec), ...Object.keys(metadata)];
  const change = {
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(Object.keys(spec).length > 0 && { spec }),
  };
  return { change: changed.length > 0 ? change : undefined, changed, fixed };
}

function annotationsOf({ annotations }: Metadata): Pick<Metadata, "annotations"> {
  const cluster = annotations?.[clusterAnnotation];
  return cluster === undefined ? {} : { annotations: { [clusterAnnotation]: cluster } };
}

/** Subscriptions compare without case, but the API server's sets do not. */
function withoutTwins(subscriptions: readonly string[]): string[] {
  return [...new Map(subscriptions.map((each) => [idKey(each), each])).values()];
}

function sameSet(a: readonly string[] = [], b: readonly string[] = []): boolean {
  const [first, second] = [new Set(a.map(idKey)), new Set(b.map(idKey))];
  return first.size === second.size && [...first].every((each) => second.has(each));
}
