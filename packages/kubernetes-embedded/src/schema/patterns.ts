/** A pattern that Kubernetes would refuse, or that has no equal in JavaScript. */
export class PatternError extends Error {
  override readonly name = "PatternError";

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}

const known = new Map<string, RegExp>();

/**
 * A pattern in Go's syntax as one of JavaScript's. They differ in the dot, in what is white space, in
 * classes by name, in flags, and in what only one of them has (https://github.com/google/re2/wiki/Syntax).
 */
export function regexOf(pattern: string): RegExp {
  const found = known.get(pattern);
  if (found !== undefined) return found;
  const made = compile(pattern);
  if (known.size > 10_000) known.clear();
  known.set(pattern, made);
  return made;
}

function compile(pattern: string): RegExp {
  const source = translated(pattern);
  try {
    return new RegExp(source, "u");
  } catch (error) {
    throw new PatternError((error as Error).message, pattern);
  }
}

const space = "\\t\\n\\f\\r ";

/** The classes between `[:` and `:]`, as they read inside of brackets. */
const posix: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: `${space}\\v`,
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

interface Reader {
  text: string;
  at: number;
  /** Whether the dot matches a new line too. */
  dotAll: boolean;
  /** The whole, and the groups that are open: how each ends, and what held outside of it. */
  open: { end: string; dotAll: boolean }[];
}

function translated(pattern: string): string {
  const whole = { end: "", dotAll: false };
  const reader: Reader = { text: pattern, at: 0, dotAll: false, open: [whole] };
  let source = "";
  while (reader.at < pattern.length) source += nextPart(reader);
  if (reader.open.length > 1) throw new PatternError("missing closing )", pattern);
  return `${source}${whole.end}`;
}

function nextPart(reader: Reader): string {
  const { text, at } = reader;
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (character === "\\") return escaped(reader, false);
  if (character === "[") return bracket(reader);
  if (character === "(") return group(reader);
  if (character === ")") {
    reader.at += 1;
    return closed(reader);
  }
  reader.at += character.length;
  if (character === ".") return reader.dotAll ? "[^]" : "[^\\n]";
  // Without a number before and after it, a brace is a brace.
  if (character === "{" && !/^\{\d+(,\d*)?\}/.test(text.slice(at))) return "\\{";
  if (character === "{") {
    const end = text.indexOf("}", at);
    reader.at = end + 1;
    return text.slice(at, end + 1);
  }
  return character === "}" || character === "]" ? `\\${character}` : character;
}

