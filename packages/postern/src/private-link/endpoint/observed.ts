import { isIp } from "@postern/core/ip.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";

/** The first connection of an endpoint: ours have one only. */
export function connectionOf({ properties }: PrivateEndpoint) {
  return [
    ...(properties.manualPrivateLinkServiceConnections ?? []),
    ...(properties.privateLinkServiceConnections ?? []),
  ][0];
}

/** How an endpoint is connected, in lower case; empty where it is not said. */
export function stateOf(found: PrivateEndpoint): string {
  const state = connectionOf(found)?.properties.privateLinkServiceConnectionState?.status;
  return (state ?? "").toLowerCase();
}

/** The addresses of an endpoint: those of its names, else those of its interfaces. Each once. */
export function addressesOf({ properties }: PrivateEndpoint): string[] {
  const ofNames = (properties.customDnsConfigs ?? []).flatMap((each) => each.ipAddresses ?? []);
  const ofInterfaces = (properties.networkInterfaces ?? [])
    .flatMap((each) => each.properties?.ipConfigurations ?? [])
    .flatMap((each) => each.properties.privateIPAddress ?? []);
  const found = ofNames.length > 0 ? ofNames : ofInterfaces;
  return [...new Set(found.filter((each) => isIp(each)))];
}
