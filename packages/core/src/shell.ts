/** A text as one word of a shell command: as it is where it has plain characters only, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) && !text.startsWith("-")
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
