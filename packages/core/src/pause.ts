/** Whether work on a cluster is stopped; `untilMs` is how long it still is, absent where no end is set. */
export type Pause = { paused: false } | { paused: true; untilMs?: number };

/**
 * Read `spec.pausedUntil`: a boolean stops until it is changed, a time stops until then.
 * What is neither, or a time that has passed, stops nothing.
 */
export function paused(value: string | undefined, now: Date): Pause {
  if (value === undefined) return { paused: false };
  if (isTrueText(value)) return { paused: true };
  const untilMs = timeOf(value) - now.getTime();
  return untilMs > 0 ? { paused: true, untilMs } : { paused: false };
}

/** Whether `spec.pausedUntil` says anything. HyperShift ignores what does not, and whoever wrote it believes in a pause. */
export function isPauseReadable(value: string | undefined): boolean {
  if (value === undefined || value === "" || isTrueText(value)) return true;
  return ["0", "f", "F", "false", "FALSE", "False"].includes(value) || !Number.isNaN(timeOf(value));
}

/** The spellings that Go's ParseBool takes for true, because HyperShift reads the field with it. */
function isTrueText(value: string): boolean {
  return ["1", "t", "T", "true", "TRUE", "True"].includes(value);
}

/** RFC 3339 only: `Date` alone would also read "1999" or "March 7", and 30 February as 2 March. */
function timeOf(value: string): number {
  const [, day, zone] =
    /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(value) ?? [];
  if (day === undefined || zone === undefined) return Number.NaN;
  const midnight = new Date(`${day}T00:00:00Z`);
  const realDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return realDay ? Date.parse(value) : Number.NaN;
}
