import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { TagError, type Tags } from "@postern/core/tags.ts";
import type { DesiredEndpoint } from "../../../private-link/endpoint/desired.ts";
import type { DesiredLinkService, NatAddress } from "../../../private-link/link-service/desired.ts";
import { reasons } from "../reasons.ts";
import { type ClusterResources, clusterResourcesOf } from "./cluster-resources.ts";
import { desiredEndpoints } from "./desired-endpoints.ts";
import { desiredLinks } from "./desired-links.ts";
import type { Scope } from "./managed.ts";

/** A link service as it should be. */
export interface DesiredPrivateLink extends DesiredLinkService {
  name: string;
  /** Empty where `service` names the Service whose load balancer it is. */
  frontends: readonly ResourceId[];
  service?: ServiceKey;
  nat: readonly (NatAddress & { subnet: ResourceId })[];
}

/** A Service of the management cluster. */
export interface ServiceKey {
  namespace: string;
  name: string;
}

/** A private endpoint as it should be. */
export interface DesiredPrivateEndpoint extends DesiredEndpoint {
  name: string;
}

/** An invalid request, and the whole message about it. */
export interface Problem {
  scope: Scope;
  reason: string;
  message: string;
}

/** All that an AzureCluster requests. What cannot be read does not keep the rest from being created. */
export interface Desired {
  resources: ClusterResources | undefined;
  links: readonly DesiredPrivateLink[];
  endpoints: readonly DesiredPrivateEndpoint[];
  problems: readonly Problem[];
}

/** What one entry of a list comes to. */
export type Entry<T> = { desired: T } | { problem: Problem };

/** Where something is created, and the tags that it gets. */
export type TaggedResources = Omit<ClusterResources, "tags"> & { tags: Tags };

/** Read what an AzureCluster requests. */
export function desiredOf(object: AzureCluster): Desired {
  const found = clusterResourcesOf(object);
  const resources = "missing" in found ? undefined : found;
  const wrong = resourcesProblem(found);
  const tagged =
    resources === undefined || wrong !== undefined ? undefined : (resources as TaggedResources);
  const links = desiredLinks(object, tagged);
  const endpoints = desiredEndpoints(object, tagged);
  const problems = [...links, ...endpoints].flatMap((each) =>
    "problem" in each ? [each.problem] : [],
  );
  if (wrong === undefined)
    return {
      resources,
      links: links.flatMap((each) => ("desired" in each ? [each.desired] : [])),
      endpoints: endpoints.flatMap((each) => ("desired" in each ? [each.desired] : [])),
      problems,
    };
  const scopes = [...new Set(problems.map(({ scope }) => scope))];
  const message = `nothing can be created for this AzureCluster · ${wrong}`;
  const conditionsOf = scopes.map((scope) => ({ scope, reason: reasons.invalid, message }));
  return { resources, links: [], endpoints: [], problems: conditionsOf };
}

function resourcesProblem(found: ReturnType<typeof clusterResourcesOf>): string | undefined {
  if ("missing" in found) return `${found.missing} · correct it`;
  if (found.tags instanceof TagError) return `${found.tags.message} · correct spec.additionalTags`;
  return undefined;
}
