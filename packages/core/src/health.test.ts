import { expect, test } from "vitest";
import { type HealthCondition, healthOfConditions, reportOf, worstHealth } from "./health.ts";

const now = new Date("2026-03-01T12:00:00Z");
const minutesAgo = (minutes: number) =>
  new Date(now.getTime() - minutes * 60_000).toISOString().replace(/\.\d+/, "");

const condition = (
  type: string,
  status: HealthCondition["status"],
  reason: string,
  minutes = 1,
): HealthCondition => ({
  type,
  status,
  reason,
  message: `${type}: ${reason}`,
  lastTransitionTime: minutesAgo(minutes),
});
const available = condition("Available", "True", "AzureSuccess", 60);
const creating = condition("Available", "False", "PrivateEndpointCreating");

test.each<[string, HealthCondition[], Partial<Parameters<typeof healthOfConditions>[0]>, string]>([
  ["all conditions are True", [available], {}, "Healthy"],
  [
    "an available cluster has a failed condition",
    [available, condition("DNS", "False", "ZoneFull")],
    {},
    "Degraded ZoneFull",
  ],
  [
    "an available cluster is being updated",
    [available, condition("Link", "False", "PLSUpdating")],
    {},
    "Healthy",
  ],
  ["it is being created", [creating], {}, "Progressing PrivateEndpointCreating"],
  [
    "a condition is Unknown for a while",
    [condition("Available", "Unknown", "StatusUnknown")],
    {},
    "Progressing StatusUnknown",
  ],
  [
    "it takes longer than anything takes",
    [condition("Available", "False", "PrivateEndpointCreating", 21)],
    {},
    "Unavailable PrivateEndpointCreating",
  ],
  [
    "a load balancer is expected soon",
    [condition("Available", "False", "LoadBalancerIPMissing")],
    {},
    "Progressing LoadBalancerIPMissing",
  ],
  [
    "an approval is expected soon",
    [condition("Available", "False", "ApprovalPending", 1)],
    {},
    "Progressing ApprovalPending",
  ],
  [
    "the connection was just rejected",
    [condition("Available", "False", "PrivateEndpointConnectionRejected", 0)],
    {},
    "Unavailable PrivateEndpointConnectionRejected",
  ],
  [
    "a reason has the form of progress, and is none",
    [condition("Available", "False", "QuotaPending")],
    {},
    "Unavailable QuotaPending",
  ],
  [
    "nobody approves the connection",
    [condition("Available", "False", "ApprovalPending", 4)],
    {},
    "Unavailable ApprovalPending",
  ],
  [
    "a failure outranks what waits for it",
    [creating, condition("Link", "False", "AzureError")],
    {},
    "Unavailable AzureError",
  ],
  [
    "a 403 stops a deletion",
    [condition("Available", "False", "Deleting"), condition("Link", "False", "AzureError")],
    { deletedAt: minutesAgo(1) },
    "Degraded AzureError",
  ],
  [
    "it is being deleted",
    [condition("Available", "False", "Deleting")],
    { deletedAt: minutesAgo(1) },
    "Progressing Deleting",
  ],
  [
    "it is being deleted, and its conditions are those of before",
    [available, condition("Link", "True", "AzureSuccess")],
    { deletedAt: minutesAgo(1) },
    "Progressing Deleting",
  ],
  [
    "it is being deleted, and one of its conditions has followed",
    [available, condition("Link", "False", "PLSDeleting")],
    { deletedAt: minutesAgo(1) },
    "Progressing Deleting",
  ],
  [
    "it is being deleted, and has no condition",
    [],
    { deletedAt: minutesAgo(1) },
    "Progressing Deleting",
  ],
  [
    "Cluster API marks it as passing",
    [{ ...condition("Available", "False", "SubnetUnfit"), severity: "Info" }],
    {},
    "Progressing SubnetUnfit",
  ],
  ["it is new and has no condition", [], { createdAt: minutesAgo(0) }, "Progressing Waiting"],
  ["no operator ever reported on it", [], { createdAt: minutesAgo(5) }, "Unknown NotReported"],
  [
    "somebody else's condition is False",
    [available, condition("ClusterVersionUpgradeable", "False", "Whatever")],
    {},
    "Healthy",
  ],
])("%s", (_what, conditions, over, expected) => {
  const types = ["Available", "Link", "DNS"];
  const { health, causes } = healthOfConditions({
    conditions,
    available: "Available",
    types,
    now,
    ...over,
  });
  expect([health, causes[0]?.reason].filter(Boolean).join(" ")).toBe(expected);
  expect(causes[0]?.health ?? "Healthy").toBe(health);
});

test("a report names equal causes once, the worst first, and since when clients can connect", () => {
  const cause = { reason: "A", message: "a", health: "Progressing" } as const;
  const worst = { reason: "B", message: "b", health: "Unavailable" } as const;
  expect(reportOf([cause, worst, { ...cause }], "2026-03-01T11:00:00Z")).toEqual({
    health: "Unavailable",
    causes: [worst, cause],
    since: "2026-03-01T11:00:00Z",
  });
  expect(worstHealth(["Healthy", "Unknown", "Degraded"])).toBe("Degraded");
  expect(worstHealth([])).toBe("Healthy");
});
