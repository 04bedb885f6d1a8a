/** Why a name cannot be a key of a Secret or a ConfigMap; `undefined` where it can. */
export function wrongDataKey(key: string): string | undefined {
  if (key.length > 253) return "must be no more than 253 characters";
  if (key === "." || key === "..") return `must not be '${key}'`;
  if (key.startsWith("..")) return "must not start with '..'";
  if (/^[-._a-zA-Z0-9]+$/.test(key)) return undefined;
  return "a key is made of letters, digits, '-', '_' and '.'";
}

/** Whether two maps of texts say the same; one that is absent is empty. */
export function sameMap(
  one: Record<string, string> = {},
  other: Record<string, string> = {},
): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => one[key] === other[key]);
}

/** The sum of some sizes. */
export function totalBytes(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
