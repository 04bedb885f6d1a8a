import { duration } from "@postern/core/duration.ts";
import type { Health } from "@postern/core/health.ts";

/** A health, and for how long: `Unavailable for 4 min`. */
export function healthFor(
  { health, since }: { health: Health; since?: string | undefined },
  observedAt: string,
): string {
  if (since === undefined) return health;
  return `${health} for ${duration(Date.parse(observedAt) - Date.parse(since))}`;
}

/** When something was read, with its time zone. */
export function checkedAt(observedAt: string): string {
  return `Checked at ${observedAt.slice(0, 10)} ${observedAt.slice(11, 19)} UTC.`;
}
