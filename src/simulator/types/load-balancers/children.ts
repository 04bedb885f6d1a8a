import type { ResourceType } from "../../resource-type.ts";
import { membersOfRule, usersOf } from "./back-references.ts";

/** The frontends, read one by one. They are written with their load balancer. */
export const frontendIPConfigurations: ResourceType = {
  type: "Microsoft.Network/loadBalancers/frontendIPConfigurations",
  dialect: "network",
  within: "parent",
  show: (frontend, world) => ({ ...usersOf(frontend, world) }),
};

/** The load balancing rules, read one by one. */
export const loadBalancingRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/loadBalancingRules",
  dialect: "network",
  within: "parent",
  differences: ["The health of a rule cannot be asked for: there are no probes that run."],
};

/** The probes, read one by one. */
export const probes: ResourceType = {
  type: "Microsoft.Network/loadBalancers/probes",
  dialect: "network",
  within: "parent",
  show: (probe, world) => ({ ...usersOf(probe, world) }),
};

/** The outbound rules, read one by one. */
export const outboundRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/outboundRules",
  dialect: "network",
  within: "parent",
};

/** The inbound NAT rules, read one by one. */
export const inboundNatRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/inboundNatRules",
  dialect: "network",
  within: "parent",
  show: (rule, world) => membersOfRule(rule, world),
  differences: [
    "Written with their load balancer only; their own PUT and DELETE are not done.",
    "Port mappings of rules for a pool are not made.",
  ],
};
