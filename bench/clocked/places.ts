import type { JsonObject } from "@postern/azure-simulator/state/store.ts";

export const subscription = "11111111-1111-4111-8111-111111111111";
export const tenant = "22222222-2222-4222-8222-222222222222";
export const location = "westeurope";
export const groups = `/subscriptions/${subscription}/resourceGroups`;
export const managementGroup = `${groups}/management`;
export const network = "providers/Microsoft.Network";

/** What Azure takes of one identity in one subscription. */
export const writeLimit = { burst: 200, perSecond: 10 };

/** The seconds that so many writes take at least. */
export function secondsFor(writes: number): number {
  return (writes - writeLimit.burst) / writeLimit.perSecond;
}

/** A network with one subnet. */
export function networkBody(
  space: string,
  name: string,
  addressPrefix: string,
  more: JsonObject = {},
): JsonObject {
  const subnets = [{ name, properties: { addressPrefix, ...more } }];
  return { location, properties: { addressSpace: { addressPrefixes: [space] }, subnets } };
}
