import { resourceTypes } from "@postern/azure-simulator/arm/registry.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { Json, JsonObject } from "@postern/azure-simulator/state/store.ts";
import type { SmallWorld } from "./small-world.ts";

/** Everything that is wrong with a world at rest, in sentences; empty where nothing is. */
export async function whatIsWrong({ simulator, ask }: SmallWorld): Promise<string[]> {
  const seen = await seeAll(simulator, ask);
  return [
    ...seen.wrong,
    ...dangling(seen.bodies),
    ...addressedTwice(seen.bodies),
    ...wrongCounters(simulator, seen.bodies),
    ...oneSided(seen.bodies),
    ...wronglyPlugged(seen.bodies),
    ...wronglyScaled(seen.bodies),
    ...wrongZones(seen.bodies),
    ...[...simulator.store.all()]
      .filter((each) => each.operation !== undefined)
      .map((each) => `${each.id} is held by an operation that has ended`),
  ];
}

interface Seen {
  /** By id in lower case, as GET gives it. */
  bodies: Map<string, JsonObject>;
  wrong: string[];
}

/** Read every resource by itself and in its list; both must say the same. */
async function seeAll(simulator: Simulator, ask: SmallWorld["ask"]): Promise<Seen> {
  const bodies = new Map<string, JsonObject>();
  const wrong: string[] = [];
  const collections = new Set<string>();
  const known = new Map(resourceTypes.map((type) => [type.type, type]));
  for (const { id, key, type } of [...simulator.store.all()]) {
    const got = await ask("GET", id);
    if (got.status !== 200) wrong.push(`GET ${id} gives ${got.status}`);
    bodies.set(key, got.body);
    if (known.get(type)?.within !== "scope") collections.add(id.slice(0, id.lastIndexOf("/")));
  }
  for (const collection of collections) {
    const listed = new Map<string, JsonObject>();
    for (let next: string | undefined = collection; next !== undefined; ) {
      const page = await ask("GET", next);
      if (page.status !== 200) {
        wrong.push(`the list ${collection} gives ${page.status}`);
        break;
      }
      for (const each of page.body.value as JsonObject[])
        listed.set(String(each.id).toLowerCase(), each);
      next = page.body.nextLink as string | undefined;
    }
    const own = [...bodies].filter(
      ([key]) => key.slice(0, key.lastIndexOf("/")) === collection.toLowerCase(),
    );
    if (own.length !== listed.size)
      wrong.push(`the list ${collection} has ${listed.size}, and there are ${own.length}`);
    for (const [key, body] of own)
      if (JSON.stringify(listed.get(key)) !== JSON.stringify(body))
        wrong.push(
          `${key} is in its list as ${JSON.stringify(listed.get(key))}, and by itself ${JSON.stringify(body)}`,
        );
  }
  return { bodies, wrong };
}

/** Nothing names what is not there. */
function dangling(bodies: Map<string, JsonObject>): string[] {
  const there = new Set<string>();
  const named: [string, string][] = [];
  const collect = (value: Json | undefined, of: string) => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) collect(each, of);
      return;
    }
    const { id } = value;
    if (typeof id === "string" && id.startsWith("/subscriptions/")) {
      // What is shown where it is has a name. What is only named has its id, and perhaps how it is used.
      if ("name" in value) there.add(id.toLowerCase());
      else if (Object.keys(value).every((each) => each === "id" || each === "properties"))
        named.push([of, id.toLowerCase()]);
    }
    for (const each of Object.values(value)) collect(each, of);
  };
  for (const [key, body] of bodies) collect(body, key);
  return named
    .filter(([, id]) => !there.has(id))
    .map(([of, id]) => `${of} names ${id}, which is not there`);
}

/** No address is given twice in a subnet. */
function addressedTwice(bodies: Map<string, JsonObject>): string[] {
  const held = new Map<string, string>();
  const wrong: string[] = [];
  const collect = (value: Json | undefined) => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) collect(each);
      return;
    }
    const properties = value.properties as JsonObject | undefined;
    const address = properties?.privateIPAddress;
    const subnet = (properties?.subnet as JsonObject | undefined)?.id;
    if (typeof address === "string" && typeof subnet === "string") {
      const place = `${subnet.toLowerCase()} ${address}`;
      const id = String(value.id).toLowerCase();
      const other = held.get(place);
      if (other !== undefined && other !== id) wrong.push(`${place} is held by ${other} and ${id}`);
      held.set(place, id);
    }
    for (const each of Object.values(value)) collect(each);
  };
  for (const [key, body] of bodies)
    if (!/\/(frontendipconfigurations|ipconfigurations)\//.test(key)) collect(body);
  return wrong;
}

const zoneTypes = ["Microsoft.Network/privateDnsZones", "Microsoft.Network/dnszones"];

/** What a zone counts is what is in it. */
function wrongCounters(simulator: Simulator, bodies: Map<string, JsonObject>): string[] {
  const wrong: string[] = [];
  for (const [key, body] of bodies) {
    if (!zoneTypes.includes(String(body.type))) continue;
    const properties = body.properties as JsonObject;
    const inside = [...simulator.store.all()].filter((each) => each.key.startsWith(`${key}/`));
    const links = inside.filter((each) => each.type.endsWith("/virtualNetworkLinks")).length;
    if ((properties.numberOfVirtualNetworkLinks ?? 0) !== links)
      wrong.push(
        `${key} counts ${String(properties.numberOfVirtualNetworkLinks)} links of ${links}`,
      );
    const records = inside.length - links;
    if (properties.numberOfRecordSets !== records)
      wrong.push(`${key} counts ${String(properties.numberOfRecordSets)} records of ${records}`);
  }
  return wrong;
}

