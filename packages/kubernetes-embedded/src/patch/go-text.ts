import { isMap } from "./refusal.ts";

// Messages of the API server show values as Go prints them.

/** What Go calls the type of a value. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isMap(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return "string";
}

/** A value as Go writes it in its own syntax (`%#v`). */
export function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isMap(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fields = entries.map(([name, field]) => `${JSON.stringify(name)}:${goSyntax(field)}`);
  return `map[string]interface {}{${fields.join(", ")}}`;
}

/** A value as Go prints it (`%v`). */
export function goValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (!isMap(value)) return String(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([name, field]) => `${name}:${goValue(field)}`).join(" ")}]`;
}
