/**
 * Kubernetes' order of versions, the best first: v2 before v1, v1 before v1beta2, that before v1alpha1, and
 * names that are none of these last, by the alphabet.
 */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [rank(one), rank(other)];
  if (a === undefined && b === undefined) return one < other ? -1 : one > other ? 1 : 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  for (const [index, part] of a.entries()) {
    const difference = (b[index] ?? 0) - part;
    if (difference !== 0) return difference;
  }
  return 0;
}

const stages = ["alpha", "beta", undefined];

function rank(version: string): [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  return [stages.indexOf(match[2]), Number(match[1]), Number(match[3] ?? 0)];
}
