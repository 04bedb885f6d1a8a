import { readFileSync } from "node:fs";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import type { Simulator, SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import {
  type ApplianceContext,
  type ApplianceOptions,
  applianceContext,
} from "postern/appliance/context.ts";
import { agentMetrics } from "postern/appliance/metrics-text.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { onTestFinished } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { startChecked } from "../simulator/start.ts";

export const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";
export const group = `/subscriptions/${subscription}/resourceGroups/rg`;
export const networking = `${group}/providers/Microsoft.Network`;
export const compute = `${group}/providers/Microsoft.Compute`;
export const network = `${networking}/virtualNetworks/v`;
export const subnet = { id: `${network}/subnets/s` };
export const balancer = `${networking}/loadBalancers/gw`;
export const pool = `${balancer}/backendAddressPools/inspect`;
export const location = "westeurope";

const role = "33333333-3333-4333-8333-333333333333";
const roleId = `/subscriptions/${subscription}/providers/Microsoft.Authorization/roleDefinitions/${role}`;

const roleOf = (name: string): readonly string[] =>
  JSON.parse(readFileSync(new URL(`../../manifests/roles/${name}.json`, import.meta.url), "utf8"))
    .Actions;

/** The least that an agent needs. */
export const agentActions = roleOf("agent");

/** What it needs beside that to put its interface into a pool. */
export const interfaceActions = roleOf("agent-interface");

/** An agent of one machine, and the numbers that it keeps. */
export interface TestAgent {
  ctx: ApplianceContext;
  metrics: ReturnType<typeof agentMetrics>;
  /** End it at once, whatever it is doing. */
  stop(): void;
}

/** A world with a Gateway load balancer, to which machines are added. */
export interface GatewayWorld {
  simulator: Simulator;
  clock: ManualClock;
  /** A machine of its own, with an identity that has the agent's role unless it is said otherwise; gives its id. */
  machine(name: string, more?: { pools?: string[]; role?: boolean }): string;
  /** The instances of a scale set, all of one identity; gives their ids. */
  scaleSet(name: string, mode: "Uniform" | "Flexible", count: number, pools?: string[]): string[];
  /** Give the identity of a machine or a scale set the agent's role. */
  allow(id: string): void;
  agent(machineId: string, options?: ApplianceOptions & { seed?: string }): Promise<TestAgent>;
  /** Let time go by until something is over. */
  until<T>(promise: Promise<T>): Promise<T>;
  members(): string[];
}

/** Start one that ends with the test. */
export async function gatewayWorld(
  options: SimulatorOptions & { actions?: readonly string[]; lb?: JsonObject | undefined } = {},
): Promise<GatewayWorld> {
  const { actions = [...agentActions, ...interfaceActions], lb = {}, ...rest } = options;
  const clock = new ManualClock();
  const simulator = await startChecked({ clock, ...rest });
  simulator.directory.addSubscription(subscription, tenant);
  const { change } = simulator;
  change(group, { location });
  change(roleId, {
    properties: {
      roleName: "Appliance agent",
      type: "CustomRole",
      permissions: [{ actions: [...actions], notActions: [] }],
      assignableScopes: [`/subscriptions/${subscription}`],
    },
  });
  change(network, {
    location,
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/20" } }],
    },
  });
  change(balancer, gatewayBody(lb));

  let assigned = 0;
  const allow = (id: string) => {
    const identity = simulator.store.get(id)?.top.identity as { principalId: string };
    const name = `44444444-4444-4444-8444-${String(assigned++).padStart(12, "0")}`;
    change(`${group}/providers/Microsoft.Authorization/roleAssignments/${name}`, {
      properties: { roleDefinitionId: roleId, principalId: identity.principalId },
    });
  };

  return {
    simulator,
    clock,
    allow,
    machine(name, { pools = [], role: allowed = true } = {}) {
      const nic = `${networking}/networkInterfaces/${name}-nic`;
      change(nic, { location, properties: { ipConfigurations: [configuration(pools)] } });
      const id = `${compute}/virtualMachines/${name}`;
      const networkProfile = { networkInterfaces: [{ id: nic, properties: { primary: true } }] };
      change(id, {
        location,
        identity: { type: "SystemAssigned" },
        properties: { ...profile, hardwareProfile: { vmSize: "Standard_D2s_v3" }, networkProfile },
      });
      if (allowed) allow(id);
      return id;
    },
    scaleSet(name, mode, count, pools = []) {
      const id = `${compute}/virtualMachineScaleSets/${name}`;
      const nic = { primary: true, ipConfigurations: [configuration(pools)] };
      change(id, {
        location,
        sku: { name: "Standard_D2s_v3", capacity: count },
        identity: { type: "SystemAssigned" },
        properties: {
          orchestrationMode: mode,
          virtualMachineProfile: {
            ...profile,
            networkProfile: {
              networkInterfaceConfigurations: [{ name: "nic", properties: nic }],
            },
          },
        },
      });
      allow(id);
      const made = [...simulator.store.all()].filter(
        ({ type, key, properties }) =>
          /^microsoft\.compute\/(.*\/)?virtualmachines$/i.test(type) &&
          (key.startsWith(`${id.toLowerCase()}/`) ||
            (properties.virtualMachineScaleSet as JsonObject | undefined)?.id === id),
      );
      return made.map((each) => each.id);
    },
    async agent(machineId, { seed = machineId, ...more } = {}) {
      const imds = await simulator.machines.find(machineId);
      const stopping = new AbortController();
      const metrics = agentMetrics();
      const ctx = applianceContext({
        imdsHost: imds?.url,
        cloud: customCloud({ resourceManager: simulator.url }),
        clock,
        random: seededRandom(seed),
        metrics,
        signal: stopping.signal,
        ...more,
      });
      onTestFinished(() => ctx.close());
      return { ctx, metrics, stop: () => stopping.abort(new Error("stopped")) };
    },
    async until(promise) {
      let over = false;
      const end = () => {
        over = true;
      };
      promise.then(end, end);
      for (let waited = 0; !over; waited += 500) {
        if (waited > 900_000) throw new Error("it does not end in 15 minutes");
        await simulator.advance(500);
      }
      return promise;
    },
    members: () => membersIn(simulator),
  };
}

