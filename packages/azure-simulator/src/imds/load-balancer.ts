import type { Json, JsonObject, Resource, Store } from "../state/store.ts";
import { type ImdsAnswer, refused } from "./answer.ts";
import { interfacesOf, list, part, text } from "./document.ts";

/** What the load balancers in front of a machine do for it:
 * https://learn.microsoft.com/azure/load-balancer/howto-load-balancer-imds */
export function loadBalancerAnswer(store: Store, machine: Resource): ImdsAnswer {
  const configurations = interfacesOf(store, machine).flatMap((nic) =>
    list(nic.properties, "ipConfigurations").map((each) => part(each, "properties")),
  );
  const publicIpAddresses: JsonObject[] = [];
  const inboundRules: JsonObject[] = [];
  const outboundRules: JsonObject[] = [];
  let balanced = false;
  for (const configuration of configurations) {
    const privateIpAddress = text(configuration, "privateIPAddress");
    const outside = addressOf(store, configuration);
    if (outside !== "") publicIpAddresses.push({ frontendIpAddress: outside, privateIpAddress });
    for (const pool of list(configuration, "loadBalancerBackendAddressPools")) {
      const key = text(pool, "id").toLowerCase();
      const balancer = store.get(key.replace(/\/backendaddresspools\/[^/]+$/, ""));
      if (!balancer || text(part(balancer.top, "sku"), "name") === "Basic") continue;
      balanced = true;
      for (const rule of rulesFor(store, balancer, "loadbalancingrules", key))
        inboundRules.push({
          frontendIpAddress: frontendOf(store, part(rule, "frontendIPConfiguration")),
          protocol: text(rule, "protocol").toLowerCase(),
          frontendPort: portOf(rule.frontendPort),
          backendPort: portOf(rule.backendPort),
          privateIpAddress,
        });
      for (const rule of rulesFor(store, balancer, "outboundrules", key))
        for (const frontend of list(rule, "frontendIPConfigurations"))
          outboundRules.push({
            frontendIpAddress: frontendOf(store, frontend),
            privateIpAddress,
          });
    }
  }
  if (!balanced && publicIpAddresses.length === 0)
    throw refused(
      404,
      "No load balancer metadata is found. Please check if your VM is using any non-basic SKU load balancer and retry later.",
    );
  return {
    status: 200,
    body: { loadbalancer: { publicIpAddresses, inboundRules, outboundRules } },
  };
}

function rulesFor(store: Store, balancer: Resource, kind: string, pool: string): JsonObject[] {
  return [...store.collection(`${balancer.key}/${kind}`)]
    .map(({ properties }) => properties)
    .filter((rule) => {
      const pools = [part(rule, "backendAddressPool"), ...list(rule, "backendAddressPools")];
      return pools.some((each) => text(each, "id").toLowerCase() === pool);
    });
}

function frontendOf(store: Store, reference: JsonObject): string {
  const properties = store.get(text(reference, "id"))?.properties ?? {};
  return text(properties, "privateIPAddress") || addressOf(store, properties);
}

function addressOf(store: Store, configuration: JsonObject): string {
  const outside = store.get(text(part(configuration, "publicIPAddress"), "id"));
  return text(outside?.properties ?? {}, "ipAddress");
}

/** Ports are numbers here, unlike in the rest of the service: so they are in Microsoft's sample. */
function portOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
