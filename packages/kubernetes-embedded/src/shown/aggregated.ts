import type { Group, Served } from "./groups.ts";
import { type Shown, shown } from "./shown.ts";

/** Everything below `/api` or `/apis` in one document, as newer clients ask for it. */
export function aggregated(
  path: string,
  version: "v2" | "v2beta1",
  groups: readonly Group[],
): Shown {
  const isCore = path === "/api";
  const items = groups.filter((group) => (group.name === "") === isCore).map(groupItem);
  const list = {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items,
  };
  return shown(
    list,
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
  );
}

function groupItem({ name, versions }: Group) {
  return {
    metadata: { ...(name !== "" && { name }), creationTimestamp: null },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(resourceItem),
      freshness: "Current",
    })),
  };
}

function resourceItem(served: Served) {
  const { shortNames, categories, subresources } = served;
  const parts = subresources.map((part) => ({
    subresource: part.name,
    responseKind: { group: part.group, version: part.version, kind: part.kind },
    verbs: part.verbs,
  }));
  return {
    resource: served.name,
    responseKind: { group: served.group, version: served.version, kind: served.kind },
    scope: served.namespaced ? "Namespaced" : "Cluster",
    singularResource: served.singular,
    verbs: served.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(parts.length > 0 && { subresources: parts }),
  };
}
