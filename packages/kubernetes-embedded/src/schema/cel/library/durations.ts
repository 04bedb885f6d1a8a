import { parse } from "@marcbachmann/cel-js";

const made = parse("duration(text)");

const nanoseconds: readonly (readonly [bigint, ...string[]])[] = [
  [1n, "ns", "nano"],
  [1_000n, "us", "µs", "micro"],
  [1_000_000n, "ms", "milli"],
  [1_000_000_000n, "s", "sec"],
  [60_000_000_000n, "m", "min"],
  [3_600_000_000_000n, "h", "hr", "hour"],
  [86_400_000_000_000n, "d", "day"],
  [604_800_000_000_000n, "w", "wk", "week"],
];

/** A duration from the text of a field: one of Go, or one in words such as `5 days`. */
export function durationOf(text: string): unknown {
  if (/^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/.test(text)) {
    return made({ text: text === "0" ? "0s" : text });
  }
  let total: bigint | undefined;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const word = unit.toLowerCase();
    for (const [factor, ...names] of nanoseconds) {
      const isOne = names.includes(word) || word.startsWith(names.at(-1) ?? word);
      if (isOne) total = (total ?? 0n) + BigInt(count) * factor;
    }
  }
  if (total !== undefined) return made({ text: `${total}ns` });
  throw new Error(`Invalid duration ${text}: unable to parse ${text} as duration`);
}
