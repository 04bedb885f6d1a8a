/** A request for a resource, as its path says it. */
export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  namespace?: string;
  name?: string;
  subresource?: string;
}

/** What is done to a resource, in the words of Kubernetes. */
export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** What a path leads to: a resource, or nothing that is known to be one. */
export function resourcePath(path: string): ResourcePath | undefined {
  const [root, ...rest] = path.slice(1).split("/").map(decoded);
  if (rest.some((part) => part === undefined)) return undefined;
  const parts = rest as string[];
  if (parts.at(-1) === "") parts.pop();
  if (root === "api" && parts.length >= 2) return below("", parts[0] ?? "", parts.slice(1));
  if (root === "apis" && parts.length >= 3)
    return below(parts[0] ?? "", parts[1] ?? "", parts.slice(2));
  return undefined;
}

/** Subresources of a namespace itself; anything else below one is a resource that lies in it. */
const ofNamespaces = new Set(["status", "finalize"]);

function below(group: string, version: string, parts: string[]): ResourcePath | undefined {
  const [first = "", second, third = "", ...others] = parts;
  const inside = first === "namespaces" && parts.length >= 3;
  if (inside && !(group === "" && parts.length === 3 && ofNamespaces.has(third)))
    return named(group, version, third, others, second);
  return named(group, version, first, parts.slice(1));
}

function named(
  group: string,
  version: string,
  plural: string,
  rest: string[],
  namespace?: string,
): ResourcePath | undefined {
  const [name, subresource, ...more] = rest;
  if (more.length > 0) return undefined;
  return {
    group,
    version,
    plural,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}

/** The verb of a request; undefined where the method means nothing there. */
export function verbOf(method: string, named: boolean, watch: boolean): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      return watch ? "watch" : named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return named ? "update" : undefined;
    case "PATCH":
      return named ? "patch" : undefined;
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

function decoded(part: string): string | undefined {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
