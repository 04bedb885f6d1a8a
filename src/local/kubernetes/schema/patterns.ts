/** A pattern that Kubernetes would refuse, or that has no equal in JavaScript. */
export class PatternError extends Error {
  override readonly name = "PatternError";
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
  const { source, flags } = translated(pattern);
  try {
    return new RegExp(source, `${flags}u`);
  } catch (error) {
    throw new PatternError(`error parsing regexp: ${(error as Error).message}`);
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
  /** Flags that hold from here on: `s` lets the dot match a new line, which JavaScript has to be told for each. */
  dotAll: boolean;
}

function translated(pattern: string): { source: string; flags: string } {
  const leading = /^\(\?([imsU]+)\)/.exec(pattern);
  const letters = leading?.[1] ?? "";
  if (letters.includes("U")) throw new PatternError("the flag U has no equal in JavaScript");
  const reader: Reader = {
    text: pattern,
    at: leading?.[0].length ?? 0,
    dotAll: letters.includes("s"),
  };
  let source = "";
  while (reader.at < pattern.length) source += nextPart(reader);
  return { source, flags: letters.replaceAll("s", "") };
}

function nextPart(reader: Reader): string {
  const { text, at } = reader;
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (character === "\\") return escaped(reader, false);
  if (character === "[") return bracket(reader);
  if (character === "(") return group(reader);
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
  const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
  const opening = named?.[0] ?? /^\(\?(?:[ims-]*):|^\((?!\?)/.exec(rest)?.[0];
  if (opening === undefined)
    throw new PatternError(`invalid or unsupported Perl syntax: ${rest.slice(0, 3)}`);
  reader.at += opening.length;
  return named ? `(?<${named[1]}>` : opening;
}

/** What follows a backslash, outside of brackets or inside. */
function escaped(reader: Reader, inside: boolean): string {
  const { text, at } = reader;
  const letter = text[at + 1];
  if (letter === undefined) throw new PatternError("trailing backslash at end of expression");
  const longer = /^\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[0-7]{1,3})/.exec(
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
  if (/[A-Za-z1-9]/.test(letter)) throw new PatternError(`invalid escape sequence: \\${letter}`);
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
    if (rest === "") throw new PatternError(`missing closing ]: ${text.slice(start)}`);
    const named = /^\[:(\^?)(\w+):\]/.exec(rest);
    if (named) {
      const set = posix[named[2] ?? ""];
      if (set === undefined || named[1] === "^") {
        throw new PatternError(`invalid character class range: ${named[0]}`);
      }
      out += set;
      reader.at += named[0].length;
    } else if (rest[0] === "\\") {
      const word = escaped(reader, true);
      if (word === `[^${space}]`) throw new PatternError("\\S in brackets has no equal here");
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
