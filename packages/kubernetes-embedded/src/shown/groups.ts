import type { Review } from "../kinds/reviews.ts";
import type { Resource } from "../resource.ts";
import { compareVersions } from "./versions.ts";

/** A group of the API with its versions, the preferred one first. */
export interface Group {
  /** Empty for the core group. */
  name: string;
  versions: { version: string; resources: Served[] }[];
}

/** A resource as discovery tells of it. */
export interface Served {
  name: string;
  singular: string;
  group: string;
  version: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: Part[];
}

interface Part {
  name: string;
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
  /** True where it answers with a kind of another group or version. */
  foreign: boolean;
}

/** All that may be done with most resources. */
export const allVerbs: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

const statusVerbs = ["get", "patch", "update"];

/** Resources by group and version: the core group first, the others by the alphabet. */
export function groupsOf(resources: readonly Resource[], reviews: readonly Review[]): Group[] {
  const served = [...resources.map(servedResource), ...reviews.map(servedReview)];
  const groups = Map.groupBy(served, ({ group }) => group);
  return [...groups.keys()].sort().map((name) => {
    const versions = Map.groupBy(groups.get(name) ?? [], ({ version }) => version);
    const inOrder = [...versions.keys()].sort(compareVersions);
    return {
      name,
      versions: inOrder.map((version) => ({ version, resources: versions.get(version) ?? [] })),
    };
  });
}

function servedResource(resource: Resource): Served {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories } = resource;
  const parts: Part[] = (resource.subresources ?? []).map((part) => ({
    ...part,
    foreign: part.group !== group || part.version !== version,
  }));
  if (resource.status) {
    parts.push({ name: "status", group, version, kind, verbs: statusVerbs, foreign: false });
  }
  return {
    name: plural,
    singular,
    group,
    version,
    kind,
    namespaced,
    verbs: resource.verbs ?? allVerbs,
    shortNames,
    categories,
    subresources: parts,
  };
}

function servedReview({ group, version, kind, plural, namespaced }: Review): Served {
  return {
    name: plural,
    singular: kind.toLowerCase(),
    group,
    version,
    kind,
    namespaced,
    verbs: ["create"],
    shortNames: [],
    categories: [],
    subresources: [],
  };
}
