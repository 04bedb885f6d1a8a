import { counted } from "@postern/core/counted.ts";
import type { Hop } from "@postern/core/dashboard/trace.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { BackendPool } from "../azure/gateways/backend-pools.ts";
import type { LoadBalancer, LoadBalancingRule } from "../azure/gateways/load-balancers.ts";
import type { PrivateLinkService } from "../azure/gateways/private-link-services.ts";
import { isHidden, type WorldIndex } from "./index-of.ts";
import { balancerIdOf, provisioned } from "./parts/states.ts";

/** The last hops of a way: the load balancer behind a link service, and the machines behind that. */
export function balancerHops(index: WorldIndex, service: PrivateLinkService): Hop[] {
  const id = balancerIdOf(service);
  const balancer = index.loadBalancer(id);
  if (balancer === undefined)
    return [
      {
        what: "load balancer",
        name: lastSegment(id ?? ""),
        ...(isHidden(index, "load balancers")
          ? { state: "unknown", found: "it lies where we cannot look, or is gone" }
          : { state: "broken", found: "it is gone" }),
        remedy: "make the Service of the control plane anew, or look in its resource group",
      },
    ];
  // Services share a load balancer: only the frontend of this one counts, and the pools behind it.
  const { frontends, rules, pools, members } = backendsOf(balancer, service);
  const made = provisioned(balancer.properties.provisioningState);
  if (made.state === "broken")
    return [
      {
        what: "load balancer",
        name: balancer.name ?? "",
        frontends,
        state: made.state,
        found: `is ${made.reason}`,
        remedy: "have its owner write it again: the cloud provider, or Cluster API Provider Azure",
      },
    ];
  const hop: Hop = {
    what: "load balancer",
    name: balancer.name ?? "",
    frontends,
    state: rules.length > 0 ? "ok" : "broken",
    found:
      rules.length > 0 ? `ports ${portsOf(rules).join(", ")}` : "it has no rule for this frontend",
    ...(rules.length === 0 && {
      remedy: "the Service has no ports, or no cloud provider serves it",
    }),
  };
  return [
    hop,
    {
      what: "backend",
      name: pools.map(({ name }) => name).join(", "),
      state: members > 0 ? "ok" : "broken",
      found: counted(members, "machine"),
      ...(members === 0 && { remedy: "no machine is in its pool: look at the nodes" }),
    },
  ];
}

/** The rules of a link service's frontends, the pools to which they lead, and how many machines are in these. */
export function backendsOf(
  { properties }: LoadBalancer,
  service: PrivateLinkService,
): { frontends: string[]; rules: LoadBalancingRule[]; pools: BackendPool[]; members: number } {
  const keys = (all: readonly ({ id?: string } | undefined)[] = []) =>
    new Set(all.flatMap((each) => (each?.id ? [idKey(each.id)] : [])));
  const frontends = keys(service.properties.loadBalancerFrontendIpConfigurations);
  const rules = (properties.loadBalancingRules ?? []).filter((rule) =>
    frontends.has(idKey(rule.properties.frontendIPConfiguration?.id ?? "")),
  );
  const wanted = keys(
    rules.flatMap(({ properties: { backendAddressPool, backendAddressPools = [] } }) => [
      backendAddressPool,
      ...backendAddressPools,
    ]),
  );
  const pools = (properties.backendAddressPools ?? []).filter(({ id = "" }) =>
    wanted.has(idKey(id)),
  );
  const members = pools.reduce(
    // Azure lists a pool of interfaces in the second field, and leaves the first one empty.
    (sum, { properties: { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } }) =>
      sum + Math.max(loadBalancerBackendAddresses.length, backendIPConfigurations.length),
    0,
  );
  return { frontends: [...frontends], rules, pools, members };
}

function portsOf(rules: readonly { properties: { frontendPort?: number } }[]): number[] {
  return [...new Set(rules.flatMap(({ properties }) => properties.frontendPort ?? []))];
}
