import { AzureError } from "./errors.ts";

/** What the path of a request says about it. */
export interface RequestPath {
  /** Empty for what lies in no subscription. */
  subscription: string;
  /** The type, as a label of metrics: `Microsoft.Network/privateLinkServices`. */
  resource: string;
  /** The thing, as people call it: `privateLinkServices/api`. */
  thing: string;
}

/**
 * Look at the path of a request. Unlike an id it may also be a list (`…/loadBalancers`) or an
 * operation (`…/locations/westeurope/operations/…`), so nothing is refused here.
 */
export function describePath(path: string): RequestPath {
  const words = path.split("/").slice(1);
  const scoped = words[0]?.toLowerCase() === "subscriptions";
  const subscription = (scoped ? words[1] : undefined) ?? "";
  const provided = words.findLastIndex((word) => word.toLowerCase() === "providers");
  const [provider, ...pairs] =
    provided < 0
      ? ["Microsoft.Resources", ...(scoped && words.length > 2 ? words.slice(2) : words)]
      : words.slice(provided + 1);
  const types = pairs.filter((_word, at) => at % 2 === 0);
  return { subscription, resource: [provider, ...types].join("/"), thing: pairs.join("/") };
}

/**
 * Check that a path stays where it seems to lead: an id that holds `?`, `..` or `//` would ask for
 * something else than its parts say.
 */
export function checkPath(path: string): string {
  if (/^(\/[^/?#\\\s]+)+$/.test(path) && !/\/(\.|%2e){1,2}(\/|$)/i.test(path)) return path;
  throw new AzureError({ code: "InvalidRequestPath", what: `ask for ${JSON.stringify(path)}` });
}
