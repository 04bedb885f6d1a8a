import { Refusal } from "./refusal.ts";

/**
 * Where a request points, read from its path.
 *
 *     /subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N
 *       names [V, N], type Microsoft.Network/virtualNetworks/subnets
 *     the same without its last name is a collection, or with POST an action on V
 */
export interface Address {
  /** The path as it came, without a slash at its end. */
  path: string;
  /** The same in lower case: what is looked up. Azure does not tell upper case from lower. */
  key: string;
  subscription: string | undefined;
  resourceGroup: string | undefined;
  /** The key of the resource group. */
  groupKey: string | undefined;
  /** The provider and the words of the type, as they came; empty for a group or a subscription. */
  type: string;
  /** The names in the path, one for each word of the type but for the last one of a collection. */
  names: readonly string[];
  /** Whether the path ends with a word of the type and not with a name. */
  collection: boolean;
  /** For a resource that is put on another, such as a role assignment: the key of that other. */
  scopeKey: string;
  /** How many segments that key has, with the empty one before its first slash. */
  scopeDepth: number;
}

const longestPath = 8192;

/** Read a path. One that cannot point anywhere is refused as Resource Manager refuses it. */
export function readAddress(given: string): Address {
  // Clients put a scope with its slash behind a slash of their own; Resource Manager takes the two for one.
  const path = given.startsWith("//") ? given.slice(1) : given;
  if (path.length > longestPath) throw invalid("The request path is too long.");
  let plain: string;
  try {
    plain = decodeURIComponent(path);
  } catch {
    throw invalid("The request path is not a valid URI.");
  }
  if (plain.endsWith("/")) plain = plain.slice(0, -1);
  const segments = plain.split("/");
  // An encoded slash makes more segments than the path had; a dot segment climbs out of its scope.
  if (segments.length !== path.split("/").length - (path.endsWith("/") ? 1 : 0))
    throw invalid("The request path has an encoded slash.");
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i];
    if (segment === "" || segment === "." || segment === "..")
      throw invalid(`The request path has an empty or relative segment at position ${i}.`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: -- they are what is refused
    if (/[\u0000-\u001f\u007f\\]/.test(segment ?? ""))
      throw invalid(`The request path has a character that is not allowed at position ${i}.`);
  }
  return place(plain, segments);
}

function place(path: string, segments: string[]): Address {
  const key = path.toLowerCase();
  const at = (i: number, word: string) => segments[i]?.toLowerCase() === word;
  const subscription = at(1, "subscriptions") ? segments[2] : undefined;
  const inGroup = subscription !== undefined && at(3, "resourcegroups");
  const resourceGroup = inGroup ? segments[4] : undefined;
  // The last "providers" counts: what stands before it is what the resource is put on.
  let provider = segments.length;
  for (let i = segments.length - 2; i >= 1; i--) {
    if (!at(i, "providers")) continue;
    const before = i - (resourceGroup !== undefined ? 5 : subscription !== undefined ? 3 : 1);
    if (before % 2 !== 0 && before > 0) continue;
    provider = i;
    break;
  }
  const words: string[] = [];
  const names: string[] = [];
  for (let i = provider + 2; i < segments.length; i += 2) {
    words.push(segments[i] ?? "");
    const name = segments[i + 1];
    if (name !== undefined) names.push(name);
  }
  const namespace = segments[provider + 1];
  const type = typeOf(namespace, words);
  // Without a provider words and names alternate too: `/tenants`, `/subscriptions/S/locations`.
  const collection =
    namespace === undefined ? segments.length % 2 === 0 : names.length < words.length;
  if (type.startsWith(providerType)) names.unshift(namespace ?? "");
  const keyOf = (depth: number) => segments.slice(0, depth).join("/").toLowerCase();
  return {
    path,
    key,
    subscription,
    resourceGroup,
    groupKey: resourceGroup === undefined ? undefined : keyOf(5),
    type,
    names,
    collection,
    scopeKey: keyOf(provider),
    scopeDepth: provider,
  };
}

/** The type of resource providers, which stands in no path. */
export const providerType = "Microsoft.Resources/providers";

/** A namespace without a type of its own is a resource provider; what can be asked of it are its registrations. */
function typeOf(namespace: string | undefined, words: readonly string[]): string {
  if (namespace === undefined) return "";
  const [word = ""] = words;
  if (words.length === 0) return providerType;
  if (words.length === 1 && /^(un)?register$/i.test(word)) return `${providerType}/${word}`;
  return [namespace, ...words].join("/");
}

function invalid(message: string): Refusal {
  return new Refusal(400, "InvalidRequestUri", message, { by: "gateway" });
}
