import { expect, test } from "vitest";
import { endingEvents } from "./scheduled-events.ts";

const machine = { vmName: "fw-1", resourceId: "/x/virtualMachines/fw-1" };
const event = (over: object = {}) => ({
  EventId: "A",
  EventStatus: "Scheduled",
  EventType: "Terminate",
  ResourceType: "VirtualMachine",
  Resources: ["fw-1"],
  NotBefore: "Mon, 19 Sep 2026 18:29:47 GMT",
  ...over,
});
const document = (...events: unknown[]) => ({ DocumentIncarnation: 1, Events: events });

test("an event that ends this machine is found, with its time", () => {
  expect(endingEvents(document(event()), machine)).toEqual([
    { id: "A", type: "Terminate", started: false, notBefore: "Mon, 19 Sep 2026 18:29:47 GMT" },
  ]);
  const begun = event({ EventType: "Preempt", EventStatus: "Started", NotBefore: "" });
  expect(endingEvents(document(begun), machine)).toEqual([
    { id: "A", type: "Preempt", started: true },
  ]);
});

test.each([
  ["of a sibling whose name begins alike", event({ Resources: ["fw-10"] })],
  ["that the machine survives", event({ EventType: "Reboot" })],
  ["without resources", event({ Resources: "fw-1" })],
  ["without an id", event({ EventId: 7 })],
  ["that is no event", null],
])("an event %s is left alone", (_name, other) => {
  expect(endingEvents(document(other), machine)).toEqual([]);
});

test("an answer that is no document has no events", () => {
  for (const body of [undefined, null, "<html>", [], { Events: {} }])
    expect(endingEvents(body, machine)).toEqual([]);
});

test("an instance of a uniform scale set goes by the name of the set and its number", () => {
  const instance = {
    vmName: "odd",
    resourceId: "/x/virtualMachineScaleSets/ss/virtualMachines/7",
    scaleSet: { name: "ss", mode: "Uniform" },
  } as const;
  expect(endingEvents(document(event({ Resources: ["SS_7"] })), instance)).toHaveLength(1);
  expect(endingEvents(document(event({ Resources: ["ss_70", "7"] })), instance)).toEqual([]);
});
