const dayMs = 86_400_000;

/**
 * How long a `Retry-After` asks to wait: whole seconds or an HTTP date in the future.
 * Zero, the past and what cannot be read are as if it were not there. A day is the most.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : // A date of HTTP begins with a weekday; Date.parse alone would take much more.
      /^[A-Za-z]{3},/.test(text)
      ? Date.parse(text) - now
      : 0;
  return ms > 0 ? Math.min(ms, dayMs) : undefined;
}
