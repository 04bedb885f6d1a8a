type Json = unknown;

/**
 * The merge patch that gives `found` all that `desired` has, or undefined where it has it. A null in `desired` means
 * for what must not be there; what it does not name is somebody else's, or the API server's own.
 */
export function patchTo(found: Json, desired: Json): Json {
  if (!isRecord(desired)) return covers(found, desired) ? undefined : desired;
  // Where nothing is found, an empty map would be written again and again: the API server stores none.
  if (!isRecord(found)) return patchTo({}, withoutNulls(desired));
  const patch: Record<string, Json> = {};
  for (const [key, value] of Object.entries(desired)) {
    const part = patchTo(found[key], value);
    if (part !== undefined) patch[key] = part;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The same, for a part that we own alone: what `desired` does not name must not exist. */
export function exactPatch(found: Json, desired: Json): Json {
  if (!isRecord(desired) || !isRecord(found)) return same(found, desired) ? undefined : desired;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(found)) if (desired[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(desired)) {
    const part = value === undefined ? undefined : exactPatch(found[key], value);
    if (part !== undefined) patch[key] = part;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** An object as it is created: what must not exist is left out. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (!isRecord(value)) return value;
  const present = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(present.map(([key, each]) => [key, withoutNulls(each)])) as T;
}

/** Whether `found` has all that `desired` has. Lists have the same length, but their entries may have more fields. */
function covers(found: Json, desired: Json): boolean {
  if (desired === null) return found === null || found === undefined;
  if (Array.isArray(desired))
    return (
      Array.isArray(found) &&
      found.length === desired.length &&
      desired.every((each, at) => covers(found[at], each))
    );
  if (!isRecord(desired)) return found === desired;
  return (
    isRecord(found) && Object.entries(desired).every(([key, value]) => covers(found[key], value))
  );
}

function same(a: Json, b: Json): boolean {
  return covers(a, b) && covers(b, a);
}

function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
