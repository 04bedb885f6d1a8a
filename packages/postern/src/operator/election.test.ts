import { Command } from "commander";
import { expect, test } from "vitest";
import { type ElectionFlags, leaseOf, withElectionOptions } from "./election.ts";

function read(...flags: string[]) {
  const command = withElectionOptions(new Command())
    .exitOverride()
    .configureOutput({
      writeErr: () => {},
    });
  command.parse(flags, { from: "user" });
  return leaseOf({ ...command.opts<ElectionFlags>(), role: "all" });
}

test("without a flag the times are client-go's", () => {
  expect(read()).toEqual({
    name: "postern-operator",
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  });
});

test("the flags have client-go's names and durations in Go's form", () => {
  const lease = read(
    ...["--leader-elect", "--leader-elect-lease-duration", "1m30s"],
    ...["--leader-elect-renew-deadline=45s", "--leader-elect-retry-period", "500ms"],
    ...["--leader-elect-resource-name", "one", "--leader-elect-resource-namespace", "two"],
  );
  expect(lease).toEqual({
    name: "one",
    namespace: "two",
    leaseDurationMs: 90_000,
    renewDeadlineMs: 45_000,
    retryPeriodMs: 500,
  });
});

test("there is no lease with --no-leader-elect", () => {
  expect(read("--no-leader-elect")).toBeUndefined();
});

test.each([
  ["--leader-elect-lease-duration", "10s", "must be greater than --leader-elect-renew-deadline"],
  ["--leader-elect-renew-deadline", "2400ms", "1.2 times --leader-elect-retry-period"],
  ["--leader-elect-retry-period", "0s", "use a duration greater than zero"],
  ["--leader-elect-retry-period", "2", "such as 15s"],
])("%s %s is refused", (flag, value, why) => {
  expect(() => read(flag, value)).toThrow(why);
});
