import type { Review } from "../kinds/reviews.ts";
import type { Resource } from "../resource.ts";
import { isJson, mediaTypes } from "./accept.ts";
import { aggregated } from "./aggregated.ts";
import { type Group, groupsOf, type Served } from "./groups.ts";
import { type Shown, shown } from "./shown.ts";

/** All that is served, as clients find it out. */
export interface Discovery {
  /** The document at a path such as `/apis/apps/v1`; `undefined` is a 404, "unacceptable" a 406. */
  answer(path: string, accept: string | undefined): Shown | "unacceptable" | undefined;
}

/** What clients find out about these resources. Make it anew when they change. */
export function discoveryOf(
  resources: readonly Resource[],
  reviews: readonly Review[],
  serverAddress: string,
): Discovery {
  const groups = groupsOf(resources, reviews);
  const made = new Map<string, Shown | undefined>();
  const once = (key: string, make: () => Shown | undefined) => {
    if (!made.has(key)) made.set(key, make());
    return made.get(key);
  };
  return {
    answer(path, accept) {
      const form = formFor(path, accept);
      if (form === "unacceptable") return form;
      if (form !== "plain") return once(`${path} ${form}`, () => aggregated(path, form, groups));
      return once(path, () => plain(path, groups, serverAddress));
    },
  };
}

function formFor(path: string, accept: string | undefined) {
  for (const media of mediaTypes(accept)) {
    if (!isJson(media)) continue;
    const { as, g, v } = media.parameters;
    if (as === undefined) return "plain";
    const isWhole = path === "/api" || path === "/apis";
    const asked = as === "APIGroupDiscoveryList" && g === "apidiscovery.k8s.io";
    if (isWhole && asked && (v === "v2" || v === "v2beta1")) return v;
  }
  return "unacceptable";
}

function plain(path: string, groups: readonly Group[], serverAddress: string): Shown | undefined {
  const [root, name, version, ...more] = path.split("/").slice(1);
  if (more.length > 0) return undefined;
  if (root === "api") {
    if (name === undefined) return shown(coreVersions(serverAddress));
    return version === undefined ? resourceList(find(groups, ""), name) : undefined;
  }
  if (root !== "apis") return undefined;
  const named = groups.filter((group) => group.name !== "");
  if (name === undefined) {
    const list = { kind: "APIGroupList", apiVersion: "v1", groups: named.map(groupEntry) };
    return shown(list);
  }
  const group = find(named, name);
  if (group === undefined) return undefined;
  if (version !== undefined) return resourceList(group, version);
  return shown({ kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) });
}

function find(groups: readonly Group[], name: string): Group | undefined {
  return groups.find((group) => group.name === name);
}

function coreVersions(serverAddress: string) {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

function groupEntry({ name, versions }: Group) {
  const entries = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

function resourceList(group: Group | undefined, version: string): Shown | undefined {
  const found = group?.versions.find((each) => each.version === version);
  if (group === undefined || found === undefined) return undefined;
  return shown({
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group.name === "" ? version : `${group.name}/${version}`,
    resources: found.resources.flatMap(resourceEntries),
  });
}

function resourceEntries(served: Served) {
  const { name, singular, namespaced, kind, verbs, shortNames, categories } = served;
  const parts = served.subresources.map((part) => ({
    name: `${name}/${part.name}`,
    singularName: "",
    namespaced,
    ...(part.foreign && { group: part.group, version: part.version }),
    kind: part.kind,
    verbs: part.verbs,
  }));
  const whole = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
  return [whole, ...parts];
}