function group(reader: Reader): string {
  const rest = reader.text.slice(reader.at);
  const { dotAll } = reader;
  const flags = /^\(\?([ims]*(?:-[ims]+)?)([:)])/.exec(rest);
  const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
  const [whole = ""] = flags ?? named ?? /^\((?!\?)/.exec(rest) ?? [];
  if (whole === "") throw new PatternError("invalid or unsupported Perl syntax", rest.slice(0, 3));
  reader.at += whole.length;
  if (named) return opened(reader, `(?<${named[1]}>`, dotAll);
  if (flags === null) return opened(reader, "(", dotAll);
  reader.dotAll = flagged(flags[1] ?? "", dotAll);
  const letters = withoutDotAll(flags[1] ?? "");
  if (flags[2] === ":") return opened(reader, `(?${letters}:`, dotAll);
  // `(?i)` holds up to the end of what it stands in: a group of its own here.
  const around = reader.open.at(-1);
  if (around) around.end += ")";
  return `(?${letters}:`;
}

function opened(reader: Reader, text: string, dotAll: boolean): string {
  reader.open.push({ end: ")", dotAll });
  return text;
}

function closed(reader: Reader): string {
  const last = reader.open.length > 1 ? reader.open.pop() : undefined;
  if (last === undefined) throw new PatternError("unexpected )", reader.text);
  reader.dotAll = last.dotAll;
  return last.end;
}

function flagged(letters: string, dotAll: boolean): boolean {
  const [on = "", off = ""] = letters.split("-");
  if (off.includes("s")) return false;
  return dotAll || on.includes("s");
}

/** The dot is written out, so its flag is not needed. */
function withoutDotAll(letters: string): string {
  return letters.replaceAll("s", "").replace(/-$/, "");
}

/** What follows a backslash, outside of brackets or inside. */
function escaped(reader: Reader, inside: boolean): string {
  const { text, at } = reader;
  const letter = text[at + 1];
  if (letter === undefined) throw new PatternError("trailing backslash at end of expression", "");
  const longer =
    /^\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(
      text.slice(at),
    );
  if (longer) {
    reader.at += longer[0].length;
    return codePoint(longer[0]);
  }
  reader.at += 2;
  if (letter === "Q") return quoted(reader);
  const word = inside ? classEscapes[letter] : (classEscapes[letter] ?? placeEscapes[letter]);
  if (word !== undefined) return inside ? word.replace(/^\[([^^].*)\]$/, "$1") : word;
  if (/[A-Za-z1-9]/.test(letter)) throw new PatternError("invalid escape sequence", `\\${letter}`);
  return literal(letter);
}

const classEscapes: Readonly<Record<string, string>> = {
  d: "\\d",
  D: "\\D",
  w: "\\w",
  W: "\\W",
  s: `[${space}]`,
  S: `[^${space}]`,
  a: "\\x07",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};

const placeEscapes: Readonly<Record<string, string>> = {
  A: "(?<![^])",
  z: "(?![^])",
  b: "\\b",
  B: "\\B",
};

function codePoint(text: string): string {
  const property = /^\\([pP])(?:\{(\^?)(\w+)\}|(\w))$/.exec(text);
  if (property) {
    const turned = property[2] === "^";
    const letter = turned ? (property[1] === "p" ? "P" : "p") : property[1];
    const name = property[3] ?? property[4] ?? "";
    return `\\${letter}{${/^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`}}`;
  }
  const hex = /^\\x\{?([0-9a-fA-F]+)\}?$/.exec(text);
  const code = hex ? Number.parseInt(hex[1] ?? "", 16) : Number.parseInt(text.slice(1), 8);
  return `\\u{${code.toString(16)}}`;
}

/** Everything up to `\E` as it is. */
function quoted(reader: Reader): string {
  const end = reader.text.indexOf("\\E", reader.at);
  const stop = end === -1 ? reader.text.length : end;
  const text = reader.text.slice(reader.at, stop);
  reader.at = end === -1 ? stop : stop + 2;
  return [...text].map(literal).join("");
}

function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/.test(character)
    ? `\\u{${character.codePointAt(0)?.toString(16)}}`
    : character;
}

function bracket(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  reader.at += 1;
  let out = "[";
  if (text[reader.at] === "^") {
    out += "^";
    reader.at += 1;
  }
  let first = true;
  while (first || text[reader.at] !== "]") {
    const rest = text.slice(reader.at);
    if (rest === "") throw new PatternError("missing closing ]", text.slice(start));
    const named = /^\[:(\^?)(\w+):\]/.exec(rest);
    if (named) {
      const set = posix[named[2] ?? ""];
      if (set === undefined || named[1] === "^") {
        throw new PatternError("invalid character class range", named[0]);
      }
      out += set;
      reader.at += named[0].length;
    } else if (rest[0] === "\\") {
      const word = escaped(reader, true);
      if (word === `[^${space}]`) throw new PatternError("no equal in JavaScript for", "\\S");
      out += word;
    } else {
      const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      reader.at += character.length;
      // A hyphen makes a range unless it is first or last, in both languages.
      const plain = character === "-" && !first && text[reader.at] !== "]";
      out += plain ? "-" : literal(character);
    }
    first = false;
  }
  reader.at += 1;
  return `${out}]`;
}