/** Both sides of a connection say the same of it, and each side that is there has the other. */
function oneSided(bodies: Map<string, JsonObject>): string[] {
  const wrong: string[] = [];
  const stateOf = (connection: JsonObject) =>
    (
      (connection.properties as JsonObject).privateLinkServiceConnectionState as
        | JsonObject
        | undefined
    )?.status;
  const ofServices = new Map<string, Json | undefined>();
  for (const [key, body] of bodies) {
    if (body.type !== "Microsoft.Network/privateLinkServices") continue;
    const { privateEndpointConnections } = body.properties as JsonObject;
    for (const each of (privateEndpointConnections ?? []) as JsonObject[]) {
      const endpoint = (each.properties as JsonObject).privateEndpoint as JsonObject | undefined;
      const id = String(endpoint?.id).toLowerCase();
      if (!bodies.has(id)) wrong.push(`${key} is connected to ${id}, which is not there`);
      ofServices.set(`${key} ${id}`, stateOf(each));
    }
  }
  for (const [key, body] of bodies) {
    if (body.type !== "Microsoft.Network/privateEndpoints") continue;
    const properties = body.properties as JsonObject;
    const connections = [
      ...((properties.privateLinkServiceConnections ?? []) as JsonObject[]),
      ...((properties.manualPrivateLinkServiceConnections ?? []) as JsonObject[]),
    ];
    for (const each of connections) {
      const service = String((each.properties as JsonObject).privateLinkServiceId).toLowerCase();
      const mine = stateOf(each);
      const theirs = ofServices.get(`${service} ${key}`);
      if (theirs !== undefined && theirs !== mine)
        wrong.push(`${key} says ${String(mine)} and ${service} says ${String(theirs)}`);
      if (theirs === undefined && mine !== "Disconnected")
        wrong.push(`${key} says ${String(mine)}, and ${service} knows nothing of it`);
    }
  }
  return wrong;
}

/** Machines and interfaces tell of one another, and an interface is on one machine at most. */
function wronglyPlugged(bodies: Map<string, JsonObject>): string[] {
  const wrong: string[] = [];
  const machineOf = new Map<string, string>();
  for (const [key, body] of bodies) {
    if (!/\/virtualMachines$/i.test(String(body.type))) continue;
    const network = (body.properties as JsonObject).networkProfile as JsonObject;
    for (const each of network.networkInterfaces as JsonObject[]) {
      const nic = String(each.id).toLowerCase();
      const other = machineOf.get(nic);
      if (other !== undefined) wrong.push(`${nic} is on ${other} and on ${key}`);
      machineOf.set(nic, key);
    }
  }
  for (const [key, body] of bodies) {
    if (!/\/networkinterfaces\/[^/]+$/.test(key)) continue;
    const properties = body.properties as JsonObject;
    const told = (properties.virtualMachine as JsonObject | undefined)?.id;
    const mine = typeof told === "string" ? told.toLowerCase() : undefined;
    if (mine !== machineOf.get(key))
      wrong.push(`${key} is on ${machineOf.get(key)}, and says ${mine}`);
    if (mine !== undefined && properties.macAddress === undefined)
      wrong.push(`${key} is on a machine and has no hardware address`);
  }
  return wrong;
}

/** A scale set has as many instances as it says, and an instance the interfaces that it names and no others. */
function wronglyScaled(bodies: Map<string, JsonObject>): string[] {
  const wrong: string[] = [];
  for (const [key, body] of bodies) {
    if (body.type !== "Microsoft.Compute/virtualMachineScaleSets") continue;
    const { orchestrationMode } = body.properties as JsonObject;
    const instances = [...bodies].filter(([id, each]) => {
      if (orchestrationMode !== "Flexible")
        return id.startsWith(`${key}/virtualmachines/`) && id.split("/").length === 11;
      const { virtualMachineScaleSet } = each.properties as JsonObject;
      return String((virtualMachineScaleSet as JsonObject | undefined)?.id).toLowerCase() === key;
    });
    const { capacity } = body.sku as JsonObject;
    if (instances.length !== capacity)
      wrong.push(`${key} says that it has ${String(capacity)} instances of ${instances.length}`);
    for (const [id, { properties }] of instances) {
      const { provisioningState, networkProfile } = properties as JsonObject;
      if (provisioningState !== "Succeeded") wrong.push(`${id} is ${String(provisioningState)}`);
      const named = ((networkProfile as JsonObject).networkInterfaces as JsonObject[]).length;
      const held = [...bodies.keys()].filter((each) => each.startsWith(`${id}/`)).length;
      if (orchestrationMode !== "Flexible" && named !== held)
        wrong.push(`${id} names ${named} interfaces of ${held}`);
    }
  }
  return wrong;
}

/** A zone has the records that it was made with, and a name with a CNAME has no other records. */
function wrongZones(bodies: Map<string, JsonObject>): string[] {
  const wrong: string[] = [];
  for (const [key, { type }] of bodies) {
    if (!zoneTypes.includes(String(type))) continue;
    const made = type === "Microsoft.Network/dnszones" ? ["soa", "ns"] : ["soa"];
    for (const each of made)
      if (!bodies.has(`${key}/${each}/@`)) wrong.push(`${key} has no ${each} record of its own`);
  }
  for (const key of bodies.keys()) {
    const [, zone, name] = /^(.*)\/cname\/([^/]+)$/.exec(key) ?? [];
    if (zone === undefined) continue;
    const beside = [...bodies.keys()].filter(
      (each) => each !== key && each.startsWith(`${zone}/`) && each.endsWith(`/${name}`),
    );
    if (beside.length > 0) wrong.push(`${key} is beside ${beside.join(", ")}`);
  }
  return wrong;
}
