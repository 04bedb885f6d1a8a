import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Traffic } from "@postern/azure-simulator/control/traffic.ts";
import { readSeed } from "@postern/azure-simulator/state/seed-file.ts";
import { wait } from "@postern/core/clock.ts";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { group, network, networkBody, smallWorld } from "./small-world.ts";

const start = Date.UTC(2026, 0, 1);

test("who polls by the same clock polls as often as in real time", async () => {
  const clock = new ManualClock(start);
  const { simulator, ask } = await smallWorld({ clock });
  let polling = true;
  const poller = (async () => {
    while (polling) {
      await wait(clock, 10_000);
      await ask("GET", group);
      await ask("GET", network);
    }
  })();
  await simulator.advance(60_000);
  const asked = simulator.log.entries({ path: group });
  expect(asked.map(({ at }) => (at - start) / 1000)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(simulator.log.entries({ path: network })).toHaveLength(6);
  expect(clock.now()).toBe(start + 60_000);
  polling = false;
  await simulator.advance(10_000);
  await poller;
});

test("an operation that a poll begins ends on the way, and the next poll sees it", async () => {
  const clock = new ManualClock(start);
  const { simulator, ask } = await smallWorld({ clock, operationMs: { "*": 15_000 } });
  await ask("PUT", group, { location: "westeurope" });
  const seen: unknown[] = [];
  const client = (async () => {
    await wait(clock, 1000);
    const { headers } = await ask("PUT", network, networkBody());
    for (let i = 0; i < 2; i++) {
      await wait(clock, 10_000);
      seen.push((await ask("GET", headers.get("azure-asyncoperation") ?? "")).body.status);
    }
  })();
  await simulator.advance(21_000);
  expect(seen).toEqual(["InProgress", "Succeeded"]);
  await client;
});

test("an answer that is slow by the clock does not hold the clock up", async () => {
  const clock = new ManualClock(start);
  const { simulator, ask } = await smallWorld({ clock });
  simulator.addFault({ match: {}, effect: { kind: "slow", ms: 30_000 } });
  const answer = ask("GET", group);
  await expect.poll(() => simulator.log.entries().length).toBe(1);
  await simulator.advance(29_000);
  expect(simulator.quiet()).toBe(false);
  await simulator.advance(1000);
  expect((await answer).status).toBe(404);
  expect(simulator.quiet()).toBe(true);
});

test("what a machine asks of its metadata service is waited for", async () => {
  const clock = new ManualClock(start);
  const file = join(import.meta.dirname, "../../examples/simulator/world.yaml");
  const { simulator } = await smallWorld({
    clock,
    world: readSeed(readFileSync(file, "utf8"), file),
  });
  const [machine] = await simulator.machines.list();
  let answered = 0;
  const agent = (async () => {
    await wait(clock, 1000);
    for (; answered < 50; answered++)
      await (
        await fetch(`${machine?.metadata}/metadata/versions`, { headers: { metadata: "true" } })
      ).text();
  })();
  await simulator.advance(1000);
  expect(answered).toBe(50);
  await agent;
});

test("a request that does not arrive whole is named, and does not hold up for ever", async () => {
  const traffic = new Traffic();
  const server = createServer((_request, response) => traffic.came(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asking = request({ port, host: "127.0.0.1", path: "/half", method: "PUT" });
  asking.on("error", () => undefined);
  asking.flushHeaders();
  await expect.poll(() => traffic.count).toBe(1);
  await expect(traffic.settled(20)).rejects.toThrow("not answered after 20 ms: PUT /half");
  asking.destroy();
  await traffic.settled();
  expect(traffic.count).toBe(0);
});

test("it is quiet when no operation runs", async () => {
  const clock = new ManualClock(start);
  const { simulator, ask } = await smallWorld({ clock, operationMs: { "*": 1000 } });
  await ask("PUT", group, { location: "westeurope" });
  await simulator.advance(0);
  expect(simulator.quiet()).toBe(true);
  await ask("PUT", network, networkBody());
  await simulator.advance(0);
  expect(simulator.quiet()).toBe(false);
  // Moved behind the simulator's back: nobody has told the operation yet.
  clock.moveTo(start + 1000);
  expect(simulator.quiet()).toBe(true);
});

test("whoever looks sees operations ended that are due", async () => {
  for (const look of ["snapshot", "store", "operations"] as const) {
    const clock = new ManualClock(start);
    const { simulator, ask } = await smallWorld({ clock, operationMs: { "*": 1000 } });
    await ask("PUT", group, { location: "westeurope" });
    await ask("PUT", network, networkBody());
    clock.moveTo(start + 1000);
    const seen = {
      snapshot: () => simulator.snapshot().resources[network]?.state,
      store: () => simulator.store.get(network)?.state,
      operations: () => ([...simulator.operations.running()].length === 0 ? "Succeeded" : "late"),
    };
    expect([look, seen[look]()]).toEqual([look, "Succeeded"]);
  }
});

test("a real clock is not moved, nor any clock by what is no length of time", async () => {
  const real = await smallWorld();
  await expect(real.simulator.advance(1)).rejects.toThrow("only a manual clock");
  const { simulator } = await smallWorld({ clock: new ManualClock(start) });
  await expect(simulator.advance(Number.NaN)).rejects.toThrow("not by NaN");
  await expect(simulator.advance(-1)).rejects.toThrow("not by -1");
});
