import type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
import type { ClusterSummary } from "@postern/core/dashboard/picture.ts";
import { expect, test } from "vitest";
import { type Known, rowsOf } from "./clusters.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const cluster = (over: Partial<ClusterSummary> = {}) =>
  ({
    key: "clusters/blue",
    kind: "HostedCluster",
    access: "Private",
    health: "Healthy",
    causes: [],
    ...over,
  }) as unknown as ClusterSummary;
const because = (health: "Unavailable" | "Progressing", message: string) =>
  cluster({ health, causes: [{ health, reason: "R", message }] });
const known = (over: Partial<Known>): Known => ({
  clusters: [],
  appliances: [],
  operations: new Map(),
  now,
  ...over,
});
const running = (expectedMs?: number) =>
  new Map([
    [
      "clusters/blue",
      [
        {
          do: "create endpoint",
          at: "2026-01-01T00:00:48Z",
          outcome: "running",
          ...(expectedMs !== undefined && { expectedMs }),
        } as JournalStep,
      ],
    ],
  ]);

test.each([
  ["Healthy", cluster(), ""],
  [
    "rejected",
    because("Unavailable", "The owner rejected the connection."),
    "The owner rejected the connection.",
  ],
  ["being deleted", because("Progressing", "It is being deleted."), "It is being deleted."],
])("a cluster that is %s has the state and the cause of the dashboard", (_what, summary, step) => {
  expect(rowsOf(known({ clusters: [summary] }))).toEqual([
    { name: "clusters/blue", what: "Private", state: summary.health, step },
  ]);
});

test("the running operation has its elapsed time, and the expected one where it is known", () => {
  const clusters = [because("Progressing", "It waits.")];
  const stepOf = (expectedMs?: number) =>
    rowsOf(known({ clusters, operations: running(expectedMs) }))[0]?.step;
  expect(stepOf(40_000)).toBe("create endpoint, 12 s of about 40 s · It waits.");
  expect(stepOf()).toBe("create endpoint, 12 s · It waits.");
});

test("where something is wrong the cause comes before the running operation", () => {
  const clusters = [because("Unavailable", "It does not exist.")];
  expect(rowsOf(known({ clusters, operations: running() }))[0]?.step).toBe(
    "It does not exist. · create endpoint, 12 s",
  );
});

test("what cannot be read is Unknown, however it was before", () => {
  const [row] = rowsOf(known({ clusters: [cluster()], failure: "Azure did not answer." }));
  expect(row).toMatchObject({ state: "Unknown", step: "Azure did not answer." });
});

test("clusters and appliances are sorted by name, as people count", () => {
  const of = (name: string, state: "joining" | "member" | "failed") => ({ name, pool: "p", state });
  const appliances = [
    of("vm-10", "member"),
    of("vm-2", "joining"),
    { ...of("vm-1", "failed"), message: "no role" },
  ];
  const clusters = [cluster(), cluster({ key: "clusters/amber", kind: "AzureCluster" })];
  expect(rowsOf(known({ clusters, appliances }))).toMatchObject([
    { name: "clusters/amber", what: "Cluster API" },
    { name: "clusters/blue" },
    { name: "vm-1", state: "Unavailable", step: "no role" },
    { name: "vm-2", state: "Progressing", step: "joining pool p" },
    { name: "vm-10", state: "Healthy", step: "in pool p" },
  ]);
});

test("appliances alone are not everything: there is no row before the clusters were read", () => {
  const appliances = [{ name: "vm-1", pool: "p", state: "member" }] as const;
  expect(rowsOf(known({ clusters: undefined, appliances }))).toEqual([]);
});
