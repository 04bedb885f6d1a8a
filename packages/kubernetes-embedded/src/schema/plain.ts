/** An object of JSON. */
export type Fields = Record<string, unknown>;

/** Whether a value is an object of JSON: neither null nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field that the object itself has: a name such as `constructor` is not one unless somebody wrote it. */
export function fieldOf<T>(fields: Record<string, T> | undefined, name: string): T | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Sets a field of a fresh object; an assignment to `__proto__` would change what it is instead. */
export function setField(fields: Fields, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(fields, name, property);
  }
}

/** Whether two values of JSON say the same; the order of fields does not count. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => same(item, other[index]));
  }
  if (!isFields(one) || !isFields(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}
