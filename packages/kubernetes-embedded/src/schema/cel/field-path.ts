import type { Schema } from "../../resource.ts";
import { fieldOf } from "../plain.ts";

/** Where a rule's `fieldPath` leads: the path as causes write it, or what is wrong with it. */
export function fieldPathOf(
  text: string,
  schema: Schema,
  options = { brackets: true },
): { path: string; schema: Schema } | string {
  let rest = text;
  let at = schema;
  let path = "";
  while (rest !== "") {
    const step = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    if (step === null) return complaint(rest);
    if (step[2] !== undefined && !options.brackets) return "array notation is not allowed";
    const name = step[1] ?? (step[2] ?? "").replace(/\\(.)/g, "$1");
    const others = at.additionalProperties;
    if (at.properties) {
      const own = fieldOf(at.properties, name);
      if (own === undefined) return "does not refer to a valid field";
      path = path === "" ? name : `${path}.${name}`;
      at = own;
    } else if (typeof others === "object") {
      path = `${path}[${name}]`;
      at = others;
    } else {
      return "does not refer to a valid field";
    }
    rest = rest.slice(step[0].length);
  }
  return { path, schema: at };
}

function complaint(rest: string): string {
  if (rest === "." || rest === "[") return "unexpected end of JSON path";
  const index = /^\[([^\]]*)\]?/.exec(rest);
  if (index) return `expected single quoted string but got ${index[1]}`;
  return `expected [ or . but got: ${rest.split(/[.[\]]/)[0]}`;
}
