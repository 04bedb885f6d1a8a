import { defined, flag, number, object, objects, oneOf } from "../../arm/fields.ts";
import { badReference, idIn } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Child } from "../../arm/resource-type.ts";
import type { JsonObject } from "../../state/store.ts";
import type { Sku } from "./frontends.ts";
import { missing, named, port } from "./part-fields.ts";

/** The children that a body has, by which its rules may name them. */
export interface Siblings {
  /** The id of the load balancer. */
  id: string;
  sku: Sku;
  /** Names by the word of their collection. */
  names: Readonly<Record<string, readonly string[]>>;
}

const protocols = ["Tcp", "Udp", "All"] as const;

/** What is kept of the load balancing rules. */
export function acceptRules(given: readonly JsonObject[], siblings: Siblings): Child[] {
  const kept = given.map((each): Child => {
    const name = named(each);
    const properties = object(each, "properties") ?? {};
    const sibling = siblingOf(siblings, `loadBalancingRules/${name}`);
    const one = sibling(properties.backendAddressPool, "backendAddressPools");
    const listed = objects(properties, "backendAddressPools").map((pool) =>
      sibling(pool, "backendAddressPools"),
    );
    const pools = listed.length > 0 ? listed : one === undefined ? [] : [one];
    const frontend = sibling(properties.frontendIPConfiguration, "frontendIPConfigurations");
    if (frontend === undefined) throw missing("frontendIPConfiguration", name);
    const protocol = oneOf(properties, "protocol", protocols, undefined);
    if (protocol === undefined) throw missing("protocol", name);
    const ports = {
      frontendPort: port(properties, "frontendPort", 0, 65534, name),
      backendPort: port(properties, "backendPort", 0, 65535, name),
    };
    checkPorts(protocol, ports, pools.length, name, siblings.sku);
    return {
      name,
      properties: defined({
        frontendIPConfiguration: frontend,
        ...ports,
        enableFloatingIP: flag(properties, "enableFloatingIP", false),
        idleTimeoutInMinutes: number(properties, "idleTimeoutInMinutes", 4),
        protocol,
        enableDestinationServiceEndpoint: flag(
          properties,
          "enableDestinationServiceEndpoint",
          false,
        ),
        enableTcpReset: flag(properties, "enableTcpReset", false),
        allowBackendPortConflict: flag(properties, "allowBackendPortConflict", false),
        loadDistribution: oneOf(
          properties,
          "loadDistribution",
          ["Default", "SourceIP", "SourceIPProtocol"],
          "Default",
        ),
        disableOutboundSnat: flag(properties, "disableOutboundSnat", false),
        backendAddressPool: pools.length === 1 ? pools[0] : undefined,
        backendAddressPools: pools.length === 0 ? undefined : (pools as JsonObject[]),
        probe: sibling(properties.probe, "probes"),
      }),
    };
  });
  checkNoneTwice(kept);
  return kept;
}

/** What is kept of the outbound rules. */
export function acceptOutbound(given: readonly JsonObject[], siblings: Siblings): Child[] {
  return given.map((each) => {
    const name = named(each);
    const properties = object(each, "properties") ?? {};
    const sibling = siblingOf(siblings, `outboundRules/${name}`);
    const pool = sibling(properties.backendAddressPool, "backendAddressPools");
    const protocol = oneOf(properties, "protocol", protocols, undefined);
    if (pool === undefined) throw missing("backendAddressPool", name);
    if (protocol === undefined) throw missing("protocol", name);
    const frontends = objects(properties, "frontendIPConfigurations").map((one) =>
      sibling(one, "frontendIPConfigurations"),
    );
    if (frontends.length === 0) throw missing("frontendIPConfigurations", name);
    return {
      name,
      properties: {
        allocatedOutboundPorts: number(properties, "allocatedOutboundPorts", 1024),
        protocol,
        enableTcpReset: flag(properties, "enableTcpReset", false),
        idleTimeoutInMinutes: number(properties, "idleTimeoutInMinutes", 4),
        backendAddressPool: pool,
        frontendIPConfigurations: frontends as JsonObject[],
      },
    };
  });
}

