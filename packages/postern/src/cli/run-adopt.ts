import { claimPrefix, claimsIn } from "@postern/core/claims.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import { clusterIDKey, type Owner, ownerIn, ownership, ownerTag } from "@postern/core/ownership.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type ResourceId, resourceGroupId, resourceIn, sameId } from "@postern/core/resource-id.ts";
import { type Tags, tagOf } from "@postern/core/tags.ts";
import type { ArmResource, ResourceGateway } from "../azure/gateway.ts";
import { privateDnsZones } from "../azure/gateways/private-dns.ts";
import { privateEndpoints, withoutEndpointAnswers } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices, withoutAnswers } from "../azure/gateways/private-link-services.ts";
import {
  clusterAnnotation,
  endpointName,
  internalZoneName,
  linkServiceName,
} from "../hosted/names.ts";
import { managementGroupIn } from "../operator/management-group.ts";
import { gatherKube } from "../view/gather.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { targetsOf } from "../view/index-of.ts";
import type { Known } from "../view/orphans.ts";
import { findClusterKey } from "./find-cluster-key.ts";
import { finish } from "./finish.ts";
import type { Session } from "./session.ts";

/** A resource that can be adopted, and the tag that does it. */
export interface Candidate {
  what: "link service" | "endpoint" | "zone";
  id: string;
  /** Its current owner. */
  was: string;
  tag: string;
  value: string;
  write(session: Session): Promise<void>;
}

/** What exists under the names of a cluster without an owner, or with one that no longer exists. */
export async function candidates(session: Session, name: string): Promise<Candidate[]> {
  const { kube, reading: arm, signal, env } = session;
  const unread: Unread[] = [];
  const world = await gatherKube({ kube, signal }, unread);
  const key = findClusterKey(name, world, unread);
  const cluster = world.hostedClusters.find((each) => keyOf(each) === key);
  if (cluster === undefined)
    throw new UsageError(
      `${key} is not a HostedCluster: resources created by CAPZ are used without being adopted`,
    );
  const { clusterID } = cluster.spec;
  if (!clusterID)
    throw new UsageError(`${key} has no spec.clusterID, which the owner tag needs: set it first`);
  const controlPlane = world.controlPlanes.find(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === key,
  );
  const links = world.links.filter(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === key,
  );
  const known = await gatherKnown(kube, signal);
  const group = await managementGroupIn(env);
  const found: Candidate[] = [];
  const free = (tags: Tags | undefined) => isFree(tags, known, cluster.metadata.name);

  for (const { metadata, spec } of links) {
    const value = `${clusterID}/${metadata.uid}`;
    const own = { tag: ownerTag, value };
    const serviceId = resourceIn(
      group,
      "Microsoft.Network/privateLinkServices",
      linkServiceName(metadata.name, clusterID),
    );
    const service = await privateLinkServices(arm).get(serviceId);
    if (service && free(service.tags))
      found.push({
        what: "link service",
        id: serviceId,
        was: ownerText(service.tags),
        ...own,
        write: (used) =>
          put(
            used,
            privateLinkServices(used.writing),
            serviceId,
            withoutAnswers(service),
            service.etag,
            own,
          ),
      });
    const hostedGroup = resourceGroupId(spec.subscriptionID, spec.resourceGroupName);
    const endpointId = resourceIn(
      hostedGroup,
      "Microsoft.Network/privateEndpoints",
      endpointName(metadata.name),
    );
    const endpoint = await privateEndpoints(arm).get(endpointId);
    // Hosted clusters in one resource group share this name: only an endpoint to this link service is the cluster's.
    const leads = targetsOf(endpoint ?? { properties: {} });
    const here = [serviceId, service?.properties.alias].some((one) =>
      leads.some((each) => one !== undefined && sameId(each, one)),
    );
    if (endpoint && here && free(endpoint.tags))
      found.push({
        what: "endpoint",
        id: endpointId,
        was: ownerText(endpoint.tags),
        ...own,
        write: (used) =>
          put(
            used,
            privateEndpoints(used.writing),
            endpointId,
            withoutEndpointAnswers(endpoint),
            endpoint.etag,
            own,
          ),
      });
    if (controlPlane === undefined) continue;
    const zoneId = resourceIn(
      hostedGroup,
      "Microsoft.Network/privateDnsZones",
      internalZoneName(controlPlane.metadata.name),
    );
    const zone = await privateDnsZones(arm).get(zoneId);
    const claim = { tag: `${claimPrefix}${clusterID}`, value: controlPlane.metadata.uid ?? "" };
    if (zone && free(zone.tags) && !found.some(({ id }) => id === zoneId))
      found.push({
        what: "zone",
        id: zoneId,
        was: ownerText(zone.tags),
        ...claim,
        write: (used) => put(used, privateDnsZones(used.writing), zoneId, zone, zone.etag, claim),
      });
  }
  return found;
}

/** Add the tag, and change nothing else. */
export async function adopt(session: Session, candidate: Candidate): Promise<void> {
  await candidate.write(session);
}

async function put<T extends ArmResource>(
  { writing: arm, signal }: Session,
  gateway: ResourceGateway<T>,
  id: ResourceId,
  body: T,
  etag: string | undefined,
  { tag, value }: { tag: string; value: string },
): Promise<void> {
  const tagged = { ...body, tags: { ...body.tags, [tag]: value } };
  await finish(arm, await gateway.put(id, tagged, { ifMatch: etag }), signal);
}

/**
 * Whether a resource has no owner, or one that no longer exists in a cluster that does. An owner in another management cluster does
 * not exist here either, so its resources are not free.
 */
function isFree(tags: Tags | undefined, { uids, clusterIDs }: Known, cluster: string): boolean {
  const isGone = ({ clusterID, uid }: Owner) =>
    clusterIDs.has(clusterIDKey(clusterID)) && !uids.has(uid);
  if (!claimsIn(tags).every(isGone)) return false;
  if (tagOf(tags, ownerTag) !== undefined) {
    const owner = ownerIn(tags);
    return owner !== undefined && isGone(owner);
  }
  const recorded = ownership(tags, { clusterID: "", uid: "" });
  return recorded.is === "nobody" && (recorded.hostedCluster ?? cluster) === cluster;
}

function ownerText(tags: Tags | undefined): string {
  const owner = ownerIn(tags);
  const [claim] = claimsIn(tags);
  if (owner) return `${owner.clusterID}/${owner.uid} (deleted)`;
  return claim ? `${claim.clusterID} (deleted)` : "none";
}
