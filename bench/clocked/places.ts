import { azureLimits } from "@postern/azure-simulator/arm/throttle.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";

export const subscription = "11111111-1111-4111-8111-111111111111";
export const tenant = "22222222-2222-4222-8222-222222222222";
export const location = "westeurope";
export const groups = `/subscriptions/${subscription}/resourceGroups`;
export const managementGroup = `${groups}/management`;
export const network = "providers/Microsoft.Network";

/** The least time that so many writes take in one subscription by one identity, by the tightest of Azure's limits. */
export function secondsFor(writes: number): number {
  const { write, networkWrite } = azureLimits;
  return Math.max(
    ...[write, networkWrite].map(({ burst, perSecond }) => (writes - burst) / perSecond),
  );
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
