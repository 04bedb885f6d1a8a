import type { Explained, Failure } from "./failure.ts";

declare const brand: unique symbol;

/**
 * The id of something in Azure, checked and in one spelling. Only the functions of this file make
 * one. Compare with `sameId`: Azure does not tell upper case from lower.
 */
export type ResourceId = string & { readonly [brand]: "ResourceId" };

/** A full resource type, such as `Microsoft.Network/virtualNetworks/subnets`. */
export type ResourceType = `${string}/${string}`;

/**
 * The parts of an id. A subscription or a resource group itself has no provider and an empty path.
 *
 *     /subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N
 *       subscription S, resourceGroup G, provider Microsoft.Network, path [virtualNetworks V, subnets N]
 */
export interface ResourceIdParts {
  subscription?: string;
  resourceGroup?: string;
  provider?: string;
  path: readonly { type: string; name: string }[];
  /** The resource that this one is put on, as a role assignment is put on a network. */
  extends?: ResourceIdParts;
}

/** A text that is no resource id, or one of another type: which segment is wrong, and what belongs there. */
export class ResourceIdError extends Error implements Explained {
  override readonly name = "ResourceIdError";
  readonly code = "InvalidResourceId";
  /** Counted from 1. One past the last where the id ends too early. */
  readonly position: number;
  /** What stands there; absent where the id ends too early. */
  readonly segment: string | undefined;
  readonly expected: string;

  constructor(text: string, position: number, segment: string | undefined, expected: string) {
    const found =
      segment === undefined
        ? `it ends where segment ${position} must be`
        : `segment ${position} is ${quote(segment)} and must be`;
    super(`${quote(text)} is not a valid resource id: ${found} ${expected}`);
    this.position = position;
    this.segment = segment;
    this.expected = expected;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}

/** Quoted for a message, and short enough for one whatever was given. */
function quote(text: string): string {
  return JSON.stringify(text.length > 400 ? `${text.slice(0, 400)}…` : text);
}

/**
 * Check the text of an id and give it back with its fixed words spelled as ARM documents them.
 * With a type, the id must be of that type and takes its spelling too: an id that Azure answered in
 * another case becomes one that HyperShift's case-sensitive schemas accept.
 */
export function parseResourceId(text: string, type?: ResourceType): ResourceId {
  const parts = read(text);
  return write(type === undefined ? parts : ofType(text, parts, type));
}

/** The same for a text that anybody may have written: undefined where it is no id, or not one of the type. */
export function tryParseResourceId(text: unknown, type?: ResourceType): ResourceId | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseResourceId(text, type);
  } catch (error) {
    if (error instanceof ResourceIdError) return undefined;
    throw error;
  }
}

/** Put an id together; a part that cannot stand in an id is refused. */
export function buildResourceId(parts: ResourceIdParts): ResourceId {
  const id = write(parts);
  const words = wordsOf(parts);
  const pathStart = words.length - 2 * parts.path.length;
  words.forEach((word, at) => {
    // Written out, either would be read back as something else.
    const opensProvider =
      at >= pathStart && (at - pathStart) % 2 === 0 && isWord(word, "providers");
    if (opensProvider) throw new ResourceIdError(id, at + 1, word, "a resource type");
    if (word.includes("/")) throw new ResourceIdError(id, at + 1, word, 'without "/"');
  });
  read(id);
  return id;
}

/** Take an id apart. */
export function partsOf(id: ResourceId): ResourceIdParts {
  return read(id);
}

/** The id of a subscription itself. */
export function subscriptionId(subscription: string): ResourceId {
  return buildResourceId({ subscription, path: [] });
}

/** The id of a resource group itself. */
export function resourceGroupId(subscription: string, resourceGroup: string): ResourceId {
  return buildResourceId({ subscription, resourceGroup, path: [] });
}

/**
 * The id of a resource in a scope, one name for each word of its type. The scope is a subscription,
 * a resource group, or a resource that this one is put on.
 */
