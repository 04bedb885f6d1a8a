import { lastSegment } from "@postern/core/resource-id.ts";
import { collectionOf, type Resource } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { ArmOptions, ArmRequest } from "./arm.ts";
import { find, findParent, ownerOf } from "./find.ts";
import { pageStart, pageToken } from "./page-token.ts";
import { methodNotAllowed, unsupported } from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import type { ResourceStore } from "./resource-store.ts";
import { groupType, type Listed, type ResourceType } from "./resource-type.ts";
import { wholeType } from "./routes.ts";
import type { Answer } from "./wire.ts";

/** Shows what is there: one resource, or a list page by page. */
export class Reads {
  readonly #options: ArmOptions;
  readonly #resources: ResourceStore;

  constructor(options: ArmOptions, resources: ResourceStore) {
    this.#options = options;
    this.#resources = resources;
  }

  get({ query, asker }: ArmRequest, address: Address, type: ResourceType): Answer {
    const { world } = this.#options;
    const elsewhere = type.read?.({ world, asker, address, query, resource: undefined });
    if (elsewhere) return { status: 200, headers: {}, body: elsewhere };
    if (!hasGet(type)) throw unsupported("GET", address);
    const resource = find(world.store, address, type);
    const headers: Record<string, string> = {};
    const etag = this.#resources.etagOf(resource, type);
    if (etag !== undefined) headers.ETag = etag;
    const body = this.#resources.shown(resource, type, query);
    return { status: 200, headers, body, lasting: true };
  }

  /** Whether a group is there. Of other resources providers do not say it in this way. */
  head(address: Address, type: ResourceType): Answer {
    if (type.type !== groupType) throw methodNotAllowed("HEAD", address);
    find(this.#options.world.store, address, type);
    return { status: 204, headers: {} };
  }

  /** What is in a collection, or a view or a further list of what stands before the last word. */
  list(request: ArmRequest, address: Address, type: ResourceType): Answer {
    if (typeNamed(wholeType(address)) !== type) return this.#furtherList(request, address, type);
    if (address.resourceGroup === undefined && type.listedIn === "group")
      throw unsupported("GET", address);
    const { world } = this.#options;
    const { query, asker } = request;
    if (type.within === "parent") findParent(world.store, address, type);
    if (type.list) {
      const listed = type.list({ world, asker, address, query, resource: undefined });
      return this.#page(request, address, listed, type);
    }
    const found = this.#collected(address, type);
    const selected = type.selects ? found.filter((each) => type.selects?.(each, query)) : found;
    return { ...this.#page(request, address, selected, type), lasting: true };
  }

  /** The members of a collection; those of a subscription are the members of all its groups. */
  #collected(address: Address, type: ResourceType): Resource[] {
    const { store } = this.#options.world;
    // Recorded: the network provider lists what is in a group by name.
    if (address.resourceGroup !== undefined && isNetworkRoot(type))
      return [...store.collection(address.key)].sort(byName);
    if (address.resourceGroup !== undefined || type.within !== "resourceGroup")
      return [...store.collection(address.key)];
    const subscription = `/subscriptions/${address.subscription?.toLowerCase()}`;
    const rest = address.key.slice(subscription.length);
    const found: Resource[] = [];
    for (const group of store.collection(`${subscription}/resourcegroups`))
      found.push(...store.collection(group.key + rest));
    return found;
  }

  #furtherList(request: ArmRequest, address: Address, type: ResourceType): Answer {
    const { world } = this.#options;
    const word = lastSegment(wholeType(address)).toLowerCase();
    const view = Object.keys(type.views ?? {}).find((each) => each.toLowerCase() === word);
    if (view !== undefined) {
      const body = type.views?.[view]?.(find(world.store, ownerOf(address), type), world);
      return { status: 200, headers: {}, body };
    }
    const name = Object.keys(type.lists ?? {}).find((each) => each.toLowerCase() === word);
    const list = name === undefined ? undefined : type.lists?.[name];
    if (!list) throw unsupported("GET", address);
    const { query, asker } = request;
    const resource = world.store.get(collectionOf(address.key));
    if (!resource && type.accept) findParent(world.store, address, type);
    const listed = list({ world, asker, address, query, resource });
    if (name !== undefined && type.wholeLists?.includes(name))
      return this.#page(request, address, listed, type, listed.length);
    return this.#page(request, address, listed, type);
  }

  #page(
    { query }: ArmRequest,
    address: Address,
    found: readonly (Resource | Listed)[],
    type: ResourceType,
    pageSize = this.#options.pageSize,
  ): Answer {
    const { base } = this.#options;
    const from = pageStart(found, query.get("$skiptoken"));
    const size = Math.max(1, Math.min(pageSize, Number(query.get("$top")) || pageSize));
    const value = found
      .slice(from, from + size)
      .map((each) =>
        "shown" in each
          ? each.shown
          : this.#resources.shown(each, typeNamed(each.type) ?? type, query),
      );
    if (found.length <= from + size) return { status: 200, headers: {}, body: { value } };
    const next = new URLSearchParams(query);
    next.set("$skiptoken", pageToken(found[from + size - 1]));
    return {
      status: 200,
      headers: {},
      body: { value, nextLink: `${base()}${address.path}?${next}` },
    };
  }
}

/** Whether one of the type can be asked for by its name. */
export function hasGet({ put, read, within }: ResourceType): boolean {
  return put !== undefined || read !== undefined || within === "parent";
}

function isNetworkRoot({ dialect, within }: ResourceType): boolean {
  return dialect === "network" && within === "resourceGroup";
}

function byName(a: Resource, b: Resource): number {
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return first === second ? 0 : first < second ? -1 : 1;
}
