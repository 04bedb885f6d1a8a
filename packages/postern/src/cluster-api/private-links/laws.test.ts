import { expect, test } from "vitest";
import {
  type PrivateLinksScript,
  PrivateLinksWorld,
  type Requested,
} from "../../../../../test/cluster-api/private-links-laws.ts";
import { fc } from "../../../../../test/setup/random.ts";

/*
 * The laws, over random worlds: clusters of one resource group whose names begin with each other, things of other people
 * that stand in the way, and changes that somebody makes between any two reconciles. The simulator is the Azure, and what is
 * under test is the whole of see, plan and apply.
 */

const requested: fc.Arbitrary<Requested> = fc.record({
  first: fc.boolean(),
  second: fc.boolean(),
  nat: fc.constantFrom("nodes", "other", "both"),
  proxy: fc.boolean(),
  open: fc.boolean(),
  endpoint: fc.boolean(),
  endpointIn: fc.constantFrom("nodes", "other"),
  annotated: fc.boolean(),
});

const cluster = fc.nat(2);
const change = fc.oneof(
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("reconcile" as const), cluster }),
  fc.record({ kind: fc.constant("ask" as const), cluster, asked: requested }),
  fc.record({
    kind: fc.constantFrom("drop link" as const, "drop endpoint" as const, "connect" as const),
    cluster,
  }),
  fc.record({ kind: fc.constant("spoil link" as const), cluster, how: fc.nat(3) }),
  fc.record({ kind: fc.constant("spoil endpoint" as const), cluster, how: fc.nat(1) }),
  fc.record({ kind: fc.constant("delete" as const), cluster }),
);

const script: fc.Arbitrary<PrivateLinksScript> = fc.record({
  clusters: fc.array(requested, { minLength: 1, maxLength: 3 }),
  strangers: fc.record({ link: fc.boolean(), endpoint: fc.boolean() }),
  changes: fc.array(change, { maxLength: 14 }),
});

test("every plan settles, deletions leave nothing, and what is not ours is never touched", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (given) => {
      const world = await PrivateLinksWorld.start(given);
      try {
        for (const each of given.changes) await world.change(each);
        await world.settle();
        // At rest: the same plan again and again, without a write.
        const writes = world.writes();
        await world.reconcileAll();
        expect(world.writes(), world.story()).toBe(writes);
        expect(world.reported(), world.story()).toEqual(world.expected());

        world.deleteAll();
        await world.settle();
        expect(world.withFinalizer(), world.story()).toEqual([]);
        expect(world.left(), world.story()).toEqual(world.strangers());
      } finally {
        await world.close();
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
