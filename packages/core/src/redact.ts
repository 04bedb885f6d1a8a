const redacted = "[redacted]";

/** A secret that is recognised by its form: how it starts, what it goes on with, and how it ends. */
interface Form {
  start: RegExp;
  more: RegExp;
  end?: RegExp;
}

/**
 * Log lines hold text of tenants, so every pattern here is linear: what it scans and does not match is bounded, and what
 * it matches is not scanned again. Runs are bounded too, and taken piece by piece: a run of megabytes overflows the stack
 * of the regular expression engine.
 */
const forms: readonly Form[] = [
  // A private key, complete or cut off: only whole words of base64 belong to it, because a name may follow.
  {
    start: /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----/g,
    more: new RegExp(
      [
        ...["\\s{1,4096}", "\\\\{1,15}[nrt]", "[A-Za-z0-9+/]{4096}"],
        '[A-Za-z0-9+/]{1,4095}(?:={0,2}(?=[\\s\\\\]|-----|$)|(?="))',
        '(?:Proc-Type|DEK-Info): [^\\s"\\\\]{0,200}',
      ].join("|"),
      "y",
    ),
    end: /-----END [A-Z0-9 ]{0,64}-----/y,
  },
  // JSON Web Tokens and other base64 of a JSON object, complete or cut off.
  { start: /eyJ[\w.-]{9}[\w-]/g, more: /[\w-]{1,4096}|\.(?=[\w-])/y },
  // PEM in base64, as kubeconfigs and Secrets hold it.
  { start: /LS0tLS1CRUdJTi/g, more: /[\w+/=-]{1,4096}/y },
  // The body of a PEM block: base64 of an ASN.1 sequence.
  { start: /MI[IG][A-Za-z0-9+/]{40}/g, more: /[A-Za-z0-9+/=]{1,4096}/y },
  // Storage account keys.
  { start: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==/g, more: /=/y },
  // Client secrets of Entra applications, and tokens of GitHub, OpenShift and AWS.
  { start: /[\w.~-]{3}[78]Q~[\w.~-]{20}/g, more: /[\w.~-]{1,4096}/y },
  {
    start: /gh[pousr]_[A-Za-z0-9]{20}|github_pat_\w{20}|sha256~[\w-]{20}|AKIA[0-9A-Z]{16}/g,
    more: /[\w-]{1,4096}/y,
  },
];

