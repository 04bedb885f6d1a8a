import { type Review, reviews } from "./kinds/reviews.ts";
import type { Resource, Stored } from "./resource.ts";
import { collectionOf } from "./store.ts";

/** What is served: the built-ins, and what CRDs add. */
export class Registry {
  readonly #resourcesOf: (crd: Stored) => Resource[];
  readonly #served = new Map<string, Resource>();
  /** The versions of each CRD by its name, so that they can be taken back. */
  readonly #defined = new Map<string, Resource[]>();
  /** What those are told who use a version that is deprecated. */
  readonly #warnings = new Map<Resource, string>();
  /** The storage version of each collection. */
  readonly #storage = new Map<string, string>();
  #revision = 0;

  constructor(builtIns: readonly Resource[], resourcesOf: (crd: Stored) => Resource[]) {
    this.#resourcesOf = resourcesOf;
    for (const resource of builtIns) {
      this.#served.set(idOf(resource), resource);
      if (!resource.view) this.#storage.set(collectionOf(resource), resource.version);
    }
  }

  /** Counts up with every change, so that documents need be made only once for each. */
  get revision(): number {
    return this.#revision;
  }

  /** A question that is answered and not stored. */
  review({
    group,
    version,
    plural,
  }: {
    group: string;
    version: string;
    plural: string;
  }): Review | undefined {
    return reviews.find(
      (each) => each.plural === plural && each.group === group && each.version === version,
    );
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#served.get(`${plural}.${version}.${group}`);
  }

  /** Any version of a resource, by its kind. */
  byKind(group: string, kind: string): Resource | undefined {
    for (const each of this.#served.values())
      if (each.kind === kind && each.group === group) return each;
    return undefined;
  }

  /** Everything that is served. */
  all(): Resource[] {
    return [...this.#served.values()];
  }

  /** One version for each collection: what has objects of its own. */
  storageResources(): Resource[] {
    const found = new Map<string, Resource>();
    for (const resource of this.#served.values()) {
      if (resource.view || resource.verbs?.includes("list") === false) continue;
      const collection = collectionOf(resource);
      if (!found.has(collection) || resource.version === this.#storage.get(collection))
        found.set(collection, resource);
    }
    return [...found.values()];
  }

  /** The warning for clients that use a version; undefined for most. */
  warning(resource: Resource): string | undefined {
    return this.#warnings.get(resource);
  }

  /** All versions in which a resource is served. */
  versionsOf({ group, plural }: { group: string; plural: string }): Resource[] {
    return this.all().filter((each) => each.plural === plural && each.group === group);
  }

  /** The resource in its storage version, where that is served. */
  storageResource(about: { group: string; plural: string }): Resource | undefined {
    const version = this.#storage.get(collectionOf(about));
    return version === undefined ? undefined : this.find(about.group, version, about.plural);
  }

  /** The storage version of a resource. */
  storageVersion(resource: Resource): string {
    return this.#storage.get(collectionOf(resource)) ?? resource.version;
  }

  /** Serve what a CRD says, in place of what it said before. */
  define(crd: Stored): void {
    this.undefine(crd.metadata.name);
    const made = this.#resourcesOf(crd);
    this.#defined.set(crd.metadata.name, made);
    for (const resource of made) {
      this.#served.set(idOf(resource), resource);
      const warning = deprecationOf(crd, resource);
      if (warning !== undefined) this.#warnings.set(resource, warning);
    }
    const [first] = made;
    const version = storageVersionOf(crd);
    if (first && version !== undefined) this.#storage.set(collectionOf(first), version);
    this.#revision++;
  }

  /** Serve a CRD no longer. */
  undefine(name: string): void {
    for (const resource of this.#defined.get(name) ?? []) {
      this.#served.delete(idOf(resource));
      this.#warnings.delete(resource);
    }
    if (this.#defined.delete(name)) this.#revision++;
  }
}

function idOf({ group, version, plural }: Resource): string {
  return `${plural}.${version}.${group}`;
}

interface Version {
  name: string;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
}

/** The storage version of a CRD. */
export function storageVersionOf(crd: Stored): string | undefined {
  return versionsIn(crd).find((version) => version.storage)?.name;
}

function versionsIn(crd: Stored): Version[] {
  return (crd.spec as { versions?: Version[] }).versions ?? [];
}

function deprecationOf(crd: Stored, { group, version, kind }: Resource): string | undefined {
  const found = versionsIn(crd).find((each) => each.name === version);
  if (!found?.deprecated) return undefined;
  return found.deprecationWarning ?? `${group}/${version} ${kind} is deprecated`;
}
