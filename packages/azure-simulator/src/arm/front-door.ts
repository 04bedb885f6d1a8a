import { collectionOf, parentOf, type Resource } from "../state/store.ts";
import { checkRegistered } from "../types/providers/index.ts";
import type { Address } from "./address.ts";
import type { ArmRequest } from "./arm.ts";
import { dnsOperationWord } from "./dns-operations.ts";
import { plainEtag } from "./etags.ts";
import type { Operation } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import {
  anotherOperation,
  dnsConditionFailed,
  etagMismatch,
  groupNotFound,
  notProvisioned,
} from "./refusals.ts";
import type { ResourceStore } from "./resource-store.ts";
import {
  type Dialect,
  groupType,
  type Join,
  type Principal,
  type ResourceType,
  type World,
} from "./resource-type.ts";
import type { Routed } from "./routes.ts";

/** What is looked at before a provider gets to see a request, in the order in which Azure looks. */
export class FrontDoor {
  readonly #options: {
    world: World;
    resources: ResourceStore;
    base: () => string;
    tenantOf: (subscription: string) => string | undefined;
  };

  constructor(options: {
    world: World;
    resources: ResourceStore;
    base: () => string;
    tenantOf: (subscription: string) => string | undefined;
  }) {
    this.#options = options;
  }

  checkSubscription(address: Address, asker: Principal): void {
    if (address.subscription === undefined) return;
    const tenant = this.#options.tenantOf(address.subscription.toLowerCase());
    if (tenant === undefined)
      throw new Refusal(
        404,
        "SubscriptionNotFound",
        `The subscription '${address.subscription}' could not be found.`,
        { by: "gateway" },
      );
    if (tenant !== asker.tenant)
      throw new Refusal(
        401,
        "InvalidAuthenticationTokenTenant",
        `The access token is from the wrong issuer. It must match the tenant '${tenant}' associated with this subscription. Please use the authority (URL) of that tenant to get the token.`,
        {
          by: "gateway",
          headers: {
            "WWW-Authenticate": `Bearer error="invalid_token", error_description="The access token is from the wrong issuer."`,
          },
        },
      );
  }

  /** What lives in a group or a subscription is nowhere else; lists of what is in groups can be of a subscription. */
  checkScope(address: Address, type: ResourceType, apiVersion: string): void {
    const { subscription, resourceGroup, collection } = address;
    if (type.within === "tenant" || type.within === "scope") return;
    if (subscription === undefined)
      throw new Refusal(
        404,
        "MissingSubscription",
        "The request did not have a subscription or a valid tenant level resource provider.",
        { by: "gateway" },
      );
    if (type.within !== "resourceGroup" || resourceGroup !== undefined || collection) return;
    const [namespace, ...words] = type.type.split("/");
    throw new Refusal(
      404,
      "InvalidResourceType",
      `The resource type '${words.join("/")}' could not be found in the namespace '${namespace}' for api version '${apiVersion}'.`,
      { by: "gateway" },
    );
  }

  authorize(asker: Principal, { action, address, type }: Routed): void {
    const { world } = this.#options;
    const scope = address.collection ? collectionOf(address.key) : address.key;
    if (world.allowed(asker, action, scope)) return;
    // Whoever may read some groups of a subscription is shown those.
    if (address.collection && type?.type === groupType)
      for (const { key } of world.store.collection(address.key))
        if (world.allowed(asker, action, key)) return;
    throw notAuthorized(asker, action, address.path);
  }

  /** To look at an operation takes a right of its own, at the group that it works in. */
  authorizePoll(asker: Principal, operation: Operation, results: boolean, path: string): void {
    const { subscription, resourceGroup, dialect } = operation;
    const scope = `/subscriptions/${subscription}${resourceGroup ? `/resourceGroups/${resourceGroup}` : ""}`;
    const action = pollAction(dialect, results);
    if (this.#options.world.allowed(asker, action, scope.toLowerCase())) return;
    throw notAuthorized(asker, action, path);
  }

  checkJoins(
    asker: Principal,
    joins: readonly Join[],
    write: { action: string; path: string },
  ): void {
    const { world } = this.#options;
    for (const { id, action } of joins) {
      if (world.allowed(asker, action, id.toLowerCase())) continue;
      const linked = id.split("/")[2] ?? "";
      const tenant = this.#options.tenantOf(linked.toLowerCase());
      // The words are those of ansible-collections/azure#973.
      if (tenant !== undefined && tenant !== asker.tenant)
        throw new Refusal(
          403,
          "LinkedAuthorizationFailed",
          `The client has permission to perform action '${action}' on scope '${write.path}', however the current tenant '${asker.tenant}' is not authorized to access linked subscription '${linked}'.`,
          { by: "gateway" },
        );
      throw new Refusal(
        403,
        "LinkedAuthorizationFailed",
        `The client '${asker.appId}' with object id '${asker.objectId}' has permission to perform action '${write.action}' on scope '${write.path}'; however, it does not have permission to perform action(s) '${action}' on the linked scope(s) '${id}' (respectively) or the linked scope(s) are invalid.`,
        { by: "gateway" },
      );
    }
  }

  /** Something that is being deleted can be neither written to nor into. */
  checkNotBusy(existing: Resource | undefined, parent: Resource | undefined): void {
    for (const each of [existing, parent]) {
      const running = each?.state === "Deleting" ? this.#running(each) : undefined;
      if (running) throw anotherOperation(running, this.#options.base());
    }
  }

  /** What is being deleted cannot be referred to, and the network provider refers to no subnet that is being written. */
  checkReferred(joins: readonly Join[], id: string, { dialect }: ResourceType): void {
    for (const { id: named } of joins) {
      const key = named.toLowerCase();
      const target =
        this.#going(key) ?? (dialect === "network" ? this.#writtenSubnet(key) : undefined);
      if (target) throw notProvisioned(target, id);
    }
  }

  /** A subnet that is being written by itself; all that was reported is of these. */
  #writtenSubnet(key: string): Resource | undefined {
    const subnet = this.#options.world.store.get(key);
    const written =
      subnet?.type === "Microsoft.Network/virtualNetworks/subnets" &&
      subnet.state === "Updating" &&
      this.#running(subnet) !== undefined;
    return written ? subnet : undefined;
  }

  /** What is being deleted of a resource and all that it is in, up to its group. */
  #going(key: string): Resource | undefined {
    const { store } = this.#options.world;
    for (let at = key; at.length > 1; at = parentOf(at)) {
      const resource = store.get(at);
      if (resource?.state === "Deleting") return resource;
    }
    return undefined;
  }

  /** One write to a network or a subnet of it at a time, deletes too: what is said to another. */
  networkBusy(existing: Resource | undefined, parent: Resource | undefined): Refusal | undefined {
    const network = parent ?? existing;
    if (network?.type !== "Microsoft.Network/virtualNetworks") return undefined;
    const { store } = this.#options.world;
    for (const each of [network, ...store.collection(`${network.key}/subnets`)]) {
      const running = each.key === existing?.key ? undefined : this.#running(each);
      if (running) return anotherOperation(running, this.#options.base());
    }
    return undefined;
  }

  #running({ operation: id }: Resource): Operation | undefined {
    const operation = id === undefined ? undefined : this.#options.world.operations.get(id);
    return operation?.status === "InProgress" ? operation : undefined;
  }

  /** The refusal of a write whose If-Match or If-None-Match does not hold. */
  etagConflict(
    request: ArmRequest,
    existing: Resource | undefined,
    type: ResourceType,
  ): Refusal | undefined {
    const { ifMatch, ifNoneMatch } = request;
    const etag = existing && (this.#options.resources.etagOf(existing, type) ?? "");
    if (type.dialect === "privateDns" || type.dialect === "publicDns")
      return dnsEtagConflict(ifMatch, ifNoneMatch, etag, existing, request.path);
    if (ifNoneMatch === "*" && existing)
      return new Refusal(412, "PreconditionFailed", `The resource ${existing.id} exists already.`);
    if (ifMatch === undefined || ifMatch === "*") return undefined;
    if (existing && plainEtag(ifMatch) === plainEtag(etag ?? "")) return undefined;
    return etagMismatch(type, ifMatch, etag ?? "", existing?.id ?? request.path);
  }

  /** The group must be there, and whoever writes into it must not come while it goes. */
  checkGroup(method: string, address: Address, type: ResourceType): void {
    if (address.resourceGroup === undefined || type.type === groupType) return;
    const group = this.groupOf(address);
    if (!group) throw groupNotFound(address.resourceGroup);
    if (group.state !== "Deleting" || method === "GET" || method === "HEAD" || method === "DELETE")
      return;
    throw new Refusal(
      409,
      "ResourceGroupBeingDeleted",
      `The resource group '${group.name}' is in deprovisioning state and cannot perform this operation.`,
      { by: "gateway" },
    );
  }

  /** Nothing can be created in a namespace that the subscription is not registered for. */
  checkRegistered(method: string, { subscription }: Address, type: ResourceType): void {
    if (method !== "PUT" && method !== "PATCH") return;
    const [namespace = ""] = type.type.split("/");
    if (subscription !== undefined && type.type !== groupType)
      checkRegistered(namespace, subscription, this.#options.world);
  }

  groupOf(address: Address): Resource | undefined {
    if (address.groupKey === undefined) return undefined;
    return this.#options.world.store.get(address.groupKey);
  }
}

function notAuthorized(asker: Principal, action: string, path: string): Refusal {
  return new Refusal(
    403,
    "AuthorizationFailed",
    `The client '${asker.appId}' with object id '${asker.objectId}' does not have authorization to perform action '${action}' over scope '${path}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
    { by: "gateway" },
  );
}

/** The action that a look at an operation takes, by the words of its address. */
function pollAction(dialect: Dialect, results: boolean): string {
  switch (dialect) {
    case "resources":
      return "Microsoft.Resources/subscriptions/operationresults/read";
    case "deployments":
      return "Microsoft.Resources/deployments/operationstatuses/read";
    case "privateDns":
    case "publicDns":
      return `Microsoft.Network/${dnsOperationWord(dialect, results)}/read`;
    default: {
      const provider = dialect === "compute" ? "Microsoft.Compute" : "Microsoft.Network";
      return `${provider}/locations/${results ? "operationResults" : "operations"}/read`;
    }
  }
}

/** DNS is the one provider that distinguishes a star in If-Match from no header at all. */
function dnsEtagConflict(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
  etag: string | undefined,
  existing: Resource | undefined,
  path: string,
): Refusal | undefined {
  if (ifNoneMatch === "*" && existing) return dnsConditionFailed("exists", existing.id);
  if (ifMatch === undefined || (ifMatch === "*" && existing)) return undefined;
  if (etag !== undefined && plainEtag(ifMatch) === plainEtag(etag)) return undefined;
  return dnsConditionFailed("differs", existing?.id ?? path);
}
