import { namespace as namespaceKind } from "@postern/core/kinds/core.ts";
import { parentOf, type ResourceId } from "@postern/core/resource-id.ts";
import { subnets } from "../../azure/gateways/subnets.ts";
import { KubeError } from "../../kube/errors.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { versionIn } from "../../kube/status.ts";
import { applyLinkServiceStep } from "../../private-link/link-service/apply.ts";
import { balancerOf } from "../../private-link/link-service/balancer.ts";
import type { Reservation } from "../../private-link/nat-subnets/reservations.ts";
import type { LinkParts } from "./cluster/dependencies.ts";
import { natSubnetAnnotation, recordedSubnetOf } from "./nat/recorded-subnet.ts";
import type { LinkObject, LinkStep } from "./steps.ts";

/** Another link was faster. */
const overtaken: Applied = { state: "running", retryAfterMs: 2_000, isBegun: false };

/** Begin one step. */
export async function apply(
  step: LinkStep,
  parts: LinkParts,
  reconcile: Reconcile,
): Promise<Applied> {
  const now = reconcile.now().getTime();
  if ("reserves" in step && step.reserves && !reserveAddress(step.reserves, now, parts))
    return overtaken;
  switch (step.on) {
    case "annotation":
      if (step.do === "record NAT subnet")
        return recordSubnet(step.link, step.subnet, reconcile, parts);
      if (
        step.sharedSubnet !== undefined &&
        !parts.reservations.othersIn(step.sharedSubnet, step.link.uid)
      )
        return overtaken;
      parts.reservations.unreserve(step.link.uid);
      return recordSubnet(step.link, null, reconcile, parts);
    case "subnet":
      return applySubnetStep(step, parts, reconcile);
    default:
      if (step.on === "link service" && step.verb === "create") {
        const balancer = balancerOf(step.body.properties);
        if (balancer !== undefined && !parts.serviceList.tryCreate(balancer, step.id, now))
          return overtaken;
      }
      return applyLinkServiceStep(step, parts.armClients.management(reconcile));
  }
}

/** Reserve what a step needs; false where another link was faster. */
function reserveAddress(
  reserves: Reservation,
  now: number,
  { reservations, networks }: LinkParts,
): boolean {
  const { createdIn, link } = reserves;
  if (createdIn !== undefined && !networks.tryClaim(createdIn, link.uid, now)) return false;
  return reservations.tryReserve(reserves, now);
}

async function applySubnetStep(
  step: Extract<LinkStep, { on: "subnet" }>,
  { networks, reservations, armClients }: LinkParts,
  reconcile: Reconcile,
): Promise<Applied> {
  const gateway = subnets(armClients.management(reconcile));
  const now = reconcile.now().getTime();
  const { id } = step;
  const network = parentOf(id) as ResourceId;
  if (step.do === "delete NAT subnet") {
    if (!reservations.tryClose(id, step.uid, now)) return overtaken;
    return networks.write(network, id, now, () => gateway.remove(id), true);
  }
  const { prefix: addressPrefix, broken } = step;
  const properties = {
    addressPrefix,
    privateLinkServiceNetworkPolicies: "Disabled" as const,
  };
  const create = () =>
    networks.write(network, id, now, () =>
      gateway.put(id, { properties }, broken ? {} : { ifNoneMatch: "*" }),
    );
  if (!step.isSpare) return create();
  // It is not needed yet: whoever needs it reports the problem.
  await create().catch((err: unknown) =>
    reconcile.log.info({ err }, "the next NAT subnet was not created"),
  );
  return { state: "done" };
}

/** How often the write of a namespace that others write too is tried. */
const patchTries = 4;

/** Record in the namespace which subnet a link uses, or null, unless another has changed that annotation meanwhile. */
async function recordSubnet(
  { namespace, name, uid }: LinkObject,
  subnet: string | null,
  { signal }: Reconcile,
  { kube, namespaces, recorded }: LinkParts,
): Promise<Applied> {
  const place = { kind: namespaceKind, name: namespace };
  const key = natSubnetAnnotation(name);
  let latest = namespaces.get(namespace) ?? (await kube.get(place, signal));
  const observed = recordedSubnetOf(latest, name);
  for (let tries = 1; ; tries++) {
    const { uid: own, resourceVersion } = latest?.metadata ?? {};
    const change = { metadata: { uid: own, resourceVersion, annotations: { [key]: subnet } } };
    const options = { fieldManager: "postern-link", signal };
    try {
      const version = versionIn(await kube.patch(place, "merge", change, options));
      recorded.set(uid, { subnet: subnet ?? "", version });
      return { state: "done" };
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 409) || tries === patchTries)
        throw error;
      latest = await kube.get(place, signal);
      if (recordedSubnetOf(latest, name) !== observed) throw error;
    }
  }
}
