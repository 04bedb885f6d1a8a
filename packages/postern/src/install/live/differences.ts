import type { KubeObject } from "@postern/core/kind.ts";

/** What the API server sets, and what changes with every write. */
const ofServer = [
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
];

/** Where an object would change, one line for each field; the values of Secrets are not shown. */
export function differences(before: KubeObject, after: KubeObject): string[] {
  const lines: string[] = [];
  compare("", plain(before), plain(after), lines);
  return lines.map((line) =>
    before.kind === "Secret" ? line.replace(/: .*$/s, ": changed") : line,
  );
}

function plain(object: KubeObject): object {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([key]) => !ofServer.includes(key)),
  );
  return { ...rest, metadata };
}

function compare(path: string, before: unknown, after: unknown, lines: string[]): void {
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of keys)
      compare(
        Array.isArray(before) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`,
        Reflect.get(before, key),
        Reflect.get(after, key),
        lines,
      );
    return;
  }
  if (JSON.stringify(before) !== JSON.stringify(after))
    lines.push(`${path}: ${shown(before)} → ${shown(after)}`);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

const longest = 80;

function shown(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
