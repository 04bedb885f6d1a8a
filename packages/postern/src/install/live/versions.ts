/** Whether a version is newer than another, by the numbers before any suffix; what is no version is not newer. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [numbers(version), numbers(than)];
  const at = a.findIndex((number, index) => number !== (b[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

function numbers(version: string): number[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  return match === null ? [] : match.slice(1).map(Number);
}
