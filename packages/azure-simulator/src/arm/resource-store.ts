import { lastSegment } from "@postern/core/resource-id.ts";
import { removeIdentity, syncIdentity } from "../entra/identities.ts";
import { type JsonObject, parentOf, type Resource } from "../state/store.ts";
import { bump, etagOf } from "./etags.ts";
import type { Operation } from "./operations.ts";
import { typeNamed, typesUnder } from "./registry.ts";
import {
  type Accepted,
  groupType,
  type ResourceType,
  type World,
  type Writing,
} from "./resource-type.ts";
import { show } from "./show.ts";

/** Azure does not delete these while another resource uses them, in whichever group. */
const undeletableWhileUsed = new Set([
  "Microsoft.Network/virtualNetworks/subnets",
  "Microsoft.Network/loadBalancers",
  "Microsoft.Network/publicIPAddresses",
  "Microsoft.Network/networkInterfaces",
]);

/** Writes and removes resources with their children, provisioning states and etags, and runs the hooks of their types. */
export class ResourceStore {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Write a resource and the children in its body, and run the hook of its type. */
  put(type: ResourceType, writing: Writing, accepted: Accepted, changed: boolean): Resource {
    const world = this.#world;
    const { existing, id, name } = writing;
    const before = existing && { ...existing };
    const resource: Resource = existing ?? {
      id,
      key: id.toLowerCase(),
      type: type.type,
      name,
      top: {},
      properties: {},
      state: "Succeeded",
      version: 0,
      etag: world.guid(),
    };
    resource.top = accepted.top ?? {};
    resource.properties = accepted.properties;
    if (changed) this.touch(resource, type);
    world.store.put(resource);
    if (accepted.children) this.#putChildren(resource, accepted.children);
    type.afterWrite?.(resource, before, world);
    syncIdentity(resource, before, world);
    return resource;
  }

  /** Refuse a write that leaves out a child which may not be deleted: leaving it out deletes it. */
  checkDroppedChildren(parent: Resource | undefined, wanted: Accepted["children"] = {}): void {
    if (!parent) return;
    for (const [typeName, listed] of Object.entries(wanted)) {
      const type = typeNamed(typeName);
      if (!type?.mayDelete) continue;
      const collection = `${parent.key}/${lastSegment(typeName)}`.toLowerCase();
      const keys = new Set(listed.map(({ name }) => `${collection}/${name.toLowerCase()}`));
      for (const child of this.#world.store.collection(collection))
        if (!keys.has(child.key)) type.mayDelete(child, this.#world);
    }
  }

  #putChildren(parent: Resource, wanted: NonNullable<Accepted["children"]>): void {
    const world = this.#world;
    const { store } = world;
    for (const [typeName, listed] of Object.entries(wanted)) {
      const type = typeNamed(typeName);
      if (!type) continue;
      const word = lastSegment(typeName);
      const keys = new Set(
        listed.map((each) => `${parent.key}/${word}/${each.name}`.toLowerCase()),
      );
      for (const child of [...store.collection(`${parent.key}/${word}`.toLowerCase())])
        if (!keys.has(child.key)) this.remove(child, type);
      for (const { name, top, properties } of listed) {
        const id = `${parent.id}/${word}/${name}`;
        const existing = store.get(id);
        const before = existing && { ...existing };
        const child = existing ?? {
          id,
          key: id.toLowerCase(),
          type: type.type,
          name,
          top: {},
          properties: {},
          state: "Succeeded" as const,
          version: 0,
          etag: world.guid(),
        };
        child.top = top ?? {};
        child.properties = properties;
        store.put(child);
        type.afterWrite?.(child, before, world);
      }
    }
  }

  remove(resource: Resource, type: ResourceType): void {
    const world = this.#world;
    const { store } = world;
    if (type.type === groupType) {
      for (const each of [...store.within(resource.key)])
        if (store.get(each.key)) this.#removeOne(each);
    } else
      for (const child of typesUnder(type.type)) {
        const word = lastSegment(child.type).toLowerCase();
        for (const each of [...store.collection(`${resource.key}/${word}`)])
          this.remove(each, child);
      }
    this.#removeOne(resource);
  }

  /** The resources of a group that cannot be deleted because a resource in another group uses them. */
  usedFromOutside(group: Resource): Resource[] {
    const { store } = this.#world;
    const outside = ({ key }: Resource) => !key.startsWith(`${group.key}/`);
    return [...store.within(group.key)].filter(
      (each) => undeletableWhileUsed.has(each.type) && [...store.referrers(each.key)].some(outside),
    );
  }

  #removeOne(resource: Resource): void {
    const type = typeNamed(resource.type);
    const { operations } = this.#world;
    const running = operations.get(resource.operation ?? "");
    this.#world.store.remove(resource.key);
    // A running operation is canceled: the group or the parent is gone.
    if (running) operations.end(running, "Canceled", canceledByDelete(resource));
    if (type) this.#touchRootOf(resource, type);
    type?.afterDelete?.(resource, this.#world);
    removeIdentity(resource, this.#world);
  }

  setState(resource: Resource, state: Resource["state"]): void {
    const { store } = this.#world;
    resource.state = state;
    store.put(resource);
    for (const child of typesUnder(resource.type)) {
      if (child.dialect !== "network") continue;
      const word = lastSegment(child.type).toLowerCase();
      for (const each of store.collection(`${resource.key}/${word}`))
        if (each.operation === undefined) {
          each.state = state;
          store.put(each);
        }
    }
  }

  shown(resource: Resource, type: ResourceType, query: URLSearchParams): JsonObject {
    const world = this.#world;
    return show(resource, type, world, query, this.etagOf(resource, type));
  }

  etagOf(resource: Resource, type: ResourceType): string | undefined {
    return etagOf(type.dialect === "network" ? this.rootOf(resource) : resource, type);
  }

  /** Children of the network provider share the etag of the resource that they are in. */
  rootOf(resource: Resource): Resource {
    const { store } = this.#world;
    let root = resource;
    while (isChild(root.type)) {
      const above = store.get(parentOf(root.key));
      if (!above) return root;
      root = above;
    }
    return root;
  }

  touch(resource: Resource, type: ResourceType): void {
    bump(resource);
    if (type.dialect === "network") this.#touchRootOf(resource, type);
  }

  #touchRootOf(resource: Resource, type: ResourceType): void {
    if (type.dialect !== "network" || type.within !== "parent") return;
    const root = this.#world.store.get(parentOf(resource.key));
    if (!root) return;
    const above = this.rootOf(root);
    bump(above);
    this.#world.store.put(above);
  }
}

/** Whether a type is a child type, such as `Microsoft.Network/virtualNetworks/subnets`. */
function isChild(type: string): boolean {
  return type.indexOf("/") !== type.lastIndexOf("/");
}

function canceledByDelete(resource: Resource): NonNullable<Operation["error"]> {
  const message = `The resource ${resource.id} was deleted while the operation was running.`;
  return {
    code: "Canceled",
    message: "Operation was canceled.",
    details: [{ code: "ResourceDeleted", message }],
  };
}
