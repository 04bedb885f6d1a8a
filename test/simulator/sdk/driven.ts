import { readAddress } from "@postern/azure-simulator/arm/address.ts";
import { typeNamed } from "@postern/azure-simulator/arm/registry.ts";
import { wholeType } from "@postern/azure-simulator/arm/routes.ts";
import type { Sent } from "@postern/azure-simulator/send.ts";

/** What clients have asked and got, as `Microsoft.Network/virtualNetworks: put`. */
export const driven = new Set<string>();

/** Note what a client asked. What was refused does not count. */
export function noteDriven({ method, url, status }: Sent): void {
  if (status >= 400) return;
  const address = readAddress(url.split("?")[0] ?? "");
  const { collection, resourceGroup, subscription } = address;
  const named = wholeType(address);
  const word = named.slice(named.lastIndexOf("/") + 1);
  const type = typeNamed(named);
  if (method === "GET" && type && collection) {
    const wide = type.within === "resourceGroup" && resourceGroup === undefined;
    driven.add(`${type.type}: ${wide && subscription ? "list in subscription" : "list"}`);
  } else if (type && !collection) driven.add(`${type.type}: ${method.toLowerCase()}`);
  else {
    const above = typeNamed(named.slice(0, named.lastIndexOf("/")));
    const known = Object.keys({ ...above?.lists, ...above?.views, ...above?.posts }).find(
      (each) => each.toLowerCase() === word.toLowerCase(),
    );
    if (above && known !== undefined) driven.add(`${above.type}: ${method} …/${known}`);
  }
}
