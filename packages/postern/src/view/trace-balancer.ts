import { counted } from "@postern/core/counted.ts";
import type { Hop } from "@postern/core/dashboard/trace.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { BackendPool } from "../azure/gateways/backend-pools.ts";
import type { LoadBalancer, LoadBalancingRule } from "../azure/gateways/load-balancers.ts";
import type { PrivateLinkService } from "../azure/gateways/private-link-services.ts";
import { isHidden, type WorldIndex } from "./index-of.ts";
import { balancerIdOf, provisioned } from "./parts/states.ts";

/** The last hops of a path: the load balancer behind a link service, and the machines behind that. */
export function balancerHops(index: WorldIndex, service: PrivateLinkService): Hop[] {
  const id = balancerIdOf(service);
  const balancer = index.loadBalancer(id);
  if (balancer === undefined)
    return [
      {
        what: "load balancer",
        name: lastSegment(id ?? ""),
        ...(isHidden(index, "load balancers")
          ? { state: "unknown", found: "does not exist, or this credential cannot read it" }
          : { state: "broken", found: "does not exist" }),
        remedy:
          "Check the Service of the control plane and its events: the cloud provider creates the load balancer.",
      },
    ];
  // Services share a load balancer: only the frontends of this link service count, and the pools behind them.
  const { frontends, rules, pools, members } = backendsOf(balancer, service);
  const balancerState = provisioned(balancer.properties.provisioningState);
  if (balancerState.state === "broken")
    return [
      {
        what: "load balancer",
        name: balancer.name ?? "",
        frontends,
        state: balancerState.state,
        found: `provisioning state ${balancerState.reason}`,
        remedy:
          "The owner of the load balancer has to update it: the cloud provider, or Cluster API Provider Azure.",
      },
    ];
  const hop: Hop = {
    what: "load balancer",
    name: balancer.name ?? "",
    frontends,
    state: rules.length > 0 ? "ok" : "broken",
    found: rules.length > 0 ? portsText(rules) : "no load balancing rule for this frontend",
    ...(rules.length === 0 && {
      remedy: "Check that the Service has ports, and that the cloud provider is running.",
    }),
  };
  return [
    hop,
    {
      what: "backend",
      name: pools.map(({ name }) => name).join(", "),
      state: members > 0 ? "ok" : "broken",
      found: counted(members, "machine"),
      ...(members === 0 && {
        remedy: "The backend pool is empty. Check the nodes of the management cluster.",
      }),
    },
  ];
}

/** The rules of a link service's frontends, their backend pools, and how many machines are in these. */
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

function portsText(rules: readonly { properties: { frontendPort?: number } }[]): string {
  const ports = [...new Set(rules.flatMap(({ properties }) => properties.frontendPort ?? []))];
  return `${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}`;
}
