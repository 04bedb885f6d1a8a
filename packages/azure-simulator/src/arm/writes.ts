import { lastSegment } from "@postern/core/resource-id.ts";
import { parentOf, type Resource } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { ArmOptions, ArmRequest } from "./arm.ts";
import { checkPlace, checkTopFields, differs, objectBody, objectIn } from "./checks.ts";
import { tags } from "./fields.ts";
import { find, findParent, ownerOf } from "./find.ts";
import type { FrontDoor } from "./front-door.ts";
import { checkKnownFields } from "./known-fields.ts";
import type { LongOperations } from "./long-operations.ts";
import type { Operation } from "./operations.ts";
import { deletionBlocked, unsupported } from "./refusals.ts";
import type { ResourceStore } from "./resource-store.ts";
import { type Accepted, groupType, type ResourceType, type Writing } from "./resource-type.ts";
import type { Answer } from "./wire.ts";

const noQuery = new URLSearchParams();

/** Changes what is there: writes, deletes and the actions of POST. */
export class Writes {
  readonly #options: ArmOptions;
  readonly #resources: ResourceStore;
  readonly #door: FrontDoor;
  readonly #operations: LongOperations;

  constructor(
    options: ArmOptions,
    resources: ResourceStore,
    door: FrontDoor,
    operations: LongOperations,
  ) {
    this.#options = options;
    this.#resources = resources;
    this.#door = door;
    this.#operations = operations;
  }