/** The addresses and interfaces in the pool. */
export function membersIn(simulator: Simulator, id = pool): string[] {
  const held = simulator.store.get(id)?.properties.loadBalancerBackendAddresses as
    | { name: string; properties: { ipAddress?: string } }[]
    | undefined;
  return (held ?? []).flatMap(({ properties }) => properties.ipAddress ?? []);
}

/** A Gateway load balancer with one pool, a rule for all ports and a probe. */
export function gatewayBody(over: JsonObject = {}, id = balancer): JsonObject {
  return {
    location,
    sku: { name: "Gateway" },
    properties: {
      frontendIPConfigurations: [{ name: "fe", properties: { subnet } }],
      backendAddressPools: [{ name: "inspect" }],
      probes: [
        {
          name: "health",
          properties: {
            protocol: "Http",
            port: 8080,
            requestPath: "/healthz",
            intervalInSeconds: 5,
            probeThreshold: 2,
          },
        },
      ],
      loadBalancingRules: [
        {
          name: "all",
          properties: {
            protocol: "All",
            frontendPort: 0,
            backendPort: 0,
            frontendIPConfiguration: { id: `${id}/frontendIPConfigurations/fe` },
            backendAddressPools: [{ id: `${id}/backendAddressPools/inspect` }],
            probe: { id: `${id}/probes/health` },
          },
        },
      ],
    },
    ...over,
  };
}

/** The same load balancer with another probe. */
export function withProbe(body: JsonObject, over: JsonObject): JsonObject {
  const { probes } = body.properties as { probes: { properties: object }[] };
  for (const probe of probes) Object.assign(probe.properties, over);
  return body;
}

const profile: JsonObject = {
  storageProfile: {
    imageReference: {
      publisher: "Canonical",
      offer: "ubuntu-24_04-lts",
      sku: "server",
      version: "latest",
    },
  },
  osProfile: { computerName: "appliance", adminUsername: "someone", adminPassword: "a secret" },
};

function configuration(pools: readonly string[]): JsonObject {
  const named = pools.map((id) => ({ id }));
  return {
    name: "ip",
    properties: {
      primary: true,
      subnet,
      ...(named.length > 0 && { loadBalancerBackendAddressPools: named }),
    },
  };
}
