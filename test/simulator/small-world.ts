import type { Simulator, SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { startChecked } from "./start.ts";

export const subscription = "11111111-1111-4111-8111-111111111111";
export const tenant = "22222222-2222-4222-8222-222222222222";
export const group = `/subscriptions/${subscription}/resourceGroups/rg`;
export const network = `${group}/providers/Microsoft.Network/virtualNetworks/v`;

/** What came back. */
export interface Came {
  status: number;
  headers: Headers;
  text: string;
  body: JsonObject;
}

/** A simulator with one subscription and its owner, and a way to ask it. */
export interface SmallWorld {
  simulator: Simulator;
  token: string;
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Came>;
  /** Ask the control API. */
  control(method: string, page: string, body?: unknown): Promise<Came>;
}

/** Someone who may do everything. */
export const owner = { tenant, objectId: "owner-object", appId: "owner-app" };

/** Start one that ends with the test. */
export async function smallWorld(options: SimulatorOptions = {}): Promise<SmallWorld> {
  const simulator = await startChecked(options);
  simulator.directory.addSubscription(subscription, tenant);
  simulator.roles.makeOwner(owner);
  const token = simulator.directory.tokenFor(owner);
  const ask: SmallWorld["ask"] = async (method, path, body, headers = {}) => {
    const mark = path.includes("?") ? "&" : "?";
    const url = path.startsWith("http")
      ? path
      : `${simulator.url}${path}${path.includes("api-version") ? "" : `${mark}api-version=2024-05-01`}`;
    return came(
      await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
  };
  const control: SmallWorld["control"] = async (method, page, body) =>
    came(
      await fetch(`${simulator.url}/_postern/${page}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  return { simulator, token, ask, control };
}

async function came(response: Response): Promise<Came> {
  const text = await response.text();
  let body: JsonObject = {};
  try {
    body = JSON.parse(text) as JsonObject;
  } catch {
    // Not every answer is JSON; the text is there.
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** A body for a virtual network. */
export function networkBody(tags: Record<string, string> = {}): JsonObject {
  return {
    location: "westeurope",
    tags,
    properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } },
  };
}
