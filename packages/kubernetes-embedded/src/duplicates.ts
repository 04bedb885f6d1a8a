/** The paths of fields that a JSON object names twice. The text is known to be JSON. */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  walk(text, skip(text, 0), "", found);
  return found;
}

const quote = 34;
const backslash = 92;
const comma = 44;
const openObject = 123;
const closeObject = 125;
const openList = 91;
const closeList = 93;

/** Read the value at a place; the answer is the place after it. */
function walk(text: string, start: number, path: string, found: string[]): number {
  switch (text.charCodeAt(start)) {
    case openObject:
      return walkObject(text, start, path, found);
    case openList:
      return walkList(text, start, path, found);
    case quote:
      return skip(text, endOfText(text, start));
    default:
      return skip(text, endOfWord(text, start));
  }
}

function walkObject(text: string, start: number, path: string, found: string[]): number {
  const names = new Set<string>();
  let at = skip(text, start + 1);
  while (text.charCodeAt(at) !== closeObject) {
    const end = endOfText(text, at);
    const raw = text.slice(at + 1, end - 1);
    const name = raw.includes("\\") ? String(JSON.parse(`"${raw}"`)) : raw;
    const below = path === "" ? name : `${path}.${name}`;
    if (names.has(name)) found.push(below);
    names.add(name);
    // After the name there is a colon.
    at = walk(text, skip(text, skip(text, end) + 1), below, found);
    if (text.charCodeAt(at) === comma) at = skip(text, at + 1);
  }
  return skip(text, at + 1);
}

function walkList(text: string, start: number, path: string, found: string[]): number {
  let at = skip(text, start + 1);
  for (let i = 0; text.charCodeAt(at) !== closeList; i++) {
    at = walk(text, at, `${path}[${i}]`, found);
    if (text.charCodeAt(at) === comma) at = skip(text, at + 1);
  }
  return skip(text, at + 1);
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at + 1;
}

/** A number, true, false or null ends where something else begins. */
function endOfWord(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || code === closeObject || code === closeList || code <= 32) break;
  }
  return at;
}

function skip(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}
