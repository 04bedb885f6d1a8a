const mark = "[redacted]";

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
  {
    start: /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----/g,
    more: /[A-Za-z0-9+/=\s:,]{1,4096}|-(?!----)|\\[nrt]/y,
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
const lineInBlock = /[^\n"]{1,4096}/y;
const blockScalar = /[|>][-+\d]{0,3}[ \t]*(?:\r?\n|\\n)/y;

/** A text without anything that looks like a secret. Takes time in proportion to the length of the text. */
export function redact(text: string): string {
  let clean = forms.reduce(withoutForm, text);
  clean = clean.replace(userInfo, `://${mark}@`);
  clean = clean.replace(scheme, (all, word: string, gap: string, value: string) =>
    prose.test(value) ? all : `${word}${gap}${mark}`,
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
      isSecretValue(key, each) ? mark : cleanData(each, longestText, depth + 1),
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
    clean += text.slice(from, found.index) + mark;
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
  for (let found = secretName.exec(text); found !== null; found = secretName.exec(text)) {
    const start = secretName.lastIndex;
    const [, stem = "", quote = ""] = found;
    const value = valueAt(text, start, quote !== "", /^(auth|cookie|conn)/i.test(stem));
    if (value === undefined) continue;
    // A number in JSON has no quotes of its own.
    const quoted = value.bare && quote !== "" ? `${quote}${mark}${quote}` : mark;
    clean += text.slice(from, value.start) + quoted;
    from = value.end;
    secretName.lastIndex = value.end;
  }
  return clean + text.slice(from);
}

interface Value {
  start: number;
  end: number;
  /** Whether it stands without quotes. */
  bare: boolean;
}

function valueAt(
  text: string,
  at: number,
  isQuotedName: boolean,
  wholeLine: boolean,
): Value | undefined {
  const first = text[at];
  if (first === undefined || first === "{" || first === "[") return undefined;
  if (endOf(literal, text, at) > at) return undefined;
  opening.lastIndex = at;
  const [all, escapes, quote] = opening.exec(text) ?? [];
  if (all !== undefined && escapes !== undefined && quote !== undefined) {
    const start = at + all.length;
    // Without a quote behind the name, this one may close a text that ends with the name.
    if (!isQuotedName && endOf(afterText, text, start) > start) return undefined;
    if (!isQuotedName && start === text.length) return undefined;
    return { start, end: closingAt(text, start, quote, escapes.length), bare: false };
  }
  const block = endOf(blockScalar, text, at);
  if (block > at) return { start: block, end: blockEnd(text, block), bare: false };
  let end = runEnd(wholeLine ? restOfLine : plainValue, text, at);
  while (end > at && ")]},.".includes(text[end - 1] ?? "") && !text.endsWith(mark, end)) end--;
  return end > at ? { start: at, end, bare: true } : undefined;
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

/** Where a block of YAML ends: before the first line that is not indented, or at the quote around it. */
function blockEnd(text: string, start: number): number {
  let end = start;
  do {
    const line = runEnd(lineInBlock, text, end);
    if (text[line] !== "\n") return line;
    end = line + 1;
  } while (text[end] === " " || text[end] === "\t");
  return end;
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