/** What is kept of inbound NAT, rules and pools alike. */
export function acceptInbound(
  given: readonly JsonObject[],
  siblings: Siblings,
  word: "inboundNatRules" | "inboundNatPools" = "inboundNatRules",
): Child[] {
  return given.map((each) => {
    const name = named(each);
    const properties = object(each, "properties") ?? {};
    const sibling = siblingOf(siblings, `${word}/${name}`);
    return {
      name,
      properties: defined({
        frontendIPConfiguration: sibling(
          properties.frontendIPConfiguration,
          "frontendIPConfigurations",
        ),
        // Recorded: a rule for a range shows 0.
        frontendPort: number(
          properties,
          "frontendPort",
          word === "inboundNatRules" ? 0 : undefined,
        ),
        frontendPortRangeStart: number(properties, "frontendPortRangeStart", undefined),
        frontendPortRangeEnd: number(properties, "frontendPortRangeEnd", undefined),
        backendPort: port(properties, "backendPort", 1, 65535, name),
        enableFloatingIP: flag(properties, "enableFloatingIP", false),
        idleTimeoutInMinutes: number(properties, "idleTimeoutInMinutes", 4),
        protocol: oneOf(properties, "protocol", protocols, "Tcp"),
        enableDestinationServiceEndpoint: flag(
          properties,
          "enableDestinationServiceEndpoint",
          false,
        ),
        enableTcpReset: flag(properties, "enableTcpReset", false),
        allowBackendPortConflict: flag(properties, "allowBackendPortConflict", false),
        backendAddressPool: sibling(properties.backendAddressPool, "backendAddressPools"),
      }),
    };
  });
}

/** Reads references to children that the same body has, in the spelling of those children. An empty object is none. */
function siblingOf({ id, names }: Siblings, by: string) {
  return (value: JsonObject[string], word: string): JsonObject | undefined => {
    const given = idIn(value);
    if (given === undefined) return undefined;
    const start = `${id}/${word}/`.toLowerCase();
    const key = given.toLowerCase();
    const name = key.startsWith(start)
      ? names[word]?.find((each) => each.toLowerCase() === key.slice(start.length))
      : undefined;
    if (name !== undefined) return { id: `${id}/${word}/${name}` };
    throw badReference(given, `${id}/${by}`);
  };
}

function checkPorts(
  protocol: string,
  { frontendPort, backendPort }: { frontendPort: number; backendPort: number },
  pools: number,
  name: string,
  sku: Sku,
): void {
  const all = protocol === "All" && frontendPort === 0 && backendPort === 0;
  // load-balancer/gateway-overview: only HA ports, and at most two pools to a rule.
  if (sku === "Gateway" && (!all || pools > 2))
    throw new Refusal(
      400,
      "GatewayLoadBalancerRuleNotSupported",
      `Rule ${name} of a load balancer of SKU Gateway must have protocol All, both ports 0 and at most two backend address pools.`,
    );
  if (sku !== "Gateway" && pools > 1)
    throw new Refusal(
      400,
      "MultipleBackendAddressPoolsNotSupported",
      `Rule ${name} has more than one backend address pool, which only a load balancer of SKU Gateway supports.`,
    );
  if ((protocol === "All") !== (frontendPort === 0) || (frontendPort === 0) !== (backendPort === 0))
    throw new Refusal(
      400,
      "LoadBalancerRuleHaPortsInvalid",
      `Rule ${name} must have both ports 0 if its protocol is All, and none of them 0 if not.`,
    );
}

function checkNoneTwice(kept: readonly Child[]): void {
  const seen = new Map<string, string>();
  for (const { name, properties } of kept) {
    const key = `${idIn(properties.frontendIPConfiguration)} ${properties.frontendPort} ${properties.protocol}`;
    const other = seen.get(key);
    if (other !== undefined)
      throw new Refusal(
        400,
        "RulesUseSameFrontendPortProtocolAndIPConfig",
        `Load balancing rules ${other} and ${name} must not use the same frontend port, protocol and frontend IP configuration.`,
      );
    seen.set(key, name);
  }
}
