import type { Health } from "./types.ts";

export const columns = [
  "name",
  "access",
  "health",
  "cause",
  "since",
  "checked",
  "endpoint",
  "service",
] as const;
export type Column = (typeof columns)[number];

/** What the address of the page names: everything that a person would want to send to somebody else. */
export interface Place {
  /** The cluster; none for the overview. */
  cluster?: string;
  /** The resource whose panel is open. */
  node?: string;
  search: string;
  health?: Health;
  sort: Column;
  descending: boolean;
}

/** Read the part of an address after `#`. */
export function placeIn(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?");
  const asked = new URLSearchParams(query);
  const [, key] = /^\/clusters\/(.+)$/.exec(path) ?? [];
  const sort = asked.get("sort") ?? "";
  const column = columns.find((each) => each === sort.replace(/^-/, "")) ?? "health";
  const node = asked.get("node");
  const health = asked.get("health");
  return {
    ...(key !== undefined && { cluster: decoded(key) }),
    ...(node !== null && { node }),
    ...(health !== null && { health: health as Health }),
    search: asked.get("q") ?? "",
    sort: column,
    descending: sort.startsWith("-"),
  };
}

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    // No cluster has such a name, and the server says so.
    return text;
  }
}

/** The address of a place; what is as usual is left out. */
export function addressOf(place: Partial<Place>): string {
  const { cluster, node, search, health, sort = "health", descending = false } = place;
  const query = new URLSearchParams();
  if (search) query.set("q", search);
  if (health) query.set("health", health);
  if (sort !== "health" || descending) query.set("sort", `${descending ? "-" : ""}${sort}`);
  if (node) query.set("node", node);
  const text = query.toString();
  return `#/${cluster === undefined ? "" : `clusters/${cluster}`}${text ? `?${text}` : ""}`;
}