export function resourceIn(scope: ResourceId, type: ResourceType, ...names: string[]): ResourceId {
  const [provider = "", ...types] = type.split("/");
  const on = read(scope);
  const id = buildResourceId({
    ...place(on.subscription, on.resourceGroup),
    ...(on.provider === undefined ? {} : { extends: on }),
    provider,
    path: types.map((word, at) => ({ type: word, name: names[at] ?? "" })),
  });
  const surplus = names[types.length];
  if (surplus === undefined) return id;
  throw new ResourceIdError(id, segmentsOf(id).length + 1, surplus, `left out, in a ${type}`);
}

/** The id of a child, such as a subnet of a network. */
export function childId(parent: ResourceId, type: string, name: string): ResourceId {
  const parts = read(parent);
  return buildResourceId({ ...parts, path: [...parts.path, { type, name }] });
}

/** What an id hangs on: the resource above it, else its resource group, else its subscription. */
export function parentOf(id: ResourceId): ResourceId | undefined {
  const parts = read(id);
  if (parts.path.length > 1) return write({ ...parts, path: parts.path.slice(0, -1) });
  if (parts.extends !== undefined) return write(parts.extends);
  const { subscription, resourceGroup, provider } = parts;
  if (subscription === undefined) return undefined;
  if (provider !== undefined) return write({ ...place(subscription, resourceGroup), path: [] });
  return resourceGroup === undefined ? undefined : write({ subscription, path: [] });
}

/** The name of what an id stands for; for a subscription, its number. */
export function nameOf(id: ResourceId): string {
  return lastSegment(id);
}

/** What stands behind the last slash: the name in an id, the word in a type. */
export function lastSegment(idOrType: string): string {
  return idOrType.slice(idOrType.lastIndexOf("/") + 1);
}

/** The full type of what an id stands for. */
export function typeOf(id: ResourceId): ResourceType {
  return typeIn(read(id));
}

/** The subscription that an id lies in; a resource of the whole tenant lies in none. */
export function subscriptionOf(id: ResourceId): string | undefined {
  return read(id).subscription;
}

/** The resource group that an id lies in, if any. */
export function resourceGroupOf(id: ResourceId): string | undefined {
  return read(id).resourceGroup;
}

/** Whether two ids stand for the same thing. */
export function sameId(a: string, b: string): boolean {
  return a === b || idKey(a) === idKey(b);
}

/** The id as a key of a map: the same for every case in which Azure may answer it. */
export function idKey(id: string): string {
  return id.toLowerCase();
}

function read(text: string): ResourceIdParts {
  const words = segmentsOf(text);
  let at = 0;
  const next = (expected: string): string => {
    const word = words[at];
    at += 1;
    if (word === undefined) throw new ResourceIdError(text, at, undefined, expected);
    return word;
  };
  const fixed = (...allowed: string[]): string => {
    const expected = allowed.map(quote).join(" or ");
    const word = next(expected);
    const found = allowed.find((one) => isWord(word, one));
    if (found === undefined) throw new ResourceIdError(text, at, word, expected);
    return found;
  };

  let parts: ResourceIdParts = { path: [] };
  let word = fixed("subscriptions", "providers");
  if (word === "subscriptions") {
    parts = { subscription: next("the number of a subscription"), path: [] };
    if (at === words.length) return parts;
    word = fixed("resourceGroups", "providers");
  }
  if (word === "resourceGroups") {
    parts = { ...parts, resourceGroup: next("the name of a resource group") };
    if (at === words.length) return parts;
    word = fixed("providers");
  }
  for (;;) {
    const provider = next("a provider, such as Microsoft.Network");
    const path: { type: string; name: string }[] = [];
    do {
      const type = next("a resource type");
      if (isWord(type, "providers")) throw new ResourceIdError(text, at, type, "a resource type");
      path.push({ type, name: next(`the name of one of the ${type}`) });
    } while (at < words.length && !isWord(words[at], "providers"));
    const above = parts.provider === undefined ? {} : { extends: parts };
    parts = { ...place(parts.subscription, parts.resourceGroup), ...above, provider, path };
    if (at === words.length) return parts;
    word = fixed("providers");
  }
}

