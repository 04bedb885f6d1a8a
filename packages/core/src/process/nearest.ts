/** The known word that a mistyped one most likely meant, or undefined where none is near. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const tolerated = Math.ceil(typed.length * 0.4);
  let best: { word: string; distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase());
    if (distance <= tolerated && distance < (best?.distance ?? Infinity)) best = { word, distance };
  }
  return best?.word;
}

/** How many letters must be put in, left out or replaced to turn one word into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
