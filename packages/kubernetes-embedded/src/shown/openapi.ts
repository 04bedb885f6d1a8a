import type { Resource } from "../resource.ts";
import { componentsOf } from "./openapi-components.ts";
import { pathsOf } from "./openapi-paths.ts";
import { type Shown, shown } from "./shown.ts";

/** What is answered below `/openapi/v3`. */
export type OpenApiAnswer =
  /** `immutable` where the client named the very document, so that it may keep it for good. */
  | { document: Shown; immutable: boolean }
  /** The document has changed since the client learned its address. */
  | { movedTo: string };

/** The schemas of all that is served, as OpenAPI v3. */
export interface OpenApi {
  answer(path: string, hash: string | undefined): OpenApiAnswer | undefined;
}

const root = "/openapi/v3";

/** The schemas of these resources, one document for each group and version. Make it anew when they change. */
export function openApiOf(resources: readonly Resource[]): OpenApi {
  const byPath = Map.groupBy(resources, pathOf);
  const documents = new Map<string, Shown>();
  const documentAt = (path: string): Shown | undefined => {
    const known = documents.get(path);
    const served = byPath.get(path);
    if (known !== undefined || served === undefined) return known;
    const made = shown(documentOf(served));
    documents.set(path, made);
    return made;
  };
  let index: Shown | undefined;
  return {
    answer(path, hash) {
      if (path === root || path === `${root}/`) {
        index ??= shown(indexOf([...byPath.keys()], documentAt));
        return { document: index, immutable: false };
      }
      const found = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : "";
      const document = documentAt(found);
      if (document === undefined) return undefined;
      if (hash === undefined) return { document, immutable: false };
      if (hash === hashOf(document)) return { document, immutable: true };
      return { movedTo: addressOf(found, document) };
    },
  };
}

function pathOf({ group, version }: Resource): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function hashOf({ etag }: Shown): string {
  return etag.slice(1, -1);
}

function addressOf(path: string, document: Shown): string {
  return `${root}/${path}?hash=${hashOf(document)}`;
}

function indexOf(paths: readonly string[], documentAt: (path: string) => Shown | undefined) {
  const entries = paths.flatMap((path) => {
    const document = documentAt(path);
    return document ? [[path, { serverRelativeURL: addressOf(path, document) }]] : [];
  });
  return { paths: Object.fromEntries(entries) };
}

function documentOf(resources: readonly Resource[]) {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths: Object.assign({}, ...resources.map(pathsOf)),
    components: { schemas: componentsOf(resources) },
  };
}
