import type { FieldSet } from "./field-set.ts";
import { isEmpty, isMember } from "./field-set.ts";

/** The step to a field of a map. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** The step to the item of a set that is this value. */
export function valueElement(value: unknown): string {
  return `v:${asGoWrites(value)}`;
}

/** The step to the item of a list that has these keys, which are sorted by name. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  return `k:{${keys.map(([name, value]) => `${JSON.stringify(name)}:${asGoWrites(value)}`).join(",")}}`;
}

/** JSON as Go writes it: what could end a script in HTML is escaped. Sets from elsewhere must compare equal to ours. */
function asGoWrites(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string" && /^[\w./: -]*$/.test(value)) return `"${value}"`;
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function printed(path: readonly string[]): string {
  return path.map(printedElement).join("");
}

function printedElement(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k": {
      const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${JSON.stringify(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

/** Every path of a set, in the order in which the API server tells them. */
export function paths(set: FieldSet, prefix: readonly string[] = []): string[][] {
  const elements = Object.keys(set)
    .filter((element) => element !== ".")
    .sort(compareElements);
  const members = elements.filter((element) => isMember(set[element]));
  const parents = elements.filter((element) => !isEmpty(set[element] as FieldSet));
  return [
    ...members.map((element) => [...prefix, element]),
    ...parents.flatMap((element) => paths(set[element] as FieldSet, [...prefix, element])),
  ];
}

const order = ".fkvi";

function compareElements(a: string, b: string): number {
  const kind = a[0] as string;
  if (kind !== b[0]) return order.indexOf(kind) - order.indexOf(b[0] as string);
  if (kind === "f" || kind === ".") return a < b ? -1 : Number(a > b);
  return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) {
    const [mine, theirs] = [Object.entries(a).flat(), Object.entries(b).flat()];
    for (const [index, value] of mine.entries()) {
      if (index >= theirs.length) return 1;
      const compared = compareValues(value, theirs[index]);
      if (compared !== 0) return compared;
    }
    return mine.length - theirs.length;
  }
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return (a as string) < (b as string) ? -1 : Number((a as string) > (b as string));
}
