import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect } from "vitest";
import { group, network, type SmallWorld, smallWorld } from "./small-world.ts";

export const location = "westeurope";
export const provider = `${group}/providers/Microsoft.Network`;
export const balancer = `${provider}/loadBalancers/lb`;
export const pool = `${balancer}/backendAddressPools/pool`;
export const subnet = { id: `${network}/subnets/s` };

/** A small world with a network, and ways to ask it that fail the test where the answer is of another kind. */
export interface SubnetWorld extends SmallWorld {
  /** Write something; gives what was answered. */
  made(path: string, body: JsonObject, method?: string): Promise<JsonObject>;
  /** Read something that is there. */
  seen(path: string): Promise<JsonObject>;
  /** Ask for something that is refused; gives the error. */
  refused(method: string, path: string, body?: unknown): Promise<JsonObject>;
}

/** A network with two subnets: `s` has addresses of both versions, `tiny` has three. */
export async function subnetWorld(options: SimulatorOptions = {}): Promise<SubnetWorld> {
  const world = await smallWorld(options);
  const made: SubnetWorld["made"] = async (path, body, method = "PUT") => {
    const came = await world.ask(method, path, body);
    expect(came.status, came.text).toBeLessThan(300);
    return came.body;
  };
  await made(group, { location });
  await made(network, {
    location,
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16", "fd00:db8::/48"] },
      subnets: [
        { name: "s", properties: { addressPrefixes: ["10.0.0.0/24", "fd00:db8::/64"] } },
        { name: "tiny", properties: { addressPrefix: "10.0.1.0/29" } },
      ],
    },
  });
  return {
    ...world,
    made,
    async seen(path) {
      const came = await world.ask("GET", path);
      expect(came.status, came.text).toBe(200);
      return came.body;
    },
    async refused(method, path, body) {
      const came = await world.ask(method, path, body);
      expect(came.status, came.text).toBeGreaterThanOrEqual(400);
      return came.body.error as JsonObject;
    },
  };
}
