import type { Stored } from "../resource.ts";
import { isMap, type Patched, unreadable } from "./refusal.ts";

/** The object after a JSON merge patch (RFC 7386). */
export function mergePatch(object: Stored, patch: unknown): Patched {
  if (!isMap(patch)) return unreadable("error decoding patch: a merge patch is an object");
  return { object: merged(object, patch) as Stored };
}

function merged(target: unknown, patch: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name === "__proto__") continue;
    if (value === null) delete result[name];
    else result[name] = isMap(value) ? merged(result[name], value) : value;
  }
  return result;
}
