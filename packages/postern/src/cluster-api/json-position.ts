/** Where the parser of JSON stopped. Its own words may repeat the text, so they are not reported. */
export function whereIn(text: string, error: unknown): string {
  const at = positionOf(text, error);
  if (at >= text.trimEnd().length) return "it ends too early";
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return `line ${line}, character ${at - before.lastIndexOf("\n")}`;
}

/** Some errors of the parser tell no position. Then it is the first character with which the text becomes wrong. */
function positionOf(text: string, error: unknown): number {
  const offset = /at position (\d+)/.exec(wordsOf(error))?.[1];
  if (offset !== undefined) return Number(offset);
  let [fine, wrong] = [0, text.length];
  if (!isWrong(text)) return wrong;
  while (wrong - fine > 1) {
    const middle = (fine + wrong) >> 1;
    if (isWrong(text.slice(0, middle))) wrong = middle;
    else fine = middle;
  }
  return fine;
}

/** Whether a text is wrong already, and not only too short. */
function isWrong(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return wordsOf(error).startsWith("Unexpected token");
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
