/** Milliseconds in each unit of a Go duration. */
const unitMs: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** The milliseconds of a duration as Go's `time.ParseDuration` reads it, such as `1m30s`; undefined for any other text, and for one below zero. */
export function parseGoDuration(text: string): number | undefined {
  if (text === "0") return 0;
  part.lastIndex = 0;
  let ms = 0;
  let end = 0;
  for (const [whole, count, unit] of text.matchAll(part)) {
    ms += Number(count) * (unitMs[unit ?? ""] ?? 0);
    end += whole.length;
  }
  return end === text.length && end > 0 ? ms : undefined;
}
