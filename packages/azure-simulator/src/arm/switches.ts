/** What Azure's documents leave open, or what a subscription may differ in, so that both answers can be tried. */
export interface Switches {
  gatewayPoolsTakeAddresses: boolean;
  concurrentNetworkWrites: "refuse" | "fail";
  linkServicesPerLoadBalancer: number;
  privateLinkServiceUdr: boolean;
  rejectedConnectionsHoldServices: boolean;
}

/** One switch, for those who set it by a text and for the documentation. */
interface Switch<Value> {
  default: Value;
  what: string;
  values: string;
  /** The value of a text; undefined where it is not one. */
  read(text: string): Value | undefined;
}

/** The switches. */
export const switches: { readonly [Name in keyof Switches]: Switch<Switches[Name]> } = {
  gatewayPoolsTakeAddresses: flag(
    true,
    "whether a pool of a Gateway load balancer accepts members by address: not documented",
  ),
  concurrentNetworkWrites: {
    default: "refuse",
    what: "whether a write to a network that is being changed is rejected immediately, or accepted and fails later: both were reported",
    values: "`refuse` or `fail`",
    read: (text) => (["refuse", "fail"] as const).find((each) => each === text),
  },
  linkServicesPerLoadBalancer: {
    default: 8,
    what: "maximum number of link services per load balancer: documented, but the code and message of the rejection are not",
    values: "a number",
    read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  },
  privateLinkServiceUdr: flag(
    false,
    "whether subscriptions have the feature AllowPrivateLinkServiceUDR, with which a link service forwards to an IP address",
  ),
  rejectedConnectionsHoldServices: flag(
    true,
    "whether Azure rejects deleting a link service that has only rejected connections: not proven",
  ),
};

/** The names of all switches. */
export const switchNames = Object.keys(switches) as (keyof Switches)[];

/** What is set where nothing else is said. */
export const defaultSwitches = Object.fromEntries(
  switchNames.map((name) => [name, switches[name].default]),
) as unknown as Switches;

function flag(usual: boolean, what: string): Switch<boolean> {
  return {
    default: usual,
    what,
    values: "`true` or `false`",
    read: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
  };
}
