/**
 * Leave out as much of a list as can be left out while it still fails: halves first, then ever smaller parts, then single
 * entries. It ends early where `mayGoOn` says no.
 */
export async function shrink<T>(
  entries: readonly T[],
  fails: (entries: readonly T[]) => Promise<boolean>,
  mayGoOn: () => boolean,
): Promise<readonly T[]> {
  let kept = entries;
  let parts = 2;
  while (kept.length > 1 && mayGoOn()) {
    const size = Math.ceil(kept.length / parts);
    const without = await firstThatFails(kept, size, fails, mayGoOn);
    if (without !== undefined) {
      kept = without;
      parts = Math.max(2, parts - 1);
    } else if (size === 1) break;
    else parts = Math.min(kept.length, parts * 2);
  }
  return kept;
}

async function firstThatFails<T>(
  entries: readonly T[],
  size: number,
  fails: (entries: readonly T[]) => Promise<boolean>,
  mayGoOn: () => boolean,
): Promise<readonly T[] | undefined> {
  for (let at = 0; at < entries.length; at += size) {
    if (!mayGoOn()) return undefined;
    const rest = [...entries.slice(0, at), ...entries.slice(at + size)];
    if (await fails(rest)) return rest;
  }
  return undefined;
}
