import { type ActionPattern, actionPattern } from "@postern/core/action-pattern.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import type { JsonObject, Resource, Store } from "../state/store.ts";
import type { Principal } from "./resource-type.ts";
import {
  builtInRoles,
  ownerRole,
  type Permission,
  type RoleDefinition,
} from "./role-definitions.ts";

/** A role that someone has at a scope. */
export interface RoleAssignment {
  /** The scope in lower case; empty for the whole tenant. */
  scope: string;
  principalId: string;
  /** The guid of the role. */
  role: string;
}

/** Where something may be done. */
interface Scopes {
  /** In the whole tenant. */
  all: boolean;
  keys: ReadonlySet<string>;
  /** How long the keys are: only so long beginnings of a key need be looked up. */
  lengths: readonly number[];
}

const slash = 47;

const assignmentType = "Microsoft.Authorization/roleAssignments";
const definitionType = "Microsoft.Authorization/roleDefinitions";
const assignmentWord = "/providers/microsoft.authorization/roleassignments/";

/** Who may do what, where. */
export class Roles {
  readonly #store: Store;
  readonly #tenantOf: (subscription: string) => string | undefined;
  readonly #owners = new Set<string>();
  readonly #assignments = new Map<string, RoleAssignment>();
  readonly #byPrincipal = new Map<string, Set<RoleAssignment>>();
  readonly #definitions = new Map<string, RoleDefinition>();
  readonly #patterns = new Map<string, ActionPattern>();
  /** By principal and action: the scopes at which it may be done. Small: it does not grow with the resources. */
  readonly #allowed = new Map<string, Map<string, Scopes>>();
  #loaded = false;

  constructor(options: { store: Store; tenantOf: (subscription: string) => string | undefined }) {
    this.#store = options.store;
    this.#tenantOf = options.tenantOf;
    for (const each of builtInRoles) this.#definitions.set(each.name, each);
  }

  /** Let someone do everything everywhere in their tenant, until the process ends: a state file does not keep it. */
  makeOwner(principal: Principal): void {
    const id = principal.objectId.toLowerCase();
    this.#owners.add(id);
    this.#allowed.delete(id);
  }

