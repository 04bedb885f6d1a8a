import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { type Came, group, network, type SmallWorld, smallWorld, tenant } from "./small-world.ts";

/** A subscription of the same tenant as the provider's, and one of another tenant with an owner of its own. */
export const sibling = "33333333-3333-4333-8333-333333333333";
export const stranger = "44444444-4444-4444-8444-444444444444";
export const strangeTenant = "55555555-5555-4555-8555-555555555555";

const provider = "providers/Microsoft.Network";

/** Ids in a subscription's group `rg`. */
export function idsIn(subscription: string) {
  const rg = `/subscriptions/${subscription}/resourceGroups/rg`;
  return {
    group: rg,
    network: `${rg}/${provider}/virtualNetworks/v`,
    subnet: `${rg}/${provider}/virtualNetworks/v/subnets/s`,
    endpoint: (name: string) => `${rg}/${provider}/privateEndpoints/${name}`,
  };
}

export const natSubnet = `${network}/subnets/nat`;
export const openSubnet = `${network}/subnets/open`;
export const frontend = `${group}/${provider}/loadBalancers/lb/frontendIPConfigurations/fe`;
export const service = `${group}/${provider}/privateLinkServices/pls`;

/** Someone who asks. */
export type Ask = SmallWorld["ask"];

export interface LinkWorld extends SmallWorld {
  /** The owner of the stranger's tenant. */
  strangerAsks: Ask;
}

/** Two tenants and three subscriptions, each with a network; the first has a load balancer to stand behind. */
export async function linkWorld(options: SimulatorOptions = {}): Promise<LinkWorld> {
  const world = await smallWorld(options);
  const { simulator, ask } = world;
  simulator.directory.addSubscription(sibling, tenant);
  simulator.directory.addSubscription(stranger, strangeTenant);
  const them = { tenant: strangeTenant, objectId: "strange-object", appId: "strange-app" };
  simulator.roles.makeOwner(them);
  const authorization = `Bearer ${simulator.directory.tokenFor(them)}`;
  const strangerAsks: Ask = (method, path, body, headers) =>
    ask(method, path, body, { authorization, ...headers });
  await done(ask, "PUT", group, { location: "westeurope" });
  await done(ask, "PUT", network, {
    location: "westeurope",
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [
        subnetBody("nat", "10.0.0.0/28", "Disabled"),
        subnetBody("open", "10.0.1.0/24", "Enabled"),
        subnetBody("front", "10.0.2.0/24", "Enabled"),
      ],
    },
  });
  await done(ask, "PUT", `${group}/${provider}/loadBalancers/lb`, balancerBody("Standard"));
  for (const [subscription, asks] of [
    [sibling, ask],
    [stranger, strangerAsks],
  ] as const) {
    const ids = idsIn(subscription);
    await done(asks, "PUT", ids.group, { location: "westeurope" });
    await done(asks, "PUT", ids.network, {
      location: "westeurope",
      properties: {
        addressSpace: { addressPrefixes: ["10.1.0.0/16"] },
        subnets: [
          subnetBody("s", "10.1.0.0/29", "Enabled"),
          subnetBody("t", "10.1.1.0/24", "Enabled"),
        ],
      },
    });
  }
  return { ...world, strangerAsks };
}

/** A body for a load balancer with one private frontend. */
export function balancerBody(sku: string, subnet = `${network}/subnets/front`): JsonObject {
  return {
    location: "westeurope",
    sku: { name: sku },
    properties: {
      frontendIPConfigurations: [{ name: "fe", properties: { subnet: { id: subnet } } }],
    },
  };
}

/** A body for a link service. */
export function serviceBody(
  more: JsonObject = {},
  nat: readonly string[] = [natSubnet],
): JsonObject {
  return {
    location: "westeurope",
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: frontend }],
      ipConfigurations: nat.map((id, at) => ({ name: `n${at}`, properties: { subnet: { id } } })),
      ...more,
    },
  };
}

/** A body for an endpoint in a subscription's network. */
export function endpointBody(
  subscription: string,
  target: string,
  more: JsonObject & { manual?: boolean } = {},
): JsonObject {
  const { manual, requestMessage, ...rest } = more;
  const list = manual ? "manualPrivateLinkServiceConnections" : "privateLinkServiceConnections";
  return {
    location: "westeurope",
    properties: {
      subnet: { id: idsIn(subscription).subnet },
      [list]: [{ name: "c", properties: { privateLinkServiceId: target, requestMessage } }],
      ...rest,
    },
  };
}

/** Ask, follow the operation to its end, and give what the resource then is. */
export async function done(ask: Ask, method: string, path: string, body?: unknown): Promise<Came> {
  const came = await ask(method, path, body);
  const poll = came.headers.get("azure-asyncoperation") ?? came.headers.get("location");
  if (came.status >= 300) return came;
  if (poll === null) return came;
  const ended = await ask("GET", poll);
  if (ended.body.error !== undefined) return ended;
  return method === "DELETE" ? ended : ask("GET", path);
}

/** The code of a refusal, at once or by its operation. */
export function codeOf({ body }: Came): string | undefined {
  // DNS puts no envelope around the errors of its record sets.
  return (body.error as { code: string } | undefined)?.code ?? (body.code as string | undefined);
}

/** How an endpoint says that its connection stands. */
export function stateIn({ body }: Came): string | undefined {
  const { privateLinkServiceConnections: automatic, manualPrivateLinkServiceConnections: manual } =
    body.properties as Record<
      string,
      { properties: { privateLinkServiceConnectionState: { status: string } } }[]
    >;
  return [...(automatic ?? []), ...(manual ?? [])][0]?.properties.privateLinkServiceConnectionState
    .status;
}

function subnetBody(name: string, addressPrefix: string, policies: string): JsonObject {
  return { name, properties: { addressPrefix, privateLinkServiceNetworkPolicies: policies } };
}
