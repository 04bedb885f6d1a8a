import { expect, test } from "vitest";
import { ManualClock } from "../control/manual-clock.ts";
import { seededRandom } from "../control/seeded-random.ts";
import { History } from "./history.ts";
import { type Resource, Store } from "./store.ts";

const keyOf = (i: number) => `/subscriptions/s/resourcegroups/g/providers/p/t/r${i}`;

function resource(i: number, written: number): Resource {
  const id = keyOf(i);
  return {
    id,
    key: id,
    type: "p/t",
    name: `r${i}`,
    top: {},
    properties: { written },
    state: "Succeeded",
    version: written,
    etag: "e",
  };
}

/** What a store holds, by key. */
function contentsOf(store: Store): Record<string, unknown> {
  const held = [...store.all()].map(({ key, properties }) => [key, properties.written]);
  return Object.fromEntries(held.sort());
}

function remembered(count: number) {
  const clock = new ManualClock(0);
  const store = new Store();
  for (let i = 0; i < count; i++) store.put(resource(i, 0));
  const history = new History({ store, clock });
  history.start();
  return { clock, store, history };
}

test("any time that is asked for, in any order, shows the world of then", () => {
  const chance = seededRandom("history");
  const { clock, store, history } = remembered(5);
  const then = [contentsOf(store)];
  for (let at = 1; at <= 300; at++) {
    clock.moveTo(at);
    const i = Math.floor(chance() * 10);
    if (chance() < 0.4) store.remove(keyOf(i));
    else store.put(resource(i, at));
    then.push(contentsOf(store));
  }
  for (let look = 0; look < 300; look++) {
    const at = Math.floor(chance() * then.length);
    expect([at, contentsOf(history.at(at))]).toEqual([at, then[at]]);
  }
});

test("what is too long ago is forgotten, and the rest is still as it was", () => {
  const { clock, store, history } = remembered(2);
  for (let at = 1; at <= 60_000; at++) {
    clock.moveTo(at);
    store.put(resource(at % 2, at));
  }
  expect(contentsOf(history.at(59_990))).toEqual({ [keyOf(0)]: 59_990, [keyOf(1)]: 59_989 });
  // As far back as is remembered.
  expect(Number(contentsOf(history.at(1))[keyOf(1)])).toBeGreaterThan(1);
  expect(contentsOf(history.at(60_000))).toEqual(contentsOf(store));
});

test("a look back takes as long as there were changes, whatever the size of the world", () => {
  const { clock, store, history } = remembered(20_000);
  clock.moveTo(10);
  const before = performance.now();
  for (let i = 0; i < 200; i++) {
    store.put(resource(i, 1));
    clock.moveTo(clock.now() + 10);
    history.at(clock.now() - 20);
  }
  // A copy of such a world takes some 100 ms.
  expect(performance.now() - before).toBeLessThan(2000);
});
