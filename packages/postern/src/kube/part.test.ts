import { expect, test } from "vitest";
import { act, conditionFor, done, fail, join, requeueOf, wait, waits } from "./part.ts";

const creating = { reason: "Creating", message: "it is being created", progress: true } as const;
const changing = {
  reason: "Changing",
  message: "it is being changed",
  progress: true,
  harmless: true,
} as const;
const refused = { reason: "OwnedByAnother", message: "it belongs to somebody else" };
const ready = { reason: "Ready", message: "it is there" };
const isTrue = { type: "Available", status: "True", ...ready } as const;

test("parts are joined in order, with the soonest time", () => {
  const joined = join([
    wait(refused, 60_000),
    act([{ do: "create record", name: "a", why: "absent" }], creating),
    wait(creating, 5_000),
    done,
  ]);
  expect(joined).toEqual({
    steps: [{ do: "create record", name: "a", why: "absent" }],
    problems: [refused, creating, creating],
    requeueMs: 5_000,
  });
  expect(requeueOf(joined)).toEqual({ afterMs: 5_000 });
  expect(requeueOf(done)).toBe("drift");
});

test("a failure is looked at again when it says, after a while where it says nothing, and never where only a change can help", () => {
  const failure = { reason: "Forbidden", message: "not allowed" };
  expect(fail({ ...failure, requeueAfterMs: 600_000 }).requeueMs).toBe(600_000);
  expect(fail(failure).requeueMs).toBe(waits.failureMs);
  expect(fail({ ...failure, terminal: true }).requeueMs).toBeUndefined();
  expect(fail(failure, "ZoneCreationFailed").problems).toEqual([
    { reason: "ZoneCreationFailed", message: "not allowed" },
  ]);
});

test.each([
  ["nothing is wrong", [], undefined, isTrue],
  [
    "what comes by itself is Info",
    [creating],
    undefined,
    {
      type: "Available",
      status: "False",
      reason: "Creating",
      message: creating.message,
      severity: "Info",
    },
  ],
  [
    "what somebody has to change comes first",
    [creating, refused],
    undefined,
    { type: "Available", status: "False", ...refused },
  ],
  [
    "what disturbs nobody leaves True as it is",
    [changing],
    { ...isTrue, message: "as before" },
    { ...isTrue, message: "as before" },
  ],
  [
    "what disturbs nobody is told where it was not True",
    [changing],
    undefined,
    {
      type: "Available",
      status: "False",
      reason: "Changing",
      message: changing.message,
      severity: "Info",
    },
  ],
  [
    "what disturbs clients counts beside what does not",
    [changing, refused],
    isTrue,
    { type: "Available", status: "False", ...refused },
  ],
] as const)("the condition: %s", (_what, problems, present, expected) => {
  expect(conditionFor("Available", { problems }, present, ready)).toEqual(expected);
});
