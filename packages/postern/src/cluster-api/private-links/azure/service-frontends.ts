import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { type Service, service as serviceKind } from "@postern/core/kinds/core.ts";
import { parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { frontendsAt, isFrontendOf } from "../../../private-link/link-service/frontends.ts";
import type { MissingFrontend } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { Desired, DesiredPrivateLink, Problem, ServiceKey } from "../spec/desired.ts";
import type { PrivateLinkParts } from "./dependencies.ts";

/**
 * Reject the links that name a Service where they may not: Postern reads the Services of the management cluster, so only that
 * cluster's own AzureCluster may name them.
 */
export function withoutForeignServices(
  { metadata }: AzureCluster,
  requested: Desired,
  management: PrivateLinkParts["management"],
): Desired {
  const { namespace, name } = metadata;
  if (management?.namespace === namespace && management?.name === name) return requested;
  const foreign = requested.links.filter(({ service }) => service !== undefined);
  return {
    ...requested,
    links: requested.links.filter(({ service }) => service === undefined),
    problems: [
      ...requested.problems,
      ...foreign.map(({ name }): Problem => {
        const why = "only the AzureCluster of the management cluster can name a Service";
        const message = `private link ${name} cannot be created · ${why} · use loadBalancerID`;
        return { scope: "links", reason: reasons.invalid, message };
      }),
    ],
  };
}

/** What it takes to find the frontend of a Service. */
export interface FrontendLookup {
  kube: PrivateLinkParts["kube"];
  arm: ArmClient;
  /** The resource group of the cluster, where its cloud provider creates load balancers. */
  group: ResourceId;
  maxAgeMs: number;
  reconcile: Reconcile;
}

/** A link with the frontend of the Service that it names, or why that has none. */
export async function observeFrontend(
  link: DesiredPrivateLink,
  lookup: FrontendLookup,
): Promise<{ link: DesiredPrivateLink; missing?: MissingFrontend }> {
  if (link.service === undefined) return { link };
  const found = await frontendOf(link.service, lookup);
  return "why" in found ? { link, missing: found } : { link: { ...link, frontends: [found.id] } };
}

async function frontendOf(
  service: ServiceKey,
  { kube, arm, group, maxAgeMs, reconcile }: FrontendLookup,
): Promise<MissingFrontend | { id: ResourceId }> {
  const named = `Service ${service.namespace}/${service.name}`;
  const object = await kube.get<Service>({ kind: serviceKind, ...service }, reconcile.signal);
  if (object === undefined) return { why: `${named} does not exist` };
  const { uid = "", deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined)
    return { why: `${named} is being deleted`, isServiceDeleting: true };
  const address = object.status?.loadBalancer?.ingress?.[0]?.ip;
  if (address === undefined) return { why: `${named} has no address` };
  const all = await frontendsAt(arm, [group], address, maxAgeMs, (found) =>
    found.some((each) => isFrontendOf(each, uid)),
  );
  const frontend = all.find((each) => isFrontendOf(each, uid));
  if (frontend !== undefined)
    return {
      id: parseResourceId(frontend.id, "Microsoft.Network/loadBalancers/frontendIPConfigurations"),
    };
  return {
    why: `no internal load balancer in the resource group of the cluster has a frontend of ${named} with the address ${address}`,
  };
}
