const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** How long ago something was, as kubectl says it; `<unknown>` where no time is known. */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== "string" || timestamp === "") return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<invalid>" : durationText(now - then);
}

/**
 * A duration in the two largest units that still tell something: `90s`, `5m10s`, `3h25m`, `2d4h`, `400d`. A clock that
 * is slightly behind makes no difference.
 */
export function durationText(ms: number): string {
  const seconds = Math.trunc(ms / second);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(ms / minute);
  if (minutes < 10) return two(minutes, "m", Math.floor(ms / second) % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(ms / hour);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(ms / day);
  if (hours < 8 * 24) return two(days, "d", hours % 24, "h");
  if (ms < 2 * year) return `${days}d`;
  const years = Math.floor(ms / year);
  return ms < 8 * year ? two(years, "y", days % 365, "d") : `${years}y`;
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
}
