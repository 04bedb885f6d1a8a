import { ageOf } from "../kinds/ages.ts";
import { nameColumn } from "../kinds/built-in.ts";
import type { Column, Resource, Stored } from "../resource.ts";
import { jsonPath } from "./json-path.ts";
import { metadataOf } from "./partial.ts";

/** How much of its object a row brings along. */
export type Include = "Metadata" | "None" | "Object";

/** What the parameter `includeObject` asks for; `undefined` is a bad request. */
export function includeOf(parameter: string | null | undefined): Include | undefined {
  if (!parameter) return "Metadata";
  return parameter === "Metadata" || parameter === "None" || parameter === "Object"
    ? parameter
    : undefined;
}

export interface TableOptions {
  version: "v1" | "v1beta1";
  include: Include;
  now: number;
  /** False for the events of a watch after the first: the client knows the columns by then. */
  headers: boolean;
}

/** What a list says of itself. */
export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** Objects as the rows of a table, as `kubectl get` shows them. */
export function tableOf(
  resource: Resource,
  objects: readonly Stored[],
  metadata: ListMeta,
  options: TableOptions,
) {
  const columns = columnsOf(resource);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.headers ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => cell(column, object, options.now)),
      ...rowObject(object, options),
    })),
  };
}

/** A custom resource begins with its name, and tells its age where its definition names no columns. */
function columnsOf({ builtIn, columns }: Resource): readonly Column[] {
  if (builtIn) return columns;
  if (columns.length > 0) return [nameColumn, ...columns];
  return [nameColumn, { ...age }];
}

const age: Column = {
  name: "Age",
  type: "date",
  priority: 0,
  value: ".metadata.creationTimestamp",
};

function definition({ name, type, format = "", description = "", priority }: Column) {
  return { name, type, format, description, priority };
}

function rowObject(object: Stored, { include, version }: TableOptions) {
  if (include === "None") return { object: null };
  return { object: include === "Object" ? object : metadataOf(object, version) };
}

function cell({ value, type }: Column, object: Stored, now: number): unknown {
  if (typeof value === "function") return value(object, now);
  const [found] = jsonPath(value)(object);
  return found === undefined || found === null ? null : cellOf(found, type, now);
}

/** A value of another type than the column's is not shown, unless that is a text. */
function cellOf(value: unknown, type: string, now: number): unknown {
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}
