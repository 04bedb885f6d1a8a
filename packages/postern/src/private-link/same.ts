/** Whether two lists hold the same texts, in whatever order and case. */
export function sameSet(a: readonly string[] | undefined, b: readonly string[]): boolean {
  const [x, y] = [new Set((a ?? []).map(lower)), new Set(b.map(lower))];
  return x.size === y.size && [...x].every((each) => y.has(each));
}

/** Whether two texts are the same to Azure. */
export function sameText(a: string | undefined, b: string | undefined): boolean {
  return lower(a ?? "") === lower(b ?? "");
}

function lower(text: string): string {
  return text.toLowerCase();
}
