import { expect, onTestFinished, test } from "vitest";
import { type LinkScript, LinkWorld } from "../../../../../test/hosted/link-laws.ts";
import { fc } from "../../../../../test/setup/random.ts";

/*
 * The laws, over random worlds: links of several clusters, resources of others that are in the way, and changes that
 * somebody makes between any two reconciles. The simulator is the Azure, and what is under test is the whole of see, plan and apply.
 */

const change = fc.oneof(
  fc.record({ kind: fc.constant("pass" as const), link: fc.nat(2) }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("drop service" as const), link: fc.nat(2) }),
  fc.record({ kind: fc.constant("spoil service" as const), link: fc.nat(2), how: fc.nat(4) }),
  fc.record({ kind: fc.constant("move address" as const), link: fc.nat(2) }),
  fc.record({ kind: fc.constant("connect" as const), link: fc.nat(2) }),
  fc.record({ kind: fc.constant("delete" as const), link: fc.nat(2) }),
);

const script: fc.Arbitrary<LinkScript> = fc.record({
  links: fc.integer({ min: 1, max: 3 }),
  mode: fc.constantFrom("shared" as const, "per-cluster" as const),
  prefixLength: fc.constantFrom(24, 28),
  strangers: fc.record({
    service: fc.boolean(),
    subnet: fc.boolean(),
    clusterSubnet: fc.boolean(),
  }),
  changes: fc.array(change, { maxLength: 12 }),
});

test("every plan settles, deletions leave nothing, and what is not owned is never touched", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (given) => {
      const world = await LinkWorld.start(given);
      try {
        for (const each of given.changes) await world.change(each);
        await world.settle();
        // At rest: the same plan again and again, without a write.
        const writes = world.writes();
        await world.passAll();
        expect(world.writes(), world.story()).toBe(writes);
        for (const link of world.living()) expect(world.ready(link), world.story()).toBe(true);

        await world.deleteAll();
        await world.settle();
        expect(world.living(), world.story()).toEqual([]);
        expect(world.present(), world.story()).toEqual([]);
        expect(world.left(), world.story()).toEqual(world.strangers());
      } finally {
        await world.close();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test("the same random world ends in the same way twice", async () => {
  const given: LinkScript = {
    links: 2,
    mode: "shared",
    prefixLength: 28,
    strangers: { service: true, subnet: true, clusterSubnet: false },
    changes: [{ kind: "pass", link: 0 }, { kind: "restart" }],
  };
  const ends: string[][] = [];
  for (let time = 0; time < 2; time++) {
    const world = await LinkWorld.start(given);
    onTestFinished(() => world.close());
    for (const each of given.changes) await world.change(each);
    await world.settle();
    ends.push(world.left());
  }
  expect(ends[0]).toEqual(ends[1]);
});
