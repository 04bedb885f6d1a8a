import { describe, expect, test } from "vitest";
import { nowAfter, PaperGuest, seen, spec } from "../../../test/hosted/paper-guest.ts";
import { fc } from "../../../test/setup/random.ts";
import { conditions } from "../names.ts";
import { plan } from "./plan.ts";
import type { Seen } from "./seen.ts";

/** One cluster of several in one group, with the same base domain and the same network. */
function cluster(n: number): Seen {
  const like = seen();
  const name = `c${n}`;
  const facts = { ...like.cluster, name, hostedCluster: name } as NonNullable<Seen["cluster"]>;
  return {
    ...like,
    object: { ...like.object, spec: spec({ baseDomain: "shared.test" }) },
    us: { uid: `link-${n}`, clusterID: `id-${n}`, controlPlaneUid: `plane-${n}` },
    cluster: facts,
  };
}

/** Do what a plan says; what another has changed in between is refused, as Azure does, and tried again later. */
function act(guest: PaperGuest, world: Seen, look: Seen): { now: Seen; over: boolean } {
  const planned = plan(look);
  let refused = false;
  for (const step of planned.steps)
    try {
      guest.apply(step);
    } catch (error) {
      if (!/^(404|409|412)/.test((error as Error).message)) throw error;
      refused = true;
    }
  const over = planned.finalizer === "release" && planned.steps.length === 0;
  return { now: refused ? world : nowAfter(world, planned), over };
}

const moves = fc.array(
  fc.record({
    who: fc.nat(2),
    /** Look now and act at the next turn, as one does who reads what is old. */
    late: fc.boolean(),
    leave: fc.integer({ min: 0, max: 9 }),
  }),
  { maxLength: 40 },
);

describe("clusters that share a zone", () => {
  test("never take anything from each other, and the last one leaves nothing (defect 10)", () => {
    fc.assert(
      fc.property(moves, (all) => {
        const guest = new PaperGuest();
        const worlds = [0, 1, 2].map(cluster);
        const looks: (Seen | undefined)[] = [];
        const gone = new Set<number>();
        const turn = (who: number, late = false) => {
          const world = worlds[who];
          if (world === undefined || gone.has(who)) return;
          const look = looks[who] ?? guest.seen(world);
          looks[who] = late ? look : undefined;
          if (late) return;
          const { now, over } = act(guest, world, { ...look, going: world.going });
          worlds[who] = now;
          if (over && looks[who] === undefined && plan(guest.seen(world)).steps.length === 0)
            gone.add(who);
        };
        for (const { who, late, leave } of all) {
          const world = worlds[who];
          if (world && leave === 0) worlds[who] = { ...world, going: "object" };
          turn(who, late);
        }
        for (let round = 0; round < 30; round++) for (const who of [0, 1, 2]) turn(who);
        worlds.forEach((world) => {
          const told = world.conditions.find(({ type }) => type === conditions.available);
          if (world.going === undefined) expect(told?.status).toBe("True");
        });
        worlds.forEach((world, who) => {
          worlds[who] = { ...world, going: "object" };
        });
        for (let round = 0; round < 30; round++) for (const who of [0, 1, 2]) turn(who);
        expect([...guest.resources.keys()]).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