/** Azure's own are far shorter. A longer text costs time for each of its segments, and a stack for each provider. */
const longestId = 2_048;

function segmentsOf(text: string): string[] {
  if (text.length > longestId)
    throw new ResourceIdError(
      text,
      1,
      text.slice(0, 60),
      `part of at most ${longestId} characters`,
    );
  const [before, ...words] = text.split("/");
  if (before !== "" || words.length === 0)
    throw new ResourceIdError(text, 1, before, 'after a leading "/"');
  words.forEach((word, at) => {
    const expected = unfit(word);
    if (expected !== undefined) throw new ResourceIdError(text, at + 1, word, expected);
  });
  return words;
}

/** An id becomes the path of a request: what would mean something else there cannot be a name. */
function unfit(word: string): string | undefined {
  if (word === "") return "not empty";
  if (word === "." || word === "..") return "a name, and not a step in a path";
  if (/[?#%\\\p{Cc}]/u.test(word)) return "without ?, #, %, \\ and control characters";
  return word.isWellFormed() ? undefined : "well-formed text";
}

/** Check the type of an id, and give its words the spelling of the type. */
function ofType(text: string, parts: ResourceIdParts, type: ResourceType): ResourceIdParts {
  if (parts.provider === undefined && isWord(typeIn(parts), type)) return parts;
  const [provider = "", ...types] = type.split("/");
  const expectedParts = [provider, ...types];
  const found = [parts.provider, ...parts.path.map((pair) => pair.type)];
  for (let at = 0; at < Math.max(expectedParts.length, found.length); at++) {
    const expectedPart = expectedParts[at];
    if (expectedPart !== undefined && isWord(found[at], expectedPart)) continue;
    const position = providerPosition(text, parts) + (at === 0 ? 0 : 2 * at - 1);
    const expected = expectedPart === undefined ? "left out" : quote(expectedPart);
    throw new ResourceIdError(text, position, found[at], `${expected}, in an id of type ${type}`);
  }
  const path = parts.path.map((pair, at) => ({ ...pair, type: types[at] ?? pair.type }));
  return { ...parts, provider, path };
}

/** Where the last provider stands, or would: behind it come a type and a name for each step of the path. */
function providerPosition(text: string, { provider, path }: ResourceIdParts): number {
  const { length } = segmentsOf(text);
  return provider === undefined ? length + 2 : length - 2 * path.length;
}

function typeIn({ provider, resourceGroup, path }: ResourceIdParts): ResourceType {
  if (provider !== undefined) return `${provider}/${path.map(({ type }) => type).join("/")}`;
  return resourceGroup === undefined
    ? "Microsoft.Resources/subscriptions"
    : "Microsoft.Resources/resourceGroups";
}

function write(parts: ResourceIdParts): ResourceId {
  return `/${wordsOf(parts).join("/")}` as ResourceId;
}

function wordsOf(parts: ResourceIdParts): string[] {
  const words = parts.extends === undefined ? [] : wordsOf(parts.extends);
  if (parts.extends === undefined) {
    if (parts.subscription !== undefined) words.push("subscriptions", parts.subscription);
    if (parts.resourceGroup !== undefined) words.push("resourceGroups", parts.resourceGroup);
  }
  if (parts.provider !== undefined) words.push("providers", parts.provider);
  for (const { type, name } of parts.path) words.push(type, name);
  return words;
}

function place(subscription?: string, resourceGroup?: string): Omit<ResourceIdParts, "path"> {
  return {
    ...(subscription === undefined ? {} : { subscription }),
    ...(resourceGroup === undefined ? {} : { resourceGroup }),
  };
}

function isWord(word: string | undefined, fixed: string): boolean {
  return word !== undefined && word.toLowerCase() === fixed.toLowerCase();
}