  put(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    if (!type.accept || !type.put) throw unsupported("PUT", address);
    const { store } = world;
    const body = objectBody(request.body);
    const existing = store.get(address.key);
    const parent = type.within === "parent" ? findParent(store, address, type, "write") : undefined;
    const conflict = this.#door.etagConflict(request, existing, type);
    if (conflict && !failsLater(type)) throw conflict;
    checkTopFields(body, type);
    checkPlace(body, existing, type);
    const name = address.names.at(-1) ?? address.resourceGroup ?? "";
    const group = this.#door.groupOf(address);
    const writing: Writing = {
      world,
      asker: request.asker,
      address,
      id: existing?.id ?? idFor(address, type, parent, group),
      name: existing?.name ?? (type.dialect === "privateDns" ? name.toLowerCase() : name),
      body,
      properties: objectIn(body, "properties"),
      existing,
      parent,
      groupLocation: typeof group?.top.location === "string" ? group.top.location : undefined,
    };
    const joins = type.joins?.(writing) ?? [];
    const write = { action: `${type.roleType ?? type.type}/write`, path: address.path };
    this.#door.checkJoins(request.asker, joins, write);
    checkKnownFields(writing.properties, type.type);
    const accepted = type.accept(writing);
    this.#door.checkJoins(request.asker, accepted.joins ?? [], write);
    this.#door.checkNotBusy(existing, parent);
    this.#door.checkReferred([...joins, ...(accepted.joins ?? [])], writing.id, type);
    const busy = this.#door.networkBusy(existing, parent);
    if (busy && world.switches.concurrentNetworkWrites === "refuse") throw busy;
    this.#resources.checkDroppedChildren(existing, accepted.children);
    const fails = accepted.fails ?? conflict?.error ?? busy?.error;
    if (fails) return this.#failing(fails, writing, accepted, type, apiVersion);
    const changed = !existing || differs(existing, accepted, world);
    const before = existing && { ...existing };
    const resource = this.#resources.put(type, writing, accepted, changed);
    const error = accepted.carryOut?.(resource);
    const status = existing && !type.putsAnew ? 200 : 201;
    const version = new URLSearchParams({ "api-version": apiVersion });
    const style =
      typeof type.put === "function" ? type.put({ resource, before, changed }) : type.put;
    if (style === "sync") {
      type.afterProvision?.(resource, world);
      const headers = this.#etagHeader(resource, type);
      return { status, headers, body: this.#resources.shown(resource, type, version) };
    }
    // Compute says Creating of what is new, and Updating even where nothing changes.
    const compute = type.dialect === "compute";
    if ((changed || compute) && style !== "asyncDone")
      this.#resources.setState(resource, existing || !compute ? "Updating" : "Creating");
    const shown = this.#resources.shown(resource, type, version);
    const etag: Record<string, string> = compute
      ? { ETag: this.#resources.etagOf(resource, type) ?? "" }
      : {};
    if (style === "syncUpdating") {
      this.#resources.setState(resource, "Succeeded");
      return { status, headers: etag, body: shown };
    }
    const operation = this.#operations.beginOn("PUT", resource, type, address, error);
    const headers = { ...this.#operations.headers(operation, apiVersion), ...etag };
    return type.dialect === "privateDns"
      ? { status: 202, headers, body: {} }
      : { status, headers, body: shown };
  }

  /** Recorded: DNS shows the etag of what was written beside its body too. */
  #etagHeader(resource: Resource, type: ResourceType): Record<string, string> {
    const isDns = type.dialect === "privateDns" || type.dialect === "publicDns";
    const etag = isDns ? this.#resources.etagOf(resource, type) : undefined;
    return etag === undefined ? {} : { ETag: etag };
  }

  /** A write that is taken and then fails: there is nothing of it but its operation. */
  #failing(
    error: NonNullable<Operation["error"]>,
    { address, id, name, existing }: Writing,
    { top = {}, properties }: Accepted,
    type: ResourceType,
    apiVersion: string,
  ): Answer {
    const location = this.#door.groupOf(address)?.top.location;
    const operation = this.#operations.begin("PUT", address, type, { location, error });
    const headers = this.#operations.headers(operation, apiVersion);
    if (type.dialect === "privateDns") return { status: 202, headers, body: {} };
    const asked = { id, key: id.toLowerCase(), type: type.type, name, top, properties };
    const taken: Resource = { ...asked, state: "Updating", version: 0, etag: "" };
    const body = this.#resources.shown(taken, type, noQuery);
    return { status: existing ? 200 : 201, headers, body };
  }

  patch(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { store } = this.#options.world;
    if (type.patch) {
      const held = find(store, address, type);
      const body = type.patch(objectBody(request.body), held);
      return this.put({ ...request, body }, address, type, apiVersion);
    }
    if (!type.patchTags) throw unsupported("PATCH", address);
    const resource = find(store, address, type);
    const conflict = this.#door.etagConflict(request, resource, type);
    if (conflict) throw conflict;
    this.#door.checkNotBusy(resource, undefined);
    const given = tags(objectBody(request.body));
    // What is not said stays: a PATCH without tags changes nothing.
    if (given.tags !== undefined) {
      this.#resources.touch(resource, type);
      resource.top = { ...resource.top, ...given };
      store.put(resource);
    }
    return { status: 200, headers: {}, body: this.#resources.shown(resource, type, noQuery) };
  }

  delete(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    if (!type.delete) throw unsupported("DELETE", address);
    const resource = world.store.get(address.key);
    // A resource group that is not there is refused; anything else that is not there is gone already.
    if (!resource && type.type === groupType) find(world.store, address, type);
    if (!resource) return { status: 204, headers: {} };
    const conflict = this.#door.etagConflict(request, resource, type);
    if (conflict && !failsLater(type)) throw conflict;
    const busy = this.#door.networkBusy(resource, world.store.get(parentOf(resource.key)));
    if (busy) throw busy;
    type.mayDelete?.(resource, world);
    const style = typeof type.delete === "function" ? type.delete(resource) : type.delete;
    const going =
      resource.state === "Deleting" ? world.operations.get(resource.operation ?? "") : undefined;
    if (going?.status === "InProgress") {
      // It goes already: whoever asks again is shown the operation that takes it away.
      const headers = this.#operations.headers(going, apiVersion);
      return { status: style === "async200" ? 200 : 202, headers };
    }
    if (style === "sync") {
      const body = type.showsDeleted && { body: this.#resources.shown(resource, type, noQuery) };
      this.#resources.remove(resource, type);
      return { status: 200, headers: {}, ...body };
    }
    if (conflict) {
      const { error } = conflict;
      const failing = this.#operations.begin("DELETE", address, type, {
        location: "global",
        error,
      });
      return { status: 202, headers: this.#operations.headers(failing, apiVersion) };
    }
    const held = type.type === groupType ? this.#resources.usedFromOutside(resource) : [];
    this.#resources.setState(resource, "Deleting");
    const error = held.length > 0 ? deletionBlocked(resource, held) : undefined;
    const operation = this.#operations.beginOn("DELETE", resource, type, address, error);
    const headers = this.#operations.headers(operation, apiVersion);
    return { status: style === "async200" ? 200 : 202, headers };
  }

  post(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    const word = lastSegment(address.type).toLowerCase();
    const name = Object.keys(type.posts ?? {}).find((each) => each.toLowerCase() === word);
    const action = name === undefined ? undefined : type.posts?.[name];
    if (!action || !address.collection) throw unsupported("POST", address);
    const owner = ownerOf(address);
    const mustExist = type.accept && !action.isOfNew;
    const resource = mustExist ? find(world.store, owner, type) : world.store.get(owner.key);
    const body = objectBody(request.body ?? {});
    const result = action.run({ world, asker: request.asker, address, body, resource });
    if (!action.long) return { status: 200, headers: {}, ...(result && { body: result }) };
    const operation = this.#operations.begin("POST", address, type, {
      location: (resource && this.#resources.rootOf(resource).top.location) ?? address.names[0],
      ...(result && { result }),
    });
    return { status: 202, headers: this.#operations.headers(operation, apiVersion) };
  }
}

/** Recorded: private DNS takes writes to zones and links with an etag that does not match, and fails their operations. */
function failsLater(type: ResourceType): boolean {
  return type.dialect === "privateDns" && type.put === "async";
}

/** The id of what is new, in the spelling that its provider keeps. */
function idFor(
  address: Address,
  type: ResourceType,
  parent: Resource | undefined,
  group: Resource | undefined,
): string {
  const words = type.type.split("/");
  // Private DNS keeps the names of groups, zones, links and records in lower case; public DNS those of groups.
  const small = (text: string) => (type.dialect === "privateDns" ? text.toLowerCase() : text);
  const name = small(address.names.at(-1) ?? "");
  if (parent) return `${parent.id}/${words.at(-1)}/${name}`;
  if (type.type === groupType)
    return `/subscriptions/${address.subscription}/resourceGroups/${address.resourceGroup}`;
  if (group && (type.dialect === "privateDns" || type.dialect === "publicDns"))
    return `/subscriptions/${address.subscription}/resourceGroups/${group.name.toLowerCase()}/providers/${words[0]}/${words[1]}/${name}`;
  const scope =
    (type.within === "scope" ? undefined : group?.id) ??
    address.path.split("/").slice(0, address.scopeDepth).join("/");
  return `${scope}/providers/${words[0]}/${words
    .slice(1)
    .map((word, i) => `${word}/${address.names[i]}`)
    .join("/")}`;
}
