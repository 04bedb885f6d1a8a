import { hasNone } from "./compare.ts";
import { fieldElement } from "./field-path.ts";
import { type FieldSet, insert, isEmpty } from "./field-set.ts";
import {
  type FieldType,
  fieldType,
  itemElement,
  kindOf,
  type ListType,
  type MapType,
} from "./field-type.ts";
import { isMap } from "./refusal.ts";

/** All fields that a value has: those that whoever applies it will own. */
export function fieldsOf(type: FieldType, value: unknown): FieldSet {
  const set: FieldSet = {};
  collect(set, [], type, value);
  return set;
}

function collect(set: FieldSet, path: string[], type: FieldType, value: unknown): void {
  const kind = kindOf(type, value);
  if (kind === "map") collectMap(set, path, type.map as MapType, value);
  else if (kind === "list") collectList(set, path, type.list as ListType, value);
  else insert(set, path);
}

function collectMap(set: FieldSet, path: string[], type: MapType, value: unknown): void {
  if (type.atomic) insert(set, path);
  if (type.atomic || !isMap(value)) return;
  for (const [name, field] of Object.entries(value)) {
    path.push(fieldElement(name));
    collect(set, path, fieldType(type, name), field);
    // A field that the schema names is there by what is in it; any other one is something of itself.
    const bare = field === null || (isMap(field) && hasNone(field));
    if (bare || !type.fields.has(name)) insert(set, path);
    path.pop();
  }
}

function collectList(set: FieldSet, path: string[], type: ListType, value: unknown): void {
  if (type.atomic) insert(set, path);
  if (type.atomic || !Array.isArray(value)) return;
  const elements = value.map((item) => itemElement(type, item));
  for (const [index, element] of elements.entries()) {
    if (element === undefined) continue;
    path.push(element);
    const alone = elements.indexOf(element) === elements.lastIndexOf(element);
    if (alone) collect(set, path, type.item, value[index]);
    insert(set, path);
    path.pop();
  }
}

/**
 * The set, with the fields that the schema names and that are in it only by what is below them. Whoever owned all that
 * was in such a field owned the field.
 */
export function withNamedFields(type: FieldType | undefined, set: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const element in set) {
    const node = set[element] as FieldSet;
    if (element === ".") continue;
    const name = element.startsWith("f:") ? element.slice(2) : undefined;
    const children = withNamedFields(childType(type, element), node);
    const named = name !== undefined && type?.map?.fields.has(name);
    if (isEmpty(node)) result[element] = node;
    else result[element] = named || "." in node ? { ".": {}, ...children } : children;
  }
  return result;
}

function childType(type: FieldType | undefined, element: string): FieldType | undefined {
  if (element.startsWith("f:")) return type?.map && fieldType(type.map, element.slice(2));
  return element.startsWith("k:") ? type?.list?.item : undefined;
}
