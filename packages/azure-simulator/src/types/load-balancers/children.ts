import type { ResourceType } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import { leaveRule } from "../network-interfaces/pool-membership.ts";
import { membersOfRule, usersOf } from "./back-references.ts";
import { skuOf } from "./frontends.ts";
import { acceptInbound } from "./rules.ts";

/** The frontends, read one by one. They are written with their load balancer. */
export const frontendIPConfigurations: ResourceType = {
  type: "Microsoft.Network/loadBalancers/frontendIPConfigurations",
  dialect: "network",
  within: "parent",
  show: (frontend, world) => ({ ...usersOf(frontend, world) }),
  differences: [],
};

/** The load balancing rules, read one by one. */
export const loadBalancingRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/loadBalancingRules",
  dialect: "network",
  within: "parent",
  differences: ["The health of a rule is not available: no probes run."],
};

/** The probes, read one by one. */
export const probes: ResourceType = {
  type: "Microsoft.Network/loadBalancers/probes",
  dialect: "network",
  within: "parent",
  show: (probe, world, query) => ({
    ...usersOf(probe, world),
    // Recorded: 2023-04-01 does not show it, 2025-05-01 does.
    ...(!since(query, "2024-01-01") && { noHealthyBackendsBehavior: undefined }),
  }),
  differences: ["No probes run."],
};

/** The outbound rules, read one by one. */
export const outboundRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/outboundRules",
  dialect: "network",
  within: "parent",
  differences: [],
};

/** The inbound NAT rules. Unlike the other rules they can be written one by one. */
export const inboundNatRules: ResourceType = {
  type: "Microsoft.Network/loadBalancers/inboundNatRules",
  dialect: "network",
  within: "parent",
  put: "async",
  delete: "async",
  accept({ properties, parent, name, world }) {
    const names = (word: string) =>
      [...world.store.collection(`${parent?.key}/${word.toLowerCase()}`)].map((each) => each.name);
    const [accepted] = acceptInbound([{ name, properties }], {
      id: parent?.id ?? "",
      sku: skuOf(parent),
      names: {
        frontendIPConfigurations: names("frontendIPConfigurations"),
        backendAddressPools: names("backendAddressPools"),
      },
    });
    return { properties: accepted?.properties ?? {} };
  },
  show: (rule, world) => membersOfRule(rule, world),
  afterDelete(rule, world) {
    leaveRule(rule, world);
  },
  differences: ["Port mappings of rules for a pool are not created."],
};
