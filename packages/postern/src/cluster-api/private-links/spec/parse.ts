/** The entries of a list, with their indexes; nulls are left out. */
export function entriesIn(list: unknown): { at: number; entry: unknown }[] {
  if (!Array.isArray(list)) return [];
  return list
    .map((entry: unknown, at) => ({ at, entry }))
    .filter(({ entry }) => entry !== null && entry !== undefined);
}

/** An object whose fields may be anything; undefined where it is none. */
export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The texts in a list; what is none is left out, as a null pointer in the fork's lists. */
export function textsIn(list: unknown): string[] {
  return entriesIn(list).flatMap(({ entry }) =>
    typeof entry === "string" && entry ? [entry] : [],
  );
}

/** Whether CAPZ and Azure take a text for a name. */
export function isName(text: string, longest: number): boolean {
  return /^[-\w.]+$/.test(text) && text.length <= longest && text !== "." && text !== "..";
}
