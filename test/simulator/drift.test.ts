import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import {
  done,
  endpointBody,
  idsIn,
  linkWorld,
  natSubnet,
  openSubnet,
  service,
  serviceBody,
} from "./link-world.ts";
import { group, network, networkBody, smallWorld, subscription } from "./small-world.ts";

const slowly = { clock: new ManualClock(), operationMs: { "*": 60_000 } };

test("an endpoint that is dropped takes its interface and its connection along", async () => {
  const { simulator, ask } = await linkWorld();
  const { endpoint } = idsIn(subscription);
  await done(ask, "PUT", service, serviceBody());
  const subnet = { id: openSubnet };
  await done(ask, "PUT", endpoint("pe"), endpointBody(subscription, service, { subnet }));
  const connections = `${service}/privateEndpointConnections`.toLowerCase();
  expect(simulator.store.count(connections)).toBe(1);
  expect(Object.keys(simulator.snapshot().resources).join()).toContain("pe.nic");
  const mark = simulator.log.last;
  simulator.drop(endpoint("PE"));
  expect(simulator.log.last).toBe(mark);
  expect((await ask("GET", endpoint("pe"))).status).toBe(404);
  expect(simulator.store.count(connections)).toBe(0);
  expect(Object.keys(simulator.snapshot().resources).filter((id) => id.includes("pe.nic"))).toEqual(
    [],
  );
});

test("what Azure would not delete is not dropped, nor what is not there", async () => {
  const { simulator, ask } = await linkWorld();
  await done(ask, "PUT", service, serviceBody());
  const before = simulator.snapshot().resources;
  const code = (id: string) => {
    try {
      simulator.drop(id);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return undefined;
  };
  expect(code(natSubnet)).toBe("InUseSubnetCannotBeDeleted");
  expect(code(`${service}2`)).toBe("NotFound");
  expect(code(`${group}/providers/Microsoft.Nothing/things/t`)).toBe("NotSupportedBySimulator");
  expect(simulator.snapshot().resources).toEqual(before);
});

test("a change is done at once, uncounted, and shows as any other write", async () => {
  const { simulator, ask } = await smallWorld({
    ...slowly,
    limits: { write: { burst: 1, perSecond: 0.001 } },
  });
  simulator.change(group, { location: "westeurope" });
  const body = networkBody({ by: "nobody" });
  simulator.change(network, body);
  (body.tags as JsonObject).by = "me, later";
  expect(simulator.quiet()).toBe(true);
  expect(simulator.log.entries()).toEqual([]);
  const first = await ask("GET", network);
  expect(first.body).toMatchObject({
    tags: { by: "nobody" },
    properties: { provisioningState: "Succeeded" },
  });
  simulator.change(network, networkBody({ by: "somebody" }));
  const second = await ask("GET", network);
  expect(second.body.tags).toEqual({ by: "somebody" });
  expect(second.headers.get("etag")).not.toBe(first.headers.get("etag"));
  expect((await ask("PUT", group, { location: "westeurope" })).status).toBe(200);
});

test("a change that Azure would refuse is refused in its words", async () => {
  const { simulator } = await smallWorld();
  simulator.change(group, { location: "westeurope" });
  const wrong = {
    location: "westeurope",
    properties: { addressSpace: { addressPrefixes: ["x"] } },
  };
  expect(() => simulator.change(network, wrong)).toThrow(expect.objectContaining({ status: 400 }));
  expect(simulator.store.get(network)).toBeUndefined();
});

test("faults that wait for requests are left alone", async () => {
  const { simulator, ask } = await smallWorld();
  simulator.addFault({ match: {}, effect: { kind: "html", status: 500 }, count: 1 });
  simulator.change(group, { location: "westeurope" });
  simulator.drop(group);
  expect((await ask("GET", group)).status).toBe(500);
});

test("the control API drops and changes", async () => {
  const { simulator, control } = await smallWorld(slowly);
  const change = (id: string, body: unknown) => control("POST", "resources/change", { id, body });
  expect((await change(group, { location: "westeurope" })).status).toBe(204);
  expect((await change(network, networkBody())).status).toBe(204);
  expect(simulator.store.get(network)?.state).toBe("Succeeded");
  const refused = await change(`${group}x/providers/Microsoft.Network/virtualNetworks/v`, {});
  expect([refused.status, refused.text]).toEqual([404, expect.stringContaining("rgx")]);
  expect((await control("POST", "resources/drop", { id: network })).status).toBe(204);
  expect(simulator.store.get(network)).toBeUndefined();
  expect((await control("POST", "resources/drop", { id: network })).status).toBe(404);
  for (const [page, body] of [
    ["resources", { id: group }],
    ["resources/forget", { id: group }],
    ["resources/drop", {}],
    ["resources/drop", { id: group, body: {} }],
    ["resources/change", { id: group }],
  ] as const)
    expect([page, body, (await control("POST", page, body)).status]).toEqual([page, body, 400]);
  expect(simulator.log.entries()).toEqual([]);
});
