import type { Directory } from "../entra/directory.ts";
import type { JsonObject, Resource, Store } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { Operation, Operations } from "./operations.ts";
import type { Refusal } from "./refusal.ts";
import type { Roles } from "./roles.ts";
import type { Switches } from "./switches.ts";

/** The type of resource groups, which the front door knows itself. */
export const groupType = "Microsoft.Resources/resourceGroups";

/** How a provider speaks: the form of its operations, its etags and its errors. */
export type Dialect =
  | "network"
  | "privateDns"
  | "publicDns"
  | "compute"
  | "resources"
  | "deployments"
  | "storage"
  | "authorization"
  | "identity";

/** Who asks. */
export interface Principal {
  tenant: string;
  objectId: string;
  appId: string;
}

/** All that a resource type may look at and change. */
export interface World {
  readonly store: Store;
  readonly operations: Operations;
  readonly directory: Directory;
  readonly roles: Roles;
  now(): number;
  /** A guid that is the same in every run with the same seed. */
  guid(): string;
  /** Whether the asker may do something. Used for what a write refers to. */
  allowed(asker: Principal, action: string, scopeKey: string): boolean;
  readonly switches: Switches;
  /** Write a resource as a request of the asker would, and have it done. What is refused is thrown as a `Refusal`. */
  write(id: string, body: JsonObject, asker: Principal, apiVersion: string): Operation["error"];
  /** What a GET of the newest version shows the asker of a resource; what he may not read is refused. */
  shown(id: string, asker: Principal): JsonObject | undefined;
}

/** A write, as a resource type is asked about it. */
export interface Writing {
  world: World;
  asker: Principal;
  address: Address;
  /** The id in the spelling that will be stored. */
  id: string;
  name: string;
  body: JsonObject;
  /** The `properties` of the body; an empty object where it has none. */
  properties: JsonObject;
  existing: Resource | undefined;
  /** The parent of a child; it is there. */
  parent: Resource | undefined;
  /** The location of the resource group. It is no default: error messages name it where a location is missing. */
  groupLocation: string | undefined;
}

/** An id that a write uses, and the action that the asker needs on it. */
export interface Join {
  id: string;
  action: string;
}

/** A child in the body of its parent. */
export interface Child {
  name: string;
  top?: JsonObject;
  properties: JsonObject;
}

/** What a resource type makes of a write. */
export interface Accepted {
  top?: JsonObject;
  properties: JsonObject;
  /** Other ids that the write uses, and the action that the asker needs on each. */
  joins?: readonly Join[];
  /** The write is accepted, nothing is stored, and its operation ends with this error. */
  fails?: NonNullable<Operation["error"]>;
  /** Further writes that this one asks for, done as it is accepted. What they fail with is what its operation fails with. */
  carryOut?(resource: Resource): Operation["error"];
  /** Children in the body, such as the subnets of a network: all that there will be of each type named here. */
  children?: Readonly<Record<string, readonly Child[]>>;
}

/** How the first answer to a write looks. `async` is a long-running operation. */
export type PutStyle =
  /** 201 or 200 at once, done. */
  | "sync"
  /** An operation; the body says Updating while it changes something. */
  | "async"
  /** An operation, but the body says Succeeded from the first answer on. */
  | "asyncDone"
  /** Done at once, but the body of the answer still says Updating. */
  | "syncUpdating";

/** A write that was done, for the style of its answer. */
export interface Written {
  resource: Resource;
  /** The same as it was before; undefined where it is new. */
  before: Resource | undefined;
  changed: boolean;
}

export type DeleteStyle =
  /** 202 and an operation. */
  | "async"
  /** 200, and yet the headers of an operation. */
  | "async200"
  /** 200 when it was there, 204 when not. */
  | "sync";

/**
 * One type of Azure resource. A new one is a folder under `types/` with a file that exports this and a line in
 * `registry.ts`.
 */
