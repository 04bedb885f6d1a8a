import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { TagError, type Tags } from "@postern/core/tags.ts";
import type { DesiredEndpoint } from "../../../private-link/endpoint/desired.ts";
import type { DesiredLinkService, NatAddress } from "../../../private-link/link-service/desired.ts";
import { reasons } from "../reasons.ts";
import { wantedEndpoints } from "./desired-endpoints.ts";
import { wantedLinks } from "./desired-links.ts";
import { type Place, placeOf } from "./location.ts";
import type { Side } from "./managed.ts";

/** A link service as it should be. */
export interface WantedLink extends DesiredLinkService {
  name: string;
  frontends: readonly ResourceId[];
  nat: readonly (NatAddress & { subnet: ResourceId })[];
}

/** A private endpoint as it should be. */
export interface WantedEndpoint extends DesiredEndpoint {
  name: string;
}

/** Something that is asked for and cannot be: where, and the whole message about it. */
export interface Problem {
  side: Side;
  reason: string;
  message: string;
}

/** All that an AzureCluster asks for. What cannot be read does not keep the rest from being made. */
export interface Wanted {
  place: Place | undefined;
  links: readonly WantedLink[];
  endpoints: readonly WantedEndpoint[];
  problems: readonly Problem[];
}

/** What one entry of a list comes to. */
export type Entry<T> = { wanted: T } | { problem: Problem };

/** Where something is made, and the tags that it gets. */
export type Making = Omit<Place, "tags"> & { tags: Tags };

/** Read what an AzureCluster asks for. */
export function wantedOf(object: AzureCluster): Wanted {
  const found = placeOf(object);
  const place = "missing" in found ? undefined : found;
  const wrong = wrongPlace(found);
  const making = place === undefined || wrong !== undefined ? undefined : (place as Making);
  const links = wantedLinks(object, making);
  const endpoints = wantedEndpoints(object, making);
  const problems = [...links, ...endpoints].flatMap((each) =>
    "problem" in each ? [each.problem] : [],
  );
  if (wrong === undefined)
    return {
      place,
      links: links.flatMap((each) => ("wanted" in each ? [each.wanted] : [])),
      endpoints: endpoints.flatMap((each) => ("wanted" in each ? [each.wanted] : [])),
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
