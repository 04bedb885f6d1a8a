import type { Cause, Resource, Stored, StoredMetadata, StoredOwner } from "../resource.ts";
import { changed, forbidden, invalid, required, tooLong } from "./causes.ts";
import {
  wrongLabel,
  wrongLabelValue,
  wrongPathSegment,
  wrongQualifiedName,
  wrongSubdomain,
} from "./names.ts";

const mostAnnotationBytes = 256 * 1024;

type About = Pick<Resource, "group" | "builtIn" | "namespaced" | "strategy">;

/** What is wrong with the metadata of an object, whatever its kind; with the object that it replaces, if there is one. */
export function metadataProblems(
  object: Stored,
  old: Stored | undefined,
  resource: About,
): Cause[] {
  const { metadata } = object;
  return [
    ...(old === undefined ? nameProblems(metadata, resource) : changes(metadata, old.metadata)),
    ...labelProblems(metadata.labels, "metadata.labels"),
    ...annotationProblems(metadata.annotations),
    ...ownerProblems(metadata.ownerReferences),
    ...finalizerProblems(metadata.finalizers),
    ...(isOfKubernetes(resource) ? shortFinalizers(metadata.finalizers) : []),
  ];
}

function nameProblems(metadata: StoredMetadata, { namespaced, strategy }: About): Cause[] {
  const causes: Cause[] = [];
  const { name, generateName, namespace } = metadata;
  if (generateName) {
    // What the API adds never ends in a dash, so one at the end of the beginning is fine.
    const begun = generateName.replace(/-$/, "");
    const why = begun === "" ? undefined : wrongName(begun, strategy?.names);
    if (why !== undefined) causes.push(invalid("metadata.generateName", generateName, why));
  }
  if (!name) causes.push(required("metadata.name", "name or generateName is required"));
  else {
    const why = wrongName(name, strategy?.names);
    if (why !== undefined) causes.push(invalid("metadata.name", name, why));
  }
  if (namespaced) {
    const why = namespace ? wrongLabel(namespace) : undefined;
    if (!namespace) causes.push(required("metadata.namespace"));
    else if (why !== undefined) causes.push(invalid("metadata.namespace", namespace, why));
  } else if (namespace) causes.push(forbidden("metadata.namespace", "not allowed on this type"));
  return causes;
}

function wrongName(name: string, form: "dns-label" | "path-segment" | undefined) {
  switch (form) {
    case "dns-label":
      return wrongLabel(name);
    case "path-segment":
      return wrongPathSegment(name);
    case undefined:
      return wrongSubdomain(name);
  }
}

const fixed = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function changes(metadata: StoredMetadata, old: StoredMetadata): Cause[] {
  const causes: Cause[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((one) => !old.finalizers?.includes(one));
    if (added.length > 0) {
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
      causes.push(forbidden("metadata.finalizers", why));
    }
  }
  for (const field of fixed) {
    if (metadata[field] !== old[field]) {
      causes.push(changed(`metadata.${field}`, metadata[field] ?? null));
    }
  }
  return causes;
}

/** What is wrong with labels, or with a selector that is a map of them. */
export function labelProblems(labels: Record<string, string> = {}, field: string): Cause[] {
  const causes: Cause[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const wrongKey = wrongQualifiedName(key);
    if (wrongKey !== undefined) causes.push(invalid(field, key, wrongKey));
    const wrongValue = wrongLabelValue(value);
    if (wrongValue !== undefined) causes.push(invalid(field, value, wrongValue));
  }
  return causes;
}

function annotationProblems(annotations: Record<string, string> = {}): Cause[] {
  const causes: Cause[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    const why = wrongQualifiedName(key.toLowerCase());
    if (why !== undefined) causes.push(invalid("metadata.annotations", key, why));
  }
  if (size > mostAnnotationBytes) {
    causes.push(tooLong("metadata.annotations", mostAnnotationBytes));
  }
  return causes;
}

function ownerProblems(owners: StoredOwner[] = []): Cause[] {
  const field = "metadata.ownerReferences";
  const causes: Cause[] = [];
  for (const owner of owners) {
    for (const part of ["apiVersion", "kind", "name", "uid"] as const) {
      const why = part === "apiVersion" ? "version must not be empty" : "must not be empty";
      if (!owner[part]) causes.push(invalid(`${field}.${part}`, owner[part] ?? "", why));
    }
    if (owner.kind === "Event" && /^(events\.k8s\.io\/)?v1$/.test(owner.apiVersion)) {
      causes.push(invalid(field, owner, "an Event may not own anything"));
    }
  }
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const names = controllers.map(({ kind, name }) => `${kind}/${name}`).join(" and ");
    causes.push(
      invalid(field, owners, `Only one reference can have Controller set to true: ${names}`),
    );
  }
  return causes;
}

/** Definitions are built in, but are judged by what serves custom resources. */
function isOfKubernetes({ builtIn, group }: About): boolean {
  return builtIn && group !== "apiextensions.k8s.io";
}

const finalizersOfKubernetes = ["kubernetes", "orphan", "foregroundDeletion"];

/** On objects of Kubernetes itself, a finalizer without a prefix is one of Kubernetes' own. */
function shortFinalizers(finalizers: string[] = []): Cause[] {
  const why = "is no finalizer of Kubernetes, and names no owner before a '/'";
  return finalizers.flatMap((finalizer, index) => {
    const known = finalizer.includes("/") || finalizersOfKubernetes.includes(finalizer);
    return known ? [] : [invalid(`metadata.finalizers[${index}]`, finalizer, why)];
  });
}

/** The two finalizers of the garbage collector say opposite things. */
const collectors = ["orphan", "foregroundDeletion"];

function finalizerProblems(finalizers: string[] = []): Cause[] {
  const field = "metadata.finalizers";
  const causes: Cause[] = [];
  for (const finalizer of finalizers) {
    const why = wrongQualifiedName(finalizer);
    if (why !== undefined) causes.push(invalid(field, finalizer, why));
  }
  if (collectors.every((one) => finalizers.includes(one))) {
    causes.push(invalid(field, finalizers, `${collectors.join(" and ")} cannot both be set`));
  }
  return causes;
}
