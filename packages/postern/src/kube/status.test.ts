import { expect, test } from "vitest";
import { statusChange, type WithStatus } from "./status.ts";

const now = new Date("2026-05-01T10:00:00Z");
const own = { conditions: ["Ready"], fields: ["address", "list"] };
const ready = { type: "Ready", status: "True", reason: "Done", message: "It is." } as const;
const unchanged = { ...ready, observedGeneration: 2, lastTransitionTime: "2026-01-01T00:00:00Z" };
const another = { ...unchanged, type: "Painted" };

function object(status?: WithStatus["status"]): WithStatus {
  return { metadata: { name: "a", generation: 2 }, ...(status && { status }) };
}

test("nothing is written when our part is as planned", () => {
  const observed = object({
    conditions: [another, unchanged],
    address: "10.0.0.4",
    list: [{ a: 1, b: [2] }],
    theirs: 1,
  });
  const planned = {
    conditions: [ready],
    fields: { address: "10.0.0.4", list: [{ b: [2], a: 1 }] },
  };
  expect(statusChange(observed, own, planned, now)).toBeUndefined();
});

test.each([
  [
    "a new condition",
    object(),
    { conditions: [ready], fields: {} },
    { conditions: [{ ...unchanged, lastTransitionTime: "2026-05-01T10:00:00Z" }] },
  ],
  [
    "another message, with the old time",
    object({ conditions: [unchanged] }),
    { conditions: [{ ...ready, message: "Now." }], fields: {} },
    { conditions: [{ ...unchanged, message: "Now." }] },
  ],
  [
    "a newer generation",
    object({ conditions: [{ ...unchanged, observedGeneration: 1 }] }),
    { conditions: [ready], fields: {} },
    { conditions: [unchanged] },
  ],
  [
    "a changed field, with all else that is ours",
    object({ conditions: [unchanged], address: "a" }),
    { conditions: [ready], fields: { address: "b" } },
    { conditions: [unchanged], address: "b" },
  ],
  [
    "a field that is no longer wanted",
    object({ conditions: [unchanged], address: "a" }),
    { conditions: [ready], fields: {} },
    { conditions: [unchanged] },
  ],
  [
    "a condition that is no longer wanted",
    object({ conditions: [unchanged, another] }),
    { conditions: [], fields: {} },
    {},
  ],
] as const)("writes for %s, and never another's part", (_what, observed, planned, expected) => {
  expect(statusChange(observed as WithStatus, own, planned, now)).toEqual(expected);
});

const { observedGeneration: _, ...plain } = unchanged;

test("a list that is written whole knows no generation", () => {
  const planned = { conditions: [ready], fields: {} };
  const settled = object({ conditions: [another, plain] });
  expect(statusChange(settled, own, planned, now, "whole")).toBeUndefined();
  const published = { ...plain, lastTransitionTime: "2026-05-01T10:00:00Z" };
  expect(statusChange(object(), own, planned, now, "whole")).toEqual({ conditions: [published] });
});

test("a condition that is there twice in a list that is written whole is written once", () => {
  const twice = object({ conditions: [plain, another, { ...plain, status: "False" }] });
  const planned = { conditions: [ready], fields: {} };
  expect(statusChange(twice, own, planned, now, "whole")).toEqual({ conditions: [plain] });
});

test("a condition that says no more than its status is carried along as it is", () => {
  const bare = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const observed = object({ conditions: [bare as never] });
  const planned = { conditions: [{ ...bare } as never], fields: {} };
  expect(statusChange(observed, own, planned, now, "whole")).toBeUndefined();
});

test("how bad it is is said where the list is written whole, of what is False and of nothing else", () => {
  const bad = { ...ready, status: "False" } as const;
  const severityIn = (condition: object, list?: "whole") => {
    const planned = { conditions: [condition as typeof bad], fields: {} };
    const { conditions } = statusChange(object(), own, planned, now, list) ?? {};
    return (conditions as { severity?: string }[])[0]?.severity;
  };
  expect(severityIn(bad, "whole")).toBe("Error");
  expect(severityIn({ ...bad, severity: "Info" }, "whole")).toBe("Info");
  expect(severityIn(ready, "whole")).toBeUndefined();
  expect(severityIn(bad)).toBeUndefined();
  expect(severityIn({ ...bad, severity: "Info" })).toBeUndefined();
});
