/** The same with a field that nobody knows in every object of it. */
export function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (value === null || typeof value !== "object") return value;
  const fields = Object.entries(value).map(([name, field]) => [name, withStrangers(field)]);
  return { ...Object.fromEntries(fields), notOurs: { deep: [1, "two"] } };
}
