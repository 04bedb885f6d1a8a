import { fieldElement, printed } from "./field-path.ts";
import { type FieldType, itemElement, kindOf, type ListType, type MapType } from "./field-type.ts";
import { goSyntax, goType, goValue } from "./go-text.ts";
import { isMap } from "./refusal.ts";

/** What makes a value unfit to be applied, in the words of the API server; each with the path that it is about. */
export function appliedProblems(type: FieldType, value: unknown, path: string[] = []): string[] {
  switch (kindOf(type, value)) {
    case "scalar":
      return scalarProblems(type.scalar as string, value, path);
    case "map":
      return mapProblems(type.map as MapType, value, path);
    case "list":
      return listProblems(type.list as ListType, value, path);
  }
}

function problem(path: string[], message: string): string[] {
  return [path.length === 0 ? message : `${printed(path)}: ${message}`];
}

function scalarProblems(type: string, value: unknown, path: string[]): string[] {
  if (value === null) return [];
  const given = goType(value);
  if (type === "numeric" && typeof value !== "number") {
    return problem(path, `expected numeric (int or float), got ${given}`);
  }
  if (type === "string" && typeof value !== "string") {
    return problem(path, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
  }
  if (type === "boolean" && typeof value !== "boolean") {
    return problem(path, `expected boolean, got &{${goValue(value)}}`);
  }
  if (type === "untyped" && typeof value === "object") {
    return problem(path, `expected any scalar, got &{${goValue(value)}}`);
  }
  return [];
}

function mapProblems(type: MapType, value: unknown, path: string[]): string[] {
  if (value === null) return [];
  if (!isMap(value)) return problem(path, `expected map, got &{${goValue(value)}}`);
  return Object.entries(value).flatMap(([name, field]) => {
    const below = [...path, fieldElement(name)];
    const fieldType = type.fields.get(name) ?? type.rest;
    if (!fieldType) return problem(below, "field not declared in schema");
    return appliedProblems(fieldType, field, below);
  });
}

function listProblems(type: ListType, value: unknown, path: string[]): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return problem(path, `expected list, got &{${goValue(value)}}`);
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const [index, item] of value.entries()) {
    const element = type.atomic ? `i:${index}` : itemElement(type, item);
    if (element === undefined) {
      return [...problems, ...problem(path, `element ${index}: ${withoutKey(type, item)}`)];
    }
    if (seen.has(element)) {
      problems.push(...problem(path, `duplicate entries for key ${printed([element])}`));
    }
    seen.add(element);
    problems.push(...appliedProblems(type.item, item, [...path, element]));
  }
  return problems;
}

function withoutKey(type: ListType, item: unknown): string {
  if (type.keys.length === 0) {
    if (item === null)
      return "associative list without keys has an element that's an explicit null";
    return isMap(item)
      ? "associative list without keys has an element that's a map type"
      : "not supported: associative list with lists as elements";
  }
  if (item === null) return "associative list with keys may not have a null element";
  if (!isMap(item)) return "associative list with keys may not have non-map elements";
  const keys = type.keys.map((key) => JSON.stringify(key)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}
