/** A number and its noun, in the singular where it is one: `1 step`, `2 steps`, `3 entries`. */
export function counted(count: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${count} ${Number(count) === 1 ? noun : plural}`;
}
