import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { TagError, type Tags } from "@postern/core/tags.ts";
import type { DesiredEndpoint } from "../../../private-link/endpoint/desired.ts";
import type { DesiredLinkService, NatAddress } from "../../../private-link/link-service/desired.ts";
import { reasons } from "../reasons.ts";
import { desiredEndpoints } from "./desired-endpoints.ts";
import { desiredLinks } from "./desired-links.ts";
import { type Place, placeOf } from "./location.ts";
import type { Side } from "./managed.ts";

/** A link service as it should be. */
export interface DesiredPrivateLink extends DesiredLinkService {
  name: string;
  frontends: readonly ResourceId[];
  nat: readonly (NatAddress & { subnet: ResourceId })[];
}

/** A private endpoint as it should be. */
export interface DesiredPrivateEndpoint extends DesiredEndpoint {
  name: string;
}

/** Something that is asked for and cannot be: where, and the whole message about it. */
export interface Problem {
  side: Side;
  reason: string;
  message: string;
}

/** All that an AzureCluster asks for. What cannot be read does not keep the rest from being made. */
export interface Desired {
  place: Place | undefined;
  links: readonly DesiredPrivateLink[];
  endpoints: readonly DesiredPrivateEndpoint[];
  problems: readonly Problem[];
}

/** What one entry of a list comes to. */
export type Entry<T> = { desired: T } | { problem: Problem };

/** Where something is made, and the tags that it gets. */
export type Making = Omit<Place, "tags"> & { tags: Tags };

/** Read what an AzureCluster asks for. */
export function desiredOf(object: AzureCluster): Desired {
  const found = placeOf(object);
  const place = "missing" in found ? undefined : found;
  const wrong = wrongPlace(found);
  const making = place === undefined || wrong !== undefined ? undefined : (place as Making);
  const links = desiredLinks(object, making);
  const endpoints = desiredEndpoints(object, making);
  const problems = [...links, ...endpoints].flatMap((each) =>
    "problem" in each ? [each.problem] : [],
  );
  if (wrong === undefined)
    return {
      place,
      links: links.flatMap((each) => ("desired" in each ? [each.desired] : [])),
      endpoints: endpoints.flatMap((each) => ("desired" in each ? [each.desired] : [])),
      problems,
    };
  const sides = [...new Set(problems.map(({ side }) => side))];
  const message = `nothing can be made for this AzureCluster · ${wrong}`;
  const told = sides.map((side) => ({ side, reason: reasons.invalid, message }));
  return { place, links: [], endpoints: [], problems: told };
}

function wrongPlace(found: ReturnType<typeof placeOf>): string | undefined {
  if ("missing" in found) return `${found.missing} · correct it`;
  if (found.tags instanceof TagError) return `${found.tags.message} · correct spec.additionalTags`;
  return undefined;
}
