import { azureLimits } from "@postern/azure-simulator/arm/throttle.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { atMost, type Row, told } from "../report.ts";

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

/** Against the floor: the writes at the pace of Azure's tightest limit, or the longest chain of operations. */
export function timeRows(
  of: (name: string) => string,
  seconds: number,
  budget: number,
  chain: number,
): Row[] {
  const floor = Math.max(budget, chain);
  return [
    told(of("floor: writes by Azure's limits, or the chain of operations"), floor, "s"),
    atMost(of("time against the floor"), seconds / floor, "x", 1.15),
  ];
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
