type Json = unknown;

/**
 * The merge patch that makes `held` have all that `wanted` says, or undefined where it has. A null in `wanted` stands
 * for what must not be there; what it does not name is somebody else's, or the API server's own.
 */
export function patchTo(held: Json, wanted: Json): Json {
  if (!isRecord(wanted)) return covers(held, wanted) ? undefined : wanted;
  // Where nothing is held, an empty map would be written again and again: the API server keeps none.
  if (!isRecord(held)) return patchTo({}, withoutNulls(wanted));
  const patch: Record<string, Json> = {};
  for (const [key, value] of Object.entries(wanted)) {
    const part = patchTo(held[key], value);
    if (part !== undefined) patch[key] = part;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The same, for a part that is wholly ours: what `wanted` does not name must not be there. */
export function exactPatch(held: Json, wanted: Json): Json {
  if (!isRecord(wanted) || !isRecord(held)) return same(held, wanted) ? undefined : wanted;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(held)) if (wanted[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(wanted)) {
    const part = value === undefined ? undefined : exactPatch(held[key], value);
    if (part !== undefined) patch[key] = part;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** An object as it is first made: what must not be there is left out. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)])) as T;
}

/** Whether `held` has all that `wanted` says. Lists are as long as wanted, but their entries may say more. */
function covers(held: Json, wanted: Json): boolean {
  if (wanted === null) return held === null || held === undefined;
  if (Array.isArray(wanted))
    return (
      Array.isArray(held) &&
      held.length === wanted.length &&
      wanted.every((each, at) => covers(held[at], each))
    );
  if (!isRecord(wanted)) return held === wanted;
  return isRecord(held) && Object.entries(wanted).every(([key, value]) => covers(held[key], value));
}

function same(a: Json, b: Json): boolean {
  return covers(a, b) && covers(b, a);
}

function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