  /** Whether someone may do something at a scope, which is in lower case. */
  allow(asker: Principal, action: string, scopeKey: string): boolean {
    let byAction = this.#allowed.get(asker.objectId);
    let scopes = byAction?.get(action);
    if (!scopes) {
      scopes = this.#scopesOf(asker.objectId, action);
      if (!byAction) {
        byAction = new Map();
        this.#allowed.set(asker.objectId, byAction);
      }
      byAction.set(action, scopes);
    }
    if (scopes.all && this.#inTenant(asker, scopeKey)) return true;
    for (const length of scopes.lengths) {
      if (length > scopeKey.length) continue;
      if (
        length === scopeKey.length ? scopes.keys.has(scopeKey) : reaches(scopes, scopeKey, length)
      )
        return true;
    }
    return false;
  }

  /** What someone may do at a scope, role by role. */
  permissionsAt(asker: Principal, scopeKey: string): Permission[] {
    const found: Permission[] = [];
    for (const { scope, role } of this.#assignmentsOf(asker.objectId)) {
      if (!isWithin(scopeKey, scope)) continue;
      if (scope === "" && !this.#inTenant(asker, scopeKey)) continue;
      found.push(...(this.definition(role)?.permissions ?? []));
    }
    return found;
  }

  /** Whether someone has any role in a subscription, be it on one resource. */
  hasAny(asker: Principal, subscription: string): boolean {
    const key = `/subscriptions/${subscription}`.toLowerCase();
    if (this.#tenantOf(subscription) !== asker.tenant) return false;
    return this.#assignmentsOf(asker.objectId).some(
      ({ scope }) => isWithin(key, scope) || isWithin(scope, key),
    );
  }

  /** A role by its guid. */
  definition(guid: string): RoleDefinition | undefined {
    this.#load();
    return this.#definitions.get(guid.toLowerCase());
  }

  definitions(): Iterable<RoleDefinition> {
    this.#load();
    return this.#definitions.values();
  }

  /** Every assignment that is a resource, with its key. */
  assignments(): ReadonlyMap<string, RoleAssignment> {
    this.#load();
    return this.#assignments;
  }

  /** Record an assignment or a definition that was written. */
  put(resource: Resource): void {
    this.#load();
    if (resource.type === definitionType) {
      this.#definitions.set(resource.name.toLowerCase(), definitionOf(resource));
      this.#allowed.clear();
    } else {
      this.drop(resource);
      const made = assignmentOf(resource);
      this.#assignments.set(resource.key, made);
      const held = this.#byPrincipal.get(made.principalId);
      if (held) held.add(made);
      else this.#byPrincipal.set(made.principalId, new Set([made]));
      this.#allowed.delete(made.principalId);
    }
  }

  /** Forget one that was deleted. */
  drop(resource: Resource): void {
    this.#load();
    if (resource.type === definitionType) {
      this.#definitions.delete(resource.name.toLowerCase());
      this.#allowed.clear();
      return;
    }
    const held = this.#assignments.get(resource.key);
    if (!held) return;
    this.#assignments.delete(resource.key);
    const others = this.#byPrincipal.get(held.principalId);
    others?.delete(held);
    if (others?.size === 0) this.#byPrincipal.delete(held.principalId);
    this.#allowed.delete(held.principalId);
  }

  #scopesOf(principal: string, action: string): Scopes {
    const plain = action.toLowerCase();
    const keys = new Set<string>();
    for (const { scope, role } of this.#assignmentsOf(principal))
      if (this.definition(role)?.permissions.some((each) => this.#gives(each, plain)))
        keys.add(scope);
    const all = keys.delete("");
    return { all, keys, lengths: [...new Set([...keys].map((key) => key.length))] };
  }

  /** What is taken away is so from this permission only: another role may give it. */
  #gives({ actions, notActions }: Permission, action: string): boolean {
    const named = (pattern: string) => this.#pattern(pattern)(action);
    return actions.some(named) && !notActions.some(named);
  }

  #pattern(text: string): ActionPattern {
    let pattern = this.#patterns.get(text);
    if (!pattern) {
      pattern = actionPattern(text);
      this.#patterns.set(text, pattern);
    }
    return pattern;
  }

  #assignmentsOf(principal: string): RoleAssignment[] {
    this.#load();
    const principalId = principal.toLowerCase();
    const held = [...(this.#byPrincipal.get(principalId) ?? [])];
    if (this.#owners.has(principalId)) held.push({ scope: "", principalId, role: ownerRole });
    return held;
  }

  /** A right in the whole tenant is none in another. */
  #inTenant(asker: Principal, scopeKey: string): boolean {
    if (!scopeKey.startsWith("/subscriptions/")) return true;
    const end = scopeKey.indexOf("/", 15);
    return this.#tenantOf(scopeKey.slice(15, end < 0 ? undefined : end)) === asker.tenant;
  }

  /** What came with a saved state was written before anyone could tell. */
  #load(): void {
    if (this.#loaded) return;
    this.#loaded = true;
    for (const resource of this.#store.all())
      if (resource.type === assignmentType || resource.type === definitionType) this.put(resource);
  }
}

/** Whether something is at a scope or inside it; both in lower case. */
export function isWithin(key: string, scope: string): boolean {
  if (!key.startsWith(scope)) return false;
  return scope === "" || key.length === scope.length || key.charCodeAt(scope.length) === slash;
}

function reaches({ keys }: Scopes, key: string, length: number): boolean {
  return key.charCodeAt(length) === slash && keys.has(key.slice(0, length));
}

function assignmentOf({ key, properties }: Resource): RoleAssignment {
  const role = String(properties.roleDefinitionId ?? "");
  return {
    scope: key.slice(0, key.lastIndexOf(assignmentWord)),
    principalId: String(properties.principalId ?? "").toLowerCase(),
    role: lastSegment(role).toLowerCase(),
  };
}

function definitionOf({ name, properties }: Resource): RoleDefinition {
  const permissions = properties.permissions as JsonObject[];
  return {
    name: name.toLowerCase(),
    roleName: String(properties.roleName),
    description: String(properties.description ?? ""),
    builtIn: false,
    assignableScopes: properties.assignableScopes as string[],
    permissions: permissions.map((each) => ({
      actions: each.actions as string[],
      notActions: each.notActions as string[],
    })),
  };
}
