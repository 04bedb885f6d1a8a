import { azureLimits, noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import type { JsonObject, Resource } from "@postern/azure-simulator/state/store.ts";
import { deregisterFromBackendPool, drainInBackendPool } from "postern/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import { registerWithBackendPool } from "postern/appliance/register.ts";
import { describe, expect, test } from "vitest";
import { gatewayWorld, network, pool } from "./gateway-world.ts";

/**
 * With odd seeds a write to the pool is done at once; with even ones it takes 2 s, in which others take its place. A run
 * takes half a minute and more, so every check has one of each; POSTERN_CONTENTION_RUNS=20 makes the whole proof.
 */
const runs = Number(process.env.POSTERN_CONTENTION_RUNS ?? 2);
const first = Number(process.env.POSTERN_CONTENTION_SEED ?? 1);
/** All agents share what Azure lets one identity ask, where they are instances of one scale set. */
const shared = process.env.POSTERN_CONTENTION_IDENTITY === "shared";

/** One in ten requests to Azure goes wrong, in all the ways in which requests do; the others take their time. */
const faults = [
  {
    probability: 0.02,
    effect: { kind: "answer", status: 500, body: refusal("InternalServerError") },
  },
  { probability: 0.02, effect: { kind: "html", status: 502 } },
  { probability: 0.02, effect: { kind: "lost", when: "before" } },
  { probability: 0.02, effect: { kind: "lost", when: "after" } },
  { probability: 0.01, effect: { kind: "dropped" } },
  { probability: 0.01, effect: { kind: "throttled", retryAfterSeconds: 1 } },
  { effect: { kind: "slow", ms: 40 } },
] as const;

/** Entries that somebody else keeps in the pool; an agent that writes its entry writes theirs too. */
const bystanders = ["10.0.15.1", "10.0.15.2"].map((ipAddress, at) => ({
  name: `bystander-${at}`,
  properties: { ipAddress, virtualNetwork: { id: network }, adminState: at === 0 ? "Up" : "Down" },
}));

/**
 * Microsoft.Network takes 1,000 writes in five minutes for a whole subscription, and the agents' tries are more than that. This is
 * about writers of one pool, so only the limits of each identity apply.
 */
const limits = { ...azureLimits, networkWrite: noLimits.networkWrite };

describe("two hundred agents at one pool while one in ten requests fails", () => {
  test.each(Array.from({ length: runs }, (_, at) => first + at))(
    "all join and all leave, and nobody's entry is ever lost (seed %i)",
    async (seed) => {
      const poolMs = seed % 2 === 0 ? 2_000 : 0;
      const operationMs = { "Microsoft.Network/loadBalancers/backendAddressPools": poolMs };
      const world = await gatewayWorld({ seed: `contention ${seed}`, operationMs, limits });
      const { simulator, clock } = world;
      const ids = shared
        ? world.scaleSet("uniform", "Uniform", 200)
        : [
            ...Array.from({ length: 80 }, (_, at) => world.machine(`fw${at}`)),
            ...world.scaleSet("uniform", "Uniform", 60),
            ...world.scaleSet("flexible", "Flexible", 60),
          ];
      expect(ids).toHaveLength(200);
      simulator.change(pool, { properties: { loadBalancerBackendAddresses: bystanders } });

      const agents = await world.until(
        Promise.all(
          ids.map(async (id) => {
            const agent = await world.agent(id, { seed: `${seed} ${id}` });
            return { agent, config: await discoverGWLBBackendPool(agent.ctx, "inspect") };
          }),
        ),
      );
      const addresses = new Set(agents.map(({ config }) => config.privateIP));
      expect(addresses.size).toBe(200);
      // Every identity may ask as much as after a pause.
      await simulator.advance(60_000);

      const states = follow(simulator);
      for (const [at, fault] of faults.entries())
        simulator.addFault({ id: `fault-${at}`, match: {}, ...fault });

      const joinedAt = clock.now();
      const joined = await world.until(
        Promise.allSettled(
          agents.map(({ agent, config }) => registerWithBackendPool(agent.ctx, config)),
        ),
      );
      expect(failuresIn(joined)).toEqual([]);
      const joining = states.splice(0);
      expect(new Set(joining.at(-1)?.keys())).toEqual(
        new Set([...addresses, ...bystanders.map(({ properties }) => properties.ipAddress)]),
      );
      // Every state has one entry more than the one before, and all the others as they were.
      for (const [before, after] of pairs(joining)) {
        expect(after.size).toBe(before.size + 1);
        for (const [address, entry] of before) expect(after.get(address)).toBe(entry);
      }
      const joinSeconds = (clock.now() - joinedAt) / 1000;

      await simulator.advance(60_000);
      const leftAt = clock.now();
      const left = await world.until(
        Promise.allSettled(
          agents.map(async ({ agent, config }) => {
            await drainInBackendPool(agent.ctx, config);
            return deregisterFromBackendPool(agent.ctx, config);
          }),
        ),
      );
      expect(failuresIn(left)).toEqual([]);
      const leaving = [joining.at(-1) ?? new Map(), ...states];
      expect([...(leaving.at(-1)?.keys() ?? [])].sort()).toEqual(
        bystanders.map(({ properties }) => properties.ipAddress),
      );
      // Every state has one entry less, or one that is drained, and all the others as they were.
      let drained = 0;
      for (const [before, after] of pairs(leaving)) {
        const changed = [...after].filter(([address, entry]) => before.get(address) !== entry);
        expect(before.size - after.size + changed.length).toBe(1);
        for (const [address, entry] of changed) {
          expect(entry).toBe(before.get(address)?.replace(/}}$/, ',"adminState":"Down"}}'));
          drained++;
        }
      }
      expect(drained).toBeGreaterThan(0);
      const log = simulator.log.entries();
      const refused = log.filter(({ status }) => status === 412).length;
      const hit = simulator.faults
        .list()
        .slice(0, -1)
        .reduce((sum, { hit }) => sum + hit, 0);
      const share = hit / log.filter(({ at }) => at >= joinedAt).length;
      expect(share).toBeGreaterThan(0.08);
      console.log(
        `seed ${seed}, ${poolMs} ms a write: joined in ${joinSeconds} s, left in ${(clock.now() - leftAt) / 1000} s with ${drained} drained, ` +
          `${log.length} requests, ${refused} refused with 412, ${(share * 100).toFixed(1)} % failed`,
      );
    },
    1_800_000,
  );
});

/** Every state that the pool is in from now on: its entries by address, as JSON. */
function follow({ store }: { store: { follow(follower: Follower): void } }): Map<string, string>[] {
  const states: Map<string, string>[] = [];
  let last = "";
  const key = pool.toLowerCase();
  store.follow({
    saved(resource) {
      if (resource.key !== key) return;
      const entries = (resource.properties.loadBalancerBackendAddresses ?? []) as JsonObject[];
      const text = JSON.stringify(entries);
      if (text === last) return;
      last = text;
      states.push(
        new Map(
          entries.map((each) => [
            String((each.properties as JsonObject).ipAddress),
            JSON.stringify(each),
          ]),
        ),
      );
    },
    removed: () => undefined,
  });
  return states;
}

interface Follower {
  saved(resource: Resource): void;
  removed(key: string): void;
}

function pairs<T>(list: readonly T[]): [T, T][] {
  return list.slice(1).map((after, at) => [list[at] as T, after]);
}

function failuresIn(settled: readonly PromiseSettledResult<unknown>[]): string[] {
  return settled.flatMap((each) => (each.status === "rejected" ? String(each.reason) : []));
}

function refusal(code: string): JsonObject {
  return { error: { code, message: `about ${code}` } };
}
