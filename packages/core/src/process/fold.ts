/** The marks that may begin a line, and the branches of a tree before them. */
const start = /^(?:[│├└─]|\s)*(?:[✓✗…?!+-] )?/;

/** How long a text is on a terminal, where a colour takes no place. */
export function visible(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour is made of one.
  return text.replace(/\u001b\[\d+m/g, "").length;
}

/**
 * A text for a narrow terminal: a line that is too long goes on in the next one, below where it began, and the branches of a
 * tree go on beside it. A word is never broken, because it may be an id that someone wants to copy.
 */
export function fold(text: string, width: number | undefined): string {
  if (width === undefined || width < 1) return text;
  return text
    .split("\n")
    .map((line) => (visible(line) > width ? foldLine(line, width) : line))
    .join("\n");
}

function foldLine(line: string, width: number): string {
  const [prefix = ""] = start.exec(line) ?? [];
  const below = `${prefix
    .replace(/[✓✗…?!+-]/g, " ")
    .replace(/├─/g, "│ ")
    .replace(/└─/g, "  ")}  `;
  const lines: string[] = [];
  let now = prefix;
  let empty = true;
  for (const word of line.slice(prefix.length).split(/(?<=\S) +/)) {
    if (!empty && visible(now) + 1 + visible(word) > width) {
      lines.push(now);
      now = below;
      empty = true;
    }
    now = empty ? `${now}${word}` : `${now} ${word}`;
    empty = false;
  }
  return [...lines, now].join("\n");
}

/** How wide the terminal is to which standard output goes; undefined where it goes elsewhere. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}