const scheme =
  /\b(bearer|basic|sharedkey|sharedaccesssignature)((?:[\s:="'\\]|%20|\+){1,16})([\w\-.~+/=%:]{8,4096})/gi;

/** What follows the name of a scheme where nothing secret does. */
const prose = /^(?:authentication|authorization|credentials?|challenges?|assertions?|identity)$/i;

/** User and password in an address. */
const userInfo = /:\/\/[^\s/?#"'\\]{0,4096}@/g;

/** How the name of a secret value ends. */
const name = [
  "(secret|passw(?:or)?d|passphrase|(?<![a-z])pwd|token|assertion|credential|authorization|cookie|connection[-_ ]?string",
  "|(?:access|account|api|client|function|master|primary|private|secondary|shared|signing|storage|subscription)[-_ ]?key",
  "|(?<![a-z])(?:sig|signature|sas))s?",
  "(?:[-_ ]?(?:data|value|base64|b64|hash))?",
].join("");
const secretKey = new RegExp(`${name}$`, "i");

/** The same in a text, with what stands between the name and the value. */
const secretName = new RegExp(
  [
    name,
    "([\"'\\\\]{0,16})\\s{0,16}(?::=|=>|[:=>]|%3d)\\s{0,64}",
    // What the API server says of a field that it rejects.
    "(?:(?:invalid|unsupported|duplicate) value: )?(?!required value|forbidden)",
  ].join(""),
  "gi",
);
const literal = /(?:true|false|null|undefined)\b/y;
const opening = /(\\{0,15})(["'`])/y;
const plainValue = /[^\s"'`&;<\\]{1,4096}/y;
const restOfLine = /[^\r\n"'`\\]{1,4096}/y;
const afterText = /[\s,:}\]]/y;
const inSingleQuotes = /[^'"`]{1,4096}/y;
const blockScalar = /[|>][-+\d]{0,3}[ \t]*(?:\r?\n|\\n)/y;

/** A text without anything that looks like a secret. Takes time in proportion to the length of the text. */
export function redact(text: string): string {
  let clean = forms.reduce(withoutForm, text);
  clean = clean.replace(userInfo, `://${redacted}@`);
  clean = clean.replace(scheme, (all, word: string, gap: string, value: string) =>
    prose.test(value) ? all : `${word}${gap}${redacted}`,
  );
  return withoutNamed(clean);
}

/**
 * The same data with every text in it redacted, and the values of secret names left out. Data that was redacted stays
 * valid JSON, which a text of JSON need not.
 */
export function redactData(value: unknown, longestText = Number.POSITIVE_INFINITY): unknown {
  return cleanData(value, longestText, 0);
}

const deepest = 64;

function cleanData(value: unknown, longestText: number, depth: number): unknown {
  if (typeof value === "string") return redact(cut(value, longestText));
  if (typeof value !== "object" || value === null) return value;
  if (depth > deepest) return "[too deep]";
  if (Array.isArray(value)) return value.map((each) => cleanData(each, longestText, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      cut(key, longestText),
      isSecretValue(key, each) ? redacted : cleanData(each, longestText, depth + 1),
    ]),
  );
}

function isSecretValue(key: string, value: unknown): boolean {
  return (typeof value === "string" || typeof value === "number") && secretKey.test(key.slice(-64));
}

/** The beginning of a text that may be of any length, for messages. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}

function withoutForm(text: string, { start, more, end }: Form): string {
  let clean = "";
  let from = 0;
  start.lastIndex = 0;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    clean += text.slice(from, found.index) + redacted;
    from = runEnd(more, text, start.lastIndex);
    if (end !== undefined) from = endOf(end, text, from);
    start.lastIndex = from;
  }
  return clean + text.slice(from);
}

/** Replaces the values of secret names, in JSON at any depth of escaping, YAML, forms, headers and connection strings. */
function withoutNamed(text: string): string {
  let clean = "";
  let from = 0;
  secretName.lastIndex = 0;
  let found = secretName.exec(text);
  while (found !== null) {
    const [, stem = "", quote = ""] = found;
    const start = secretName.lastIndex;
    const block = blockAt(text, start);
    if (block !== undefined) secretName.lastIndex = block.end;
    const quoted = block ?? quotedAt(text, start, quote !== "");
    // A quote that was never closed ends at the quote of the next value, so names inside of values count too.
    found = secretName.exec(text);
    const value = quoted ?? bareAt(text, start, found?.index ?? text.length, stem);
    if (value === undefined || value.end <= Math.max(value.start, from)) continue;
    // A number in JSON has no quotes of its own.
    const shown = quoted === undefined && quote !== "" ? `${quote}${redacted}${quote}` : redacted;
    if (value.start >= from) clean += text.slice(from, value.start) + shown;
    from = value.end;
  }
  return clean + text.slice(from);
}

interface Value {
  start: number;
  end: number;
}

/** A value in quotes. */
function quotedAt(text: string, at: number, isQuotedName: boolean): Value | undefined {
  opening.lastIndex = at;
  const [all, escapes, quote] = opening.exec(text) ?? [];
  if (all !== undefined && escapes !== undefined && quote !== undefined) {
    const start = at + all.length;
    // Without a quote behind the name, this one may close a text that ends with the name.
    const closes = start === text.length || endOf(afterText, text, start) > start;
    if (closes && !isQuotedName) return undefined;
    return { start, end: closingAt(text, start, quote, escapes.length) };
  }
  return undefined;
}

function blockAt(text: string, at: number): Value | undefined {
  const start = endOf(blockScalar, text, at);
  return start > at ? { start, end: blockEnd(text, start) } : undefined;
}

/** A value without quotes, which ends where the next name begins. */
function bareAt(text: string, at: number, next: number, stem: string): Value | undefined {
  const first = text[at];
  if (first === undefined || first === "{" || first === "[" || next <= at) return undefined;
  if (endOf(literal, text, at) > at) return undefined;
  const isWholeLine = /^(auth|cookie|conn)/i.test(stem);
  let end = at + runEnd(isWholeLine ? restOfLine : plainValue, text.slice(at, next), 0);
  while (end > at && ")]},.".includes(text[end - 1] ?? "") && !text.endsWith(redacted, end)) end--;
  return { start: at, end };
}

/** Where a quoted value ends: at the first quote that is not escaped more often than the opening one. */
function closingAt(text: string, start: number, quote: string, escapes: number): number {
  // A single quote may be an apostrophe, so the double quotes of the text around it end the value too.
  if (quote !== '"') return withoutEscapes(text, start, runEnd(inSingleQuotes, text, start));
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
    let before = 0;
    while (before <= escapes && at - before > start && text[at - 1 - before] === "\\") before++;
    if (before <= escapes) return at - before;
  }
  return withoutEscapes(text, start, text.length);
}

/** An escape that is cut in two would make invalid JSON of the text around it. */
function withoutEscapes(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && text[last - 1] === "\\") last--;
  return last;
}

/** Where a block of YAML ends: before the end of its last indented line; in a text of JSON, with that text. */
function blockEnd(text: string, start: number): number {
  if (text[start - 1] !== "\n") return closingAt(text, start, '"', 0);
  let end = start;
  do {
    end = text.indexOf("\n", end) + 1;
    if (end === 0) return text.length;
  } while (text[end] === " " || text[end] === "\t");
  // The end of the line stays: what follows must not look like a part of the block when it is redacted again.
  return end - 1;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function runEnd(pattern: RegExp, text: string, at: number): number {
  let end = at;
  for (let next = endOf(pattern, text, end); next > end; next = endOf(pattern, text, end))
    end = next;
  return end;
}
