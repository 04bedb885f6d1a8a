import type { Explained, Failure } from "./failure.ts";

/** The tags of an Azure resource. Names compare without case, values do not. */
export type Tags = Readonly<Record<string, string>>;

/** A tag that Azure would refuse, found before it is sent. */
export class TagError extends Error implements Explained {
  override readonly name = "TagError";
  readonly code = "InvalidTag";

  constructor(tag: string, why: string) {
    const shown = JSON.stringify(tag.length > 100 ? `${tag.slice(0, 100)}…` : tag);
    super(`Azure refuses the tag ${shown}: ${why}`);
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}

/**
 * Give back tags that Azure accepts, or say which it would refuse
 * (https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations).
 */
export function checkedTags(tags: Tags): Tags {
  for (const [name, value] of Object.entries(tags)) {
    if (name === "") throw new TagError(name, "its name is empty");
    if (name.length > 512) throw new TagError(name, "its name is longer than 512 characters");
    const [bad] = /[<>%&\\?/]/.exec(name) ?? [];
    if (bad !== undefined) throw new TagError(name, `its name holds ${bad}`);
    if (value.length > 256) throw new TagError(name, "its value is longer than 256 characters");
  }
  return tags;
}

/** The value of a tag, whatever the case of its name. */
export function tagOf(tags: Tags | undefined | null, name: string): string | undefined {
  const lowerName = name.toLowerCase();
  return Object.entries(tags ?? {}).find(([found]) => found.toLowerCase() === lowerName)?.[1];
}

/**
 * Tags with ours among them and everybody else's left as they are.
 * Where ours are there already the same object comes back, so a caller can skip the write with `===`.
 */
export function withTags(existing: Tags, own: Tags): Tags {
  const missing = Object.entries(own).filter(([name, value]) => tagOf(existing, name) !== value);
  if (missing.length === 0) return existing;
  const replaced = new Set(missing.map(([name]) => name.toLowerCase()));
  const retained = Object.entries(existing).filter(([name]) => !replaced.has(name.toLowerCase()));
  return Object.fromEntries([...retained, ...missing]);
}
