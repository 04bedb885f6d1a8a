import type { World } from "./call.ts";
import { storageVersionOf } from "./registry.ts";
import type { Cause, Resource, Stored } from "./resource.ts";
import { problemsOfCrd } from "./schema/definition.ts";
import { collectionOf } from "./store.ts";

/** Where CRDs are held. */
export const definitions = "customresourcedefinitions.apiextensions.k8s.io";

/** What holds a CRD back until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

interface Names {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

interface Spec {
  group: string;
  names: Names;
  conversion?: { strategy: string };
}

interface Condition {
  type: string;
  status: "True" | "False";
  lastTransitionTime: string;
  reason: string;
  message: string;
}

interface DefinitionStatus {
  conditions?: Condition[];
  acceptedNames?: Names;
  storedVersions?: string[];
}

export function isDefinition(resource: Resource): boolean {
  return collectionOf(resource) === definitions;
}

/** A CRD with the names that it leaves out. */
export function withNames(crd: Stored): Stored {
  const spec = crd.spec as Spec | undefined;
  if (!spec?.names) return crd;
  const { kind } = spec.names;
  const names = {
    ...spec.names,
    singular: spec.names.singular || kind?.toLowerCase(),
    listKind: spec.names.listKind || `${kind}List`,
  };
  return { ...crd, spec: { ...spec, names, conversion: spec.conversion ?? { strategy: "None" } } };
}

/** What is wrong with a CRD; undefined where too little of it is there to tell, which its schema tells as well. */
export function definitionProblems(crd: Stored, old: Stored | undefined): Cause[] | undefined {
  const { names, versions } = (crd.spec ?? {}) as Partial<Spec> & { versions?: unknown };
  return names && Array.isArray(versions) ? problemsOfCrd(crd, old) : undefined;
}

/** A CRD with what the API server itself says of it: whether it is served, and in which versions objects are held. */
export function definitionStatus(
  crd: Stored,
  old: Stored | undefined,
  others: readonly Stored[],
  now: number,
): Stored {
  const spec = crd.spec as Spec;
  const status = (crd.status ?? {}) as DefinitionStatus;
  const storage = storageVersionOf(crd);
  const stored = status.storedVersions ?? (old?.status as DefinitionStatus)?.storedVersions ?? [];
  const rivals = others.filter((other) => other.metadata.uid !== crd.metadata.uid);
  const rival = rivalOf(spec, rivals);
  const made = rival === undefined ? accepted : refusedFor(rival);
  return {
    ...crd,
    status: {
      ...status,
      conditions: made.reduce(
        (all, next) => withCondition(all, next, now),
        status.conditions ?? [],
      ),
      acceptedNames:
        rival === undefined ? spec.names : (status.acceptedNames ?? { plural: "", kind: "" }),
      storedVersions: !storage || stored.includes(storage) ? stored : [...stored, storage],
    },
  };
}

const accepted: Omit<Condition, "lastTransitionTime">[] = [
  { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
  {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  },
];

function refusedFor(name: string): Omit<Condition, "lastTransitionTime">[] {
  const message = `"${name}" is already in use`;
  return [
    { type: "NamesAccepted", status: "False", reason: "NamesConflict", message },
    {
      type: "Established",
      status: "False",
      reason: "NotAccepted",
      message: "not all names are accepted",
    },
  ];
}

/** The first name that another CRD of the group has already. */
function rivalOf({ group, names }: Spec, others: readonly Stored[]): string | undefined {
  const own = allNames(names);
  for (const other of others) {
    const spec = other.spec as Spec;
    if (spec.group !== group || !isEstablished(other)) continue;
    const theirs = allNames(spec.names);
    const found = own.find((name) => theirs.includes(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function allNames({ plural, singular, kind, listKind, shortNames = [] }: Names): string[] {
  // Kinds are told apart from the names of resources by their capital.
  return [plural, singular ?? "", kind, listKind ?? "", ...shortNames].filter(
    (name) => name !== "",
  );
}

/** Whether a CRD is served. */
export function isEstablished(crd: Stored): boolean {
  const { conditions = [] } = (crd.status ?? {}) as DefinitionStatus;
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

/** A CRD on its way out: it goes when its objects are gone. */
export function terminating(crd: Stored, now: number): Stored {
  const status = (crd.status ?? {}) as DefinitionStatus;
  const condition = {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionInProgress",
    message: "CustomResource deletion is in progress",
  } as const;
  const finalizers = crd.metadata.finalizers ?? [];
  const held = finalizers.includes(cleanupFinalizer)
    ? finalizers
    : [...finalizers, cleanupFinalizer];
  return {
    ...crd,
    metadata: { ...crd.metadata, finalizers: held },
    status: { ...status, conditions: withCondition(status.conditions ?? [], condition, now) },
  };
}

/** Whether the CRD of a resource is on its way out. */
export function isTerminating({ store }: World, { group, plural }: Resource): boolean {
  const crd = store.get(definitions, `${plural}.${group}`);
  return crd?.object.metadata.deletionTimestamp !== undefined;
}

function withCondition(
  all: readonly Condition[],
  next: Omit<Condition, "lastTransitionTime">,
  now: number,
): Condition[] {
  const old = all.find(({ type }) => type === next.type);
  if (old?.status === next.status && old.reason === next.reason) return [...all];
  const lastTransitionTime =
    old?.status === next.status
      ? old.lastTransitionTime
      : `${new Date(now).toISOString().slice(0, 19)}Z`;
  return [...all.filter((each) => each !== old), { ...next, lastTransitionTime }];
}
