import { ManualClock as SimulatorClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { startChecked } from "./start.ts";

test("the clock of the tests is a manual clock to the simulator", async () => {
  const clock = new ManualClock(0);
  expect(clock).toBeInstanceOf(SimulatorClock);
  const simulator = await startChecked({ clock });
  simulator.moveClock(1000);
  expect(clock.now()).toBe(1000);
});

test("timers are called in the order in which they are due, each at its own time", () => {
  const clock = new SimulatorClock(0);
  const called: [string, number][] = [];
  clock.after(20, () => called.push(["later", clock.now()]));
  clock.after(10, () => {
    called.push(["first", clock.now()]);
    clock.after(5, () => called.push(["between", clock.now()]));
  });
  clock.moveTo(30);
  expect(called).toEqual([
    ["first", 10],
    ["between", 15],
    ["later", 20],
  ]);
  expect(clock.now()).toBe(30);
});

test("a timer can take back another that is due at the same time", () => {
  const clock = new SimulatorClock(0);
  let called = false;
  clock.after(10, () => cancel());
  const cancel = clock.after(10, () => {
    called = true;
  });
  clock.moveTo(10);
  expect([called, clock.timers]).toEqual([false, 0]);
});
