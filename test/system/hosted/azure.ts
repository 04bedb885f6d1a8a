import { randomUUID } from "node:crypto";
import type { Simulator, SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { keyOf } from "@postern/core/kind.ts";
import { parseResourceId, resourceGroupId } from "@postern/core/resource-id.ts";
import { frontendName } from "@postern/local/cloud-provider/names.ts";
import type { TokenSource } from "postern/azure/tokens.ts";
import type { CredentialOf } from "postern/hosted/arm-clients.ts";
import { startChecked } from "../../simulator/start.ts";

export const tenant = "22222222-2222-4222-8222-222222222222";
/** Where the management cluster runs, and where the guests' networks are. */
export const managementSubscription = "11111111-1111-4111-8111-111111111111";
export const guestSubscription = "33333333-3333-4333-8333-333333333333";
export const location = "westeurope";

export const managementGroup = resourceGroupId(managementSubscription, "management");
export const guestGroup = resourceGroupId(guestSubscription, "guest");

const network = "providers/Microsoft.Network";
export const managementNetwork = parseResourceId(
  `${managementGroup}/${network}/virtualNetworks/management`,
);
export const guestNetwork = parseResourceId(`${guestGroup}/${network}/virtualNetworks/guest`);
export const guestSubnet = parseResourceId(`${guestNetwork}/subnets/workers`);
export const balancer = `${managementGroup}/${network}/loadBalancers/kubernetes-internal`;

/** The name of the frontend that the cloud provider gives a Service. */
export function frontendOf({ metadata }: { metadata: { uid: string } }): string {
  return frontendName(metadata.uid);
}

/** Azure before the first cluster: two subscriptions, two networks, and who may use them. */
export interface Azure {
  simulator: Simulator;
  /** The operator's identity, and that of the control planes; each has every right in its own subscription only. */
  operator: TokenSource;
  guest: TokenSource;
  /** A frontend on an internal load balancer, of which each has up to 8 unless they are not spread, and its address. */
  addFrontend(name: string, address?: string, spread?: boolean): string;
  removeFrontend(name: string): void;
  /** Everything there is, as ids in lower case; with a part, only those that hold it. */
  ids(part?: string): string[];
  /** A resource as it is now. */
  at(id: string): Record<string, unknown> | undefined;
}

/** Each cluster acts by an identity of its own, with the rights of the guest's. */
export function ownIdentities({ guest }: Azure): CredentialOf {
  return ({ metadata }) => ({ ...guest, identity: keyOf({ metadata }) });
}

/** The rights of the two identities: actions in their own group. */
export interface Rights {
  operator: readonly string[];
  guest: readonly string[];
}

/** Start it; it is stopped when the test ends. Without rights that are named both identities may do everything. */
export async function startAzure(options: SimulatorOptions = {}, rights?: Rights): Promise<Azure> {
  const simulator = await startChecked(options);
  const { directory, roles } = simulator;
  directory.addSubscription(managementSubscription, tenant);
  directory.addSubscription(guestSubscription, tenant);
  const identity = (name: string): TokenSource => {
    const principal = { tenant, objectId: `${name}-object`, appId: `${name}-app` };
    roles.makeOwner(principal);
    return { identity: name, token: async () => directory.tokenFor(principal) };
  };
  const limited = (name: keyof Rights, group: string, actions: readonly string[]): TokenSource => {
    const principal = directory.addApplication({ tenant });
    const definition = `${group}/providers/Microsoft.Authorization/roleDefinitions/${randomUUID()}`;
    const permissions = [{ actions: [...actions], notActions: [] }];
    simulator.change(definition, {
      properties: { roleName: name, assignableScopes: [group], permissions },
    });
    simulator.change(`${group}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}`, {
      properties: { roleDefinitionId: definition, principalId: principal.objectId },
    });
    return { identity: name, token: async () => directory.tokenFor(principal) };
  };
  simulator.change(managementGroup, { location });
  simulator.change(guestGroup, { location });
  simulator.change(managementNetwork, networkBody("10.0.0.0/16", "nodes", "10.0.0.0/18"));
  simulator.change(guestNetwork, networkBody("192.168.0.0/16", "workers", "192.168.0.0/18"));
  const operator = rights
    ? limited("operator", managementGroup, rights.operator)
    : identity("operator");
  const guest = rights ? limited("guest", guestGroup, rights.guest) : identity("guest");
  const frontends: JsonObject[] = [];
  /** Which load balancer a frontend is on: as the cloud provider spreads them. */
  const placeOf = new Map<JsonObject, string>();
  const writeFrontends = (id: string) =>
    simulator.change(id, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: frontends.filter((each) => placeOf.get(each) === id),
      },
    });
  return {
    simulator,
    operator,
    guest,
    addFrontend: (name, address = addressAt(frontends.length), spread = true) => {
      const frontend = {
        name,
        properties: {
          subnet: { id: `${managementNetwork}/subnets/nodes` },
          privateIPAddress: address,
          privateIPAllocationMethod: "Static",
        },
      };
      const place = spread ? Math.floor(placeOf.size / 8) : 0;
      const id = place === 0 ? balancer : `${balancer}-${place + 1}`;
      frontends.push(frontend);
      placeOf.set(frontend, id);
      writeFrontends(id);
      return address;
    },
    removeFrontend: (name) => {
      const at = frontends.findIndex((each) => each.name === name);
      const [removed] = frontends.splice(at, at < 0 ? 0 : 1);
      const id = removed && placeOf.get(removed);
      if (id !== undefined) writeFrontends(id);
    },
    ids: (part = "") =>
      Object.keys(simulator.snapshot().resources)
        .map((id) => id.toLowerCase())
        .filter((id) => id.includes(part.toLowerCase()))
        .sort(),
    at: (id) =>
      Object.entries(simulator.snapshot().resources).find(
        ([each]) => each.toLowerCase() === id.toLowerCase(),
      )?.[1] as Record<string, unknown> | undefined,
  };
}

function networkBody(space: string, subnet: string, prefix: string) {
  const subnets = [{ name: subnet, properties: { addressPrefix: prefix } }];
  return { location, properties: { addressSpace: { addressPrefixes: [space] }, subnets } };
}

/** The addresses of a subnet that are free for use, one after another. */
function addressAt(n: number): string {
  const at = n + 4;
  return `10.0.${at >> 8}.${at & 255}`;
}
