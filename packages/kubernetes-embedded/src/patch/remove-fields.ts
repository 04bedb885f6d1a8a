import { fieldElement } from "./field-path.ts";
import { type FieldSet, isEmpty, isMember } from "./field-set.ts";
import {
  type FieldType,
  fieldType,
  itemElement,
  kindOf,
  type ListType,
  type MapType,
} from "./field-type.ts";
import { isMap } from "./refusal.ts";

/** A value without the fields of a set. What of it was a map or a list and has nothing left is null. */
export function removeFields(type: FieldType, value: unknown, set: FieldSet): unknown {
  switch (kindOf(type, value)) {
    case "scalar":
      return value;
    case "map":
      return removeFromMap(type.map as MapType, value, set);
    case "list":
      return removeFromList(type.list as ListType, value, set);
  }
}

function removeFromMap(type: MapType, value: unknown, set: FieldSet): unknown {
  if (type.atomic || !isMap(value)) return null;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const node = set[fieldElement(name)];
    if (isMember(node)) continue;
    kept[name] = node && !isEmpty(node) ? removeFields(fieldType(type, name), field, node) : field;
  }
  return Object.keys(kept).length > 0 ? kept : null;
}

function removeFromList(type: ListType, value: unknown, set: FieldSet): unknown {
  if (type.atomic || !Array.isArray(value)) return null;
  const kept: unknown[] = [];
  for (const item of value) {
    const element = itemElement(type, item);
    const node = element === undefined ? undefined : set[element];
    if (isMember(node)) continue;
    kept.push(node && !isEmpty(node) ? removeFields(type.item, item, node) : item);
  }
  return kept.length > 0 ? kept : null;
}
