/** An object as the API holds it: plain data, never changed in place. */
export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: StoredMetadata;
  [field: string]: unknown;
}

export interface StoredMetadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: StoredOwner[];
  managedFields?: ManagedFields[];
}

export interface StoredOwner {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** What one manager last said of an object, in the form of Kubernetes' FieldsV1. */
export interface ManagedFields {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  /** When it last changed the object; absent for one who only ever said what was so already. */
  time?: string;
  fieldsType: "FieldsV1";
  fieldsV1: Record<string, unknown>;
  subresource?: string;
}

/** A structural schema: the part of OpenAPI v3 that a CRD may use, with its `x-kubernetes-…` words. */
export interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  description?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-validations"?: SchemaRule[];
  [word: string]: unknown;
}

/** A CEL rule of a schema. */
export interface SchemaRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A column of a table. */
export interface Column {
  name: string;
  type: string;
  format?: string;
  description?: string;
  /** Above 0 it is shown only with `-o wide`. */
  priority: number;
  /** A JSON path of a CRD, or how a built-in says it. */
  value: string | ((object: Stored, now: number) => unknown);
}

/** What is wrong with one field, as `details.causes` of an answer tells it. */
export interface Cause {
  reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueForbidden"
    | "FieldValueNotSupported"
    | "FieldValueTypeInvalid"
    | "FieldValueDuplicate"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | (string & {});
  field: string;
  message: string;
  /** A value of the right type that does not fit into it. */
  isUnreadable?: true;
}

/** One version of one resource as it is served: a built-in, or made from a CRD. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** True where status is a subresource: it is written there alone, and does not move the generation. */
  status: boolean;
  /** Whether strategic merge patches are taken; CRDs refuse them. */
  builtIn: boolean;
  schema: Schema;
  columns: readonly Column[];
  /** Unknown fields dropped, defaults filled in, and what is wrong: made once for a schema. */
  shape: Shape;
  /** What a built-in does beyond its schema; a CRD has none of it. */
  strategy?: Strategy;
  /** What lists can be narrowed by, beyond `metadata.name` and `metadata.namespace`; "" where a field is absent. */
  fieldSelectors?: Readonly<Record<string, (object: Stored) => string>>;
  /** Subresources beyond status. */
  subresources?: readonly Subresource[];
  /** What may be done with it; everything where this is absent. */
  verbs?: readonly string[];
  /** Where another resource holds its objects, and this one shows them in another form. */
  view?: View;
}

/** A subresource that answers with a kind of its own. */
export interface Subresource {
  name: string;
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

/** How objects of another resource are shown, and taken: both keep the metadata as they are. */
export interface View {
  of: { group: string; plural: string };
  show(stored: Stored): Stored;
  take(object: Stored): Stored;
}

/** A schema made ready for use. */
export interface Shape {
  /** The object without fields that the schema does not know, and their paths. The object itself is not changed. */
  prune(object: Stored): { object: Stored; unknown: string[] };
  /** The object with defaults filled in; itself where there are none to fill in. */
  fill(object: Stored): Stored;
  /** What is wrong with it; with the object it replaces, where there is one (transition rules, ratcheting). */
  problems(object: Stored, old?: Stored): Cause[];
}

/**
 * What a built-in does beyond its schema: all of it is pure. `old` is the object that is replaced, `others` all
 * objects of the resource as they stand (where an address may be taken only once).
 */
export interface Strategy {
  /** Fills in what a schema cannot say. It comes before the managers of fields are told: who wrote the object has these. */
  fill?(object: Stored): Stored;
  /** Completes an object that is about to be stored (a Service's address, a Secret's stringData). Its types are those of its schema. */
  prepare?(object: Stored, old: Stored | undefined, others: () => Iterable<Stored>): Stored;
  /** What cannot be given out to it. Where there is any, the API server looks no further, not even at the schema. */
  refused?(object: Stored, old: Stored | undefined, others: () => Iterable<Stored>): Cause[];
  /** What else is wrong with it beyond its schema. */
  problems?(object: Stored, old: Stored | undefined): Cause[];
  /** Whether changes are counted in `metadata.generation`, as those of custom resources are. */
  counted?: boolean;
  /** True where an object may be created with its status; otherwise that is dropped where status is a subresource. */
  keepsStatus?: boolean;
  /** Which names it takes; those of most kinds are DNS subdomains. */
  names?: "dns-label" | "path-segment";
}
