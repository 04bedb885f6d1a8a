import { type Tags, tagOf, withTags } from "./tags.ts";

/** The tag that lists the tags which were asked for when they were last written, as `name=value,name=value`. */
export const userTagsTag = "postern_tags";

/** Azure takes 50 tags on a resource, and a shared zone needs most of them for claims. */
const mostTags = 5;
const mostOnResource = 50;
/** They are listed in the value of one tag. */
const longestList = 256;
/** By these Postern, HyperShift, Cluster API, cloud providers and Azure say whose a resource is. */
const reserved = [
  "postern",
  "hypershift",
  "openshift",
  "kubernetes",
  "k8s",
  "sigs.k8s.io",
  "aks-managed",
  "microsoft",
  "azure",
  "windows",
  "hidden-",
] as const;

/** The tags that somebody asks for, from `name=value,name=value`; or what is wrong with them. */
export function parseUserTags(text: string): { tags: Tags } | { wrong: string } {
  const pairs = text
    .slice(0, 2 * longestList)
    .split(",")
    .filter((each) => each.trim() !== "");
  if (pairs.length > mostTags) return { wrong: `it has more than ${mostTags} tags` };
  const tags = new Map<string, [string, string]>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    const wrong = problemOf(name, value);
    if (wrong !== undefined)
      return { wrong: `${JSON.stringify(pair.trim().slice(0, 60))} ${wrong}` };
    // Azure ignores the case of a name.
    if (tags.has(name.toLowerCase())) return { wrong: `it has the tag ${name} twice` };
    tags.set(name.toLowerCase(), [name, value]);
  }
  const found = Object.fromEntries(tags.values());
  if (text.length > 2 * longestList || listOf(found).length > longestList)
    return { wrong: `it is longer than ${longestList} characters` };
  return { tags: found };
}

function problemOf(name: string, value: string): string | undefined {
  if (!/^[A-Za-z0-9][\w.:-]*$/.test(name))
    return "is not name=value with a name of letters, digits, dots, colons, hyphens and underscores";
  const prefix = reserved.find((each) => name.toLowerCase().startsWith(each));
  if (prefix !== undefined) return `is not allowed: names that begin with ${prefix} are reserved`;
  if (!/^[\x20-\x7e]*$/.test(value))
    return "has a value with characters other than printable ASCII";
  return undefined;
}

/** Of the tags that an object asks for on everything, those that can be written and listed; by name, as many as fit. */
export function fittingUserTags(tags: Tags): Tags {
  const found: [string, string][] = [];
  for (const [name, value] of Object.entries(tags).sort()) {
    if (problemOf(name, value) !== undefined || value.includes(",")) continue;
    if (found.some(([other]) => other.toLowerCase() === name.toLowerCase())) continue;
    const more: [string, string][] = [...found, [name, value]];
    if (more.length > mostTags || listOf(Object.fromEntries(more)).length > longestList) continue;
    found.push([name, value]);
  }
  return Object.fromEntries(found);
}

/**
 * The tags of a resource with those that are asked for among them, and without those that were asked for and are not any more;
 * the same object where that was done before. What somebody changes after that stays, as an Azure Policy would change it
 * again and again. Tags with which a resource would have more than Azure takes are not written.
 */
export function withUserTags(existing: Tags, requested: Tags | undefined): Tags {
  if (requested === undefined) return existing;
  const list = listOf(requested);
  const before = tagOf(existing, userTagsTag) ?? "";
  if (before === list) return existing;
  const parsed = parseUserTags(before);
  const recorded = { ...("tags" in parsed && parsed.tags), [userTagsTag]: before };
  const otherTags = Object.entries(existing).filter(
    ([name, value]) => tagOf(recorded, name) !== value,
  );
  const noted = list === "" ? {} : { ...requested, [userTagsTag]: list };
  const all = withTags(Object.fromEntries(otherTags), noted);
  return Object.keys(all).length > mostOnResource ? existing : all;
}

/** The tags of a resource with ours, and with those that are asked for; the same object where it has them. */
export function withAllTags(
  existing: Tags,
  { tags, userTags }: { tags: Tags; userTags?: Tags | undefined },
): Tags {
  return withTags(withUserTags(existing, userTags), tags);
}

function listOf(tags: Tags): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join();
}
