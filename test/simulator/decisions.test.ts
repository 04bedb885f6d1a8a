import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { describe, expect, test } from "vitest";
import {
  codeOf,
  endpointBody,
  idsIn,
  linkWorld,
  service,
  serviceBody,
  sibling,
  stateIn,
} from "./link-world.ts";
import type { Came } from "./small-world.ts";

const path = idsIn(sibling).endpoint("pe");
const minute = 60_000;

/** A pending connection, in a world where decisions take a minute. */
async function pending() {
  const operationMs = {
    "Microsoft.Network/privateLinkServices/privateEndpointConnections": minute,
  };
  const world = await linkWorld({ clock: new ManualClock(), operationMs });
  const { ask, simulator } = world;
  await ask("PUT", service, serviceBody({ visibility: { subscriptions: ["*"] } }));
  const { alias } = (await ask("GET", service)).body.properties as { alias: string };
  await ask("PUT", path, endpointBody(sibling, alias, { manual: true }));
  const [{ name }] = (await ask("GET", `${service}/privateEndpointConnections`)).body.value as [
    { name: string },
  ];
  const connection = `${service}/privateEndpointConnections/${name}`;
  const decide = (status: string) =>
    ask("PUT", connection, { properties: { privateLinkServiceConnectionState: { status } } });
  const fail = (came: Came) => {
    const [, id = ""] =
      /operations\/([^?]+)/.exec(came.headers.get("azure-asyncoperation") ?? "") ?? [];
    const operation = simulator.operations.get(id);
    if (!operation) throw new Error("no operation");
    simulator.operations.end(operation, "Failed", { code: "Bad", message: "bad", details: [] });
  };
  const state = async () => stateIn(await ask("GET", path));
  const shown = async () => {
    const { properties } = (await ask("GET", connection)).body as { properties: JsonObject };
    const { status } = properties.privateLinkServiceConnectionState as { status: string };
    return [properties.provisioningState, status];
  };
  return { ...world, decide, fail, state, shown };
}

describe("a decision on a connection", () => {
  test("takes its time: the endpoint changes when its operation ends", async () => {
    const { simulator, decide, state, shown } = await pending();
    const came = await decide("Approved");
    expect([came.status, (came.body.properties as JsonObject).provisioningState]).toEqual([
      200,
      "Updating",
    ]);
    expect(came.headers.get("azure-asyncoperation")).toContain("/operations/");
    expect([await state(), await shown()]).toEqual(["Pending", ["Updating", "Approved"]]);
    simulator.moveClock(minute);
    expect([await state(), await shown()]).toEqual(["Approved", ["Succeeded", "Approved"]]);
  });

  test("that follows another one at once does not let the first through to the endpoint", async () => {
    const { simulator, decide, state } = await pending();
    await decide("Approved");
    simulator.moveClock(minute / 2);
    await decide("Rejected");
    expect(await state()).toBe("Pending");
    simulator.moveClock(minute / 2);
    expect(await state()).toBe("Pending");
    simulator.moveClock(minute / 2);
    expect(await state()).toBe("Rejected");
  });

  test("that fails is taken back, and another can follow", async () => {
    const { simulator, decide, fail, state, shown } = await pending();
    fail(await decide("Rejected"));
    expect([await state(), await shown()]).toEqual(["Pending", ["Failed", "Pending"]]);
    const again = await decide("Approved");
    expect([again.status, codeOf(again)]).toEqual([200, undefined]);
    simulator.moveClock(minute);
    expect([await state(), await shown()]).toEqual(["Approved", ["Succeeded", "Approved"]]);
  });

  test("that changes nothing leaves the etags of both sides", async () => {
    const { ask, simulator, decide } = await pending();
    await decide("Approved");
    simulator.moveClock(minute);
    const etags = async () => [
      (await ask("GET", path)).body.etag,
      (await ask("GET", service)).body.etag,
    ];
    const before = await etags();
    expect((await decide("Approved")).status).toBe(200);
    simulator.moveClock(minute);
    expect(await etags()).toEqual(before);
  });
});
