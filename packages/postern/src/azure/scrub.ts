import { redact } from "@postern/core/redact.ts";

/** What a sentence of Azure may not carry into a condition or a log, and what stands in its place. */
const dropped: readonly [RegExp, string][] = [
  // Entra ends its sentences with these; they differ every time.
  [/\b(Trace|Correlation) ID: [\w-]+/gi, ""],
  [/\bTimestamp: \S+( \S+Z)?/gi, ""],
  // An address may carry a signature in its query, and a page or an operation that differs every time.
  [/\bhttps?:\/\/\S+/gi, ""],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*(Z|[+-]\d\d:\d\d)?/g, ""],
  [/W\/\\?"[^"]*"/g, "…"],
  // A guid names a person's thing only as a part of an id or of a quoted name; elsewhere it is one of a request.
  [/(?<![\w/'"-])\(?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\)?(?![\w-])/gi, ""],
  // What is as long as this and no id is no word.
  [/(?<![\w/])[\w+=-]{80,}/g, "…"],
];

/**
 * A sentence of Azure made fit for people: no secret, no address, nothing that changes from one
 * occurrence to the next (a condition whose text changes is written again and again), and short.
 */
export function scrub(sentence: string): string {
  let text = redact(sentence.slice(0, 2000));
  for (const [pattern, place] of dropped) text = text.replace(pattern, place);
  text = text
    .replace(/[<>\p{Cc}\s]+/gu, " ")
    .replace(/ ([.,;])/g, "$1")
    .trim();
  if (text.length <= 600) return text;
  return `${text.slice(0, text.lastIndexOf(" ", 599)).trim()}…`;
}
