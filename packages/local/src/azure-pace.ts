import {
  azureLimits,
  limitNames,
  type ThrottleLimits,
} from "@postern/azure-simulator/arm/throttle.ts";

/**
 * How long Azure takes for things, in milliseconds: round figures of what people see. `--speed` divides them. At speed 1 a
 * private control plane takes some minutes, as it does in Azure.
 */
export const operationMs: Readonly<Record<string, number>> = {
  "*": 5_000,
  "Microsoft.Network/loadBalancers": 8_000,
  "Microsoft.Network/loadBalancers/backendAddressPools": 12_000,
  "Microsoft.Network/virtualNetworks/subnets": 4_000,
  "Microsoft.Network/privateLinkServices": 20_000,
  "Microsoft.Network/privateEndpoints": 40_000,
  "Microsoft.Network/privateDnsZones": 20_000,
  "Microsoft.Network/privateDnsZones/virtualNetworkLinks": 25_000,
};

/** Azure's limits, filling as much faster as everything else goes. */
export function limitsAt(speed: number): ThrottleLimits {
  const limits = { ...azureLimits };
  for (const name of limitNames) {
    const { burst, perSecond } = azureLimits[name];
    limits[name] = { burst, perSecond: perSecond * Math.max(1, speed) };
  }
  return limits;
}
