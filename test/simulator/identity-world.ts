import type { Principal } from "@postern/azure-simulator/arm/resource-type.ts";
import type { Simulator, SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import { startChecked } from "./start.ts";

export const tenant = "11111111-1111-4111-8111-111111111111";
export const otherTenant = "99999999-9999-4999-8999-999999999999";
export const subscription = "22222222-2222-4222-8222-222222222222";
export const group = `/subscriptions/${subscription}/resourceGroups/rg`;
export const roles = `/providers/Microsoft.Authorization/roleDefinitions`;

/** What JSON says, of any form: a test reads what it wrote down. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** What an answer said. */
export interface Said {
  status: number;
  headers: Headers;
  body: Parsed;
}

/** A simulator with a subscription, a resource group and someone who may do everything. */
export async function identityWorld(options: SimulatorOptions = {}) {
  const simulator = await startChecked(options);
  simulator.directory.addSubscription(subscription, tenant, "The subscription");
  const owner = simulator.directory.addApplication({ tenant, displayName: "owner" });
  simulator.roles.makeOwner(owner);
  const as = (principal: Principal) => asker(simulator, simulator.directory.tokenFor(principal));
  const ask = as(owner);
  await ask("PUT", group, { location: "eastus" });
  return { simulator, owner, ask, as };
}

/** Ask Resource Manager with a token. */
export function asker({ url }: Pick<Simulator, "url">, token: string) {
  return async (method: string, path: string, body?: unknown): Promise<Said> => {
    const mark = path.includes("?") ? "&" : "?";
    const answer = await fetch(`${url}${path}${mark}api-version=2022-04-01`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text ? JSON.parse(text) : undefined,
    };
  };
}
