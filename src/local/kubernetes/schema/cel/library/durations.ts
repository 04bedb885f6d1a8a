import { parse } from "@marcbachmann/cel-js";

const made = parse("duration(text)");

/** A duration from its text. */
export function durationOf(text: string): unknown {
  return made({ text });
}