export interface ResourceType {
  /** Spelled as documented: `Microsoft.Network/virtualNetworks/subnets`. */
  type: string;
  dialect: Dialect;
  /** What actions of roles call the type, where it is not the same. */
  roleType?: string;
  /** `parent`: a child of the type without its last word. `scope`: put on any id. */
  within: "resourceGroup" | "subscription" | "parent" | "scope" | "tenant";
  put?: PutStyle | ((write: Written) => PutStyle);
  /** Whether a write answers 201 even where it changes what is there. */
  putsAnew?: boolean;
  delete?: DeleteStyle | ((resource: Resource) => DeleteStyle);
  /** Whether PATCH changes the tags. */
  patchTags?: boolean;
  /** What a PATCH makes of what is there: the body of a PUT, which is then written. */
  patch?(body: JsonObject, resource: Resource): JsonObject;
  /** What a write uses, as far as its body tells: rights on it are asked for before the provider looks. */
  joins?(writing: Writing): readonly Join[];
  /** Validate a write: refuse it, or return what to store. It must not change anything. */
  accept?(writing: Writing): Accepted;
  /**
   * Computed properties that a reader sees beside the stored ones. They must depend on the store and the query alone:
   * answers are cached as long as the store is the same.
   */
  show?(resource: Resource, world: World, query: URLSearchParams): JsonObject;
  /** Hook: changes other resources after a write. */
  afterWrite?(resource: Resource, before: Resource | undefined, world: World): void;
  /** Hook: runs when the operation of a write has succeeded. */
  afterProvision?(resource: Resource, world: World): void;
  /** Hook: runs when the operation of a write has failed or was canceled. */
  afterFailure?(resource: Resource, world: World): void;
  /** Refuse a delete, or let it be. */
  mayDelete?(resource: Resource, world: World): void;
  /** Hook: changes other resources after the operation of a delete has ended. */
  afterDelete?(resource: Resource, world: World): void;
  /** What a GET of one that is not there says, where it is not what its provider says of others. */
  missing?(address: Address): Refusal;
  /** Further operations by POST, named by the last word of the path. */
  posts?: Readonly<Record<string, PostAction>>;
  /** What a GET shows of one that is not in the store, such as a built-in role; undefined to look there. */
  read?(asked: Listing): JsonObject | undefined;
  /** Where its resources cannot be listed for a whole subscription. */
  listedIn?: "group";
  /** The list of the type, where it is not one collection of the store. */
  list?(asked: Listing): readonly (Resource | Listed)[];
  /** Anyone who is signed in may ask; the type shows only what the asker has rights on. */
  open?: boolean;
  /** Whether a DELETE answers with what was there. */
  showsDeleted?: boolean;
  /** Further documents by GET, named by the last word of the path. */
  views?: Readonly<Record<string, (resource: Resource, world: World) => JsonObject>>;
  /** Whether a list that is asked for with this query holds it. All do where nothing is said. */
  selects?(resource: Resource, query: URLSearchParams): boolean;
  /** Further lists by GET, named by the last word of the path. */
  lists?: Readonly<Record<string, (asked: Listing) => readonly (Resource | Listed)[]>>;
  /** Those of `lists` that Azure never cuts into pages. */
  wholeLists?: readonly string[];
  /** For the support matrix: what of Azure is not done, or done differently, and on what evidence. Empty for none. */
  differences: readonly string[];
}

/** A list that is asked for. */
export interface Listing {
  world: World;
  asker: Principal;
  address: Address;
  query: URLSearchParams;
  /** What the list is of; there is none where it is of a place. */
  resource: Resource | undefined;
}

/** A line of a list that is not a resource of its own. */
export interface Listed {
  shown: JsonObject;
}

/** An operation that is asked for by POST. */
export interface PostAction {
  action: string;
  long: boolean;
  /** Whether it is asked for under a name that has no resource yet. */
  isOfNew?: boolean;
  run(asked: {
    world: World;
    asker: Principal;
    address: Address;
    body: JsonObject;
    resource: Resource | undefined;
  }): JsonObject | undefined;
}
