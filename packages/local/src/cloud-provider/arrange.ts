import { lastSegment } from "@postern/core/resource-id.ts";
import type {
  FrontendIPConfiguration,
  LoadBalancer,
  LoadBalancingRule,
} from "postern/azure/gateways/load-balancers.ts";
import { type Port, poolName, probeName, ruleName } from "./names.ts";

/** What a Service asks of the load balancers. */
export interface Claim {
  frontend: string;
  /** Of which kind of load balancer; undefined where it asks for none any more. */
  wants: "internal" | "public" | undefined;
  ports: readonly Port[];
  createdAt: string;
  /** The public address that it was given, when there is one. */
  publicAddressId?: string | undefined;
}

/** A load balancer, or the place for one. */
export interface Shelf {
  id: string;
  kind: "internal" | "public";
  balancer: LoadBalancer | undefined;
}

/** What the cluster is given. */
export interface Ground {
  subnetId: string;
  location: string;
  /** How many frontends one load balancer of a kind takes. */
  frontendsEach: Readonly<Record<"internal" | "public", number>>;
}

/** What one load balancer is to become; without a body it is to go. */
export interface Rearranged {
  id: string;
  body: LoadBalancer | undefined;
  etag: string | undefined;
}

/**
 * Put every claim on a load balancer of its kind, take off those that are claimed no more, and say which load balancers
 * have to be written for it: each one once, however many Services come and go. What no Service claims is left as it is.
 */
export function arrange(
  shelves: readonly Shelf[],
  claims: readonly Claim[],
  inUse: (frontendId: string) => boolean,
  ground: Ground,
): Rearranged[] {
  const byFrontend = new Map(claims.map((claim) => [claim.frontend, claim]));
  const kept = shelves.map((shelf) => ({
    shelf,
    names: frontendsOn(shelf).filter((name) => {
      const claim = byFrontend.get(name);
      // Azure refuses the whole write if it takes a frontend from a link service.
      return !claim || claim.wants === shelf.kind || inUse(frontendId(shelf.id, name));
    }),
  }));
  const placed = new Set(
    kept.flatMap(({ shelf, names }) => names.map((each) => `${shelf.kind} ${each}`)),
  );
  for (const claim of claims.toSorted(byAge)) {
    if (claim.wants === undefined || placed.has(`${claim.wants} ${claim.frontend}`)) continue;
    if (claim.wants === "public" && claim.publicAddressId === undefined) continue;
    kept
      .find(
        ({ shelf, names }) =>
          shelf.kind === claim.wants && names.length < ground.frontendsEach[shelf.kind],
      )
      ?.names.push(claim.frontend);
  }
  return kept.flatMap(({ shelf, names }) => rearranged(shelf, names, byFrontend, ground) ?? []);
}

function rearranged(
  shelf: Shelf,
  names: readonly string[],
  claims: ReadonlyMap<string, Claim>,
  ground: Ground,
): Rearranged | undefined {
  const { id, balancer } = shelf;
  const { properties: held } = balancer ?? { properties: {} };
  const etag = balancer?.etag;
  if (names.length === 0) return balancer && { id, body: undefined, etag };
  const portsOf = (name: string) => {
    const claim = claims.get(name);
    return claim?.wants === shelf.kind ? claim.ports : undefined;
  };
  const frontends = names.map(
    (name) =>
      held.frontendIPConfigurations?.find((each) => each.name === name) ??
      frontend(name, claims.get(name), ground),
  );
  const rules = names.flatMap(
    (name) => portsOf(name)?.map((port) => rule(id, name, port)) ?? rulesOn(balancer, name),
  );
  if (balancer && sameNames(frontendsOn(shelf), names) && sameRules(held.loadBalancingRules, rules))
    return undefined;
  const body: LoadBalancer = {
    ...(balancer ?? { location: ground.location, sku: { name: "Standard" } }),
    properties: {
      ...held,
      frontendIPConfigurations: frontends,
      loadBalancingRules: rules,
      backendAddressPools: held.backendAddressPools ?? [{ name: poolName, properties: {} }],
      probes: held.probes ?? [probe],
    },
  };
  return { id, body, etag };
}

/** As kube-proxy answers it on every machine. */
const probe = {
  name: probeName,
  properties: {
    protocol: "Http",
    port: 10256,
    requestPath: "/healthz",
    intervalInSeconds: 5,
    numberOfProbes: 2,
  },
} as const;

function frontend(
  name: string,
  claim: Claim | undefined,
  { subnetId }: Ground,
): FrontendIPConfiguration {
  if (claim?.publicAddressId !== undefined)
    return { name, properties: { publicIPAddress: { id: claim.publicAddressId } } };
  const subnet = { id: subnetId };
  return { name, properties: { subnet, privateIPAllocationMethod: "Dynamic" } };
}

function rule(balancerId: string, frontendName: string, port: Port): LoadBalancingRule {
  return {
    name: ruleName(frontendName, port),
    properties: {
      frontendIPConfiguration: { id: frontendId(balancerId, frontendName) },
      backendAddressPool: { id: `${balancerId}/backendAddressPools/${poolName}` },
      probe: { id: `${balancerId}/probes/${probeName}` },
      protocol: port.protocol === "UDP" ? "Udp" : "Tcp",
      frontendPort: port.port,
      backendPort: port.port,
      // The packet keeps the frontend's address: so many frontends can lead to one port of the machines.
      enableFloatingIP: true,
    },
  };
}

/** The id of a frontend. */
export function frontendId(balancerId: string, name: string): string {
  return `${balancerId}/frontendIPConfigurations/${name}`;
}

/** The names of the frontends on a load balancer. */
export function frontendsOn({ balancer }: Pick<Shelf, "balancer">): string[] {
  return balancer?.properties.frontendIPConfigurations?.map(({ name = "" }) => name) ?? [];
}

/** Whether a frontend has the rules for just these ports. */
export function servesPorts(
  balancer: LoadBalancer | undefined,
  name: string,
  ports: readonly Port[],
): boolean {
  const held = rulesOn(balancer, name).map((each) => each.name ?? "");
  return sameNames(
    held,
    ports.map((port) => ruleName(name, port)),
  );
}

function rulesOn(balancer: LoadBalancer | undefined, name: string): LoadBalancingRule[] {
  return (balancer?.properties.loadBalancingRules ?? []).filter(
    ({ properties }) => lastSegment(properties.frontendIPConfiguration?.id ?? "") === name,
  );
}

function sameRules(a: readonly LoadBalancingRule[] = [], b: readonly LoadBalancingRule[]): boolean {
  return sameNames(
    a.map(({ name = "" }) => name),
    b.map(({ name = "" }) => name),
  );
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  const all = new Set(a);
  return all.size === b.length && b.every((each) => all.has(each));
}

function byAge(a: Claim, b: Claim): number {
  return a.createdAt < b.createdAt
    ? -1
    : a.createdAt > b.createdAt
      ? 1
      : a.frontend < b.frontend
        ? -1
        : 1;
}
