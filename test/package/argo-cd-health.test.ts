import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Health, type HealthCondition, healthOfConditions } from "@postern/core/health.ts";
import { reasons as ofEndpoint } from "postern/hosted/endpoint/reasons.ts";
import { reasons as ofLink } from "postern/hosted/link/reasons.ts";
import { conditions as types } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { describeWhere } from "../setup/needs.ts";
import { monitoring } from "./monitoring-files.ts";

// Argo CD runs scripts by gopher-lua, which is Lua 5.1.
const missing = spawnSync("lua5.1", ["-v"]).error
  ? "lua5.1 is not on the PATH (Debian: apt-get install lua5.1)"
  : undefined;

const { data } = parse(readFileSync(monitoring("argo-cd-health.yaml"), "utf8")) as {
  data: Record<string, string>;
};
const script =
  data["resource.customizations.health.hypershift.openshift.io_AzurePrivateLinkService"] ?? "";

/** JSON as a table of Lua. Argo CD has no entry where an object has none or null. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(",")}}`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([key, each]) => `[${JSON.stringify(key)}]=${luaOf(each)}`)
      .join(",")}}`;
  return JSON.stringify(value);
}

interface Verdict {
  status: string;
  message: string;
}

/** What Argo CD shows for each object. */
function healthBy(objects: readonly object[]): Verdict[] {
  const program = [
    `local function health(obj)\n${script}\nend`,
    "local function print_health(obj) local h = health(obj); print(h.status .. '\\t' .. h.message) end",
    ...objects.map((each) => `print_health(${luaOf(each)})`),
  ].join("\n");
  const lines = execFileSync("lua5.1", ["-"], { input: program, encoding: "utf8" });
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [status = "", message = ""] = line.split("\t");
      return { status, message };
    });
}

const now = new Date("2026-01-01T00:00:00Z");
const condition = (type: string, status: "True" | "False" | "Unknown", reason: string) =>
  ({
    type,
    status,
    reason,
    message: `about ${reason}`,
    lastTransitionTime: now.toISOString(),
  }) as const;
const linkWith = (conditions: readonly HealthCondition[]) => ({
  metadata: { name: "private-router" },
  status: { conditions },
});
const available = condition(types.available, "True", "AzureSuccess");

/** Argo CD has no word for what cannot be used; an approval that nobody gives and a step that takes too long it cannot know. */
const asArgo: Record<Health, string> = {
  Healthy: "Healthy",
  Progressing: "Progressing",
  Degraded: "Degraded",
  Unavailable: "Degraded",
  Unknown: "Unknown",
};

describeWhere(missing, "the health of an AzurePrivateLinkService in Argo CD", () => {
  test.each<[string, object, Verdict]>([
    [
      "a new object is progressing",
      { metadata: { name: "new" } },
      { status: "Progressing", message: "The operator has not reported on it yet." },
    ],
    [
      "so is one with an empty status",
      { metadata: {}, status: {} },
      { status: "Progressing", message: "The operator has not reported on it yet." },
    ],
    [
      "one that clients can connect to is healthy",
      linkWith([available]),
      { status: "Healthy", message: "about AzureSuccess" },
    ],
    [
      "one of which a part failed is degraded, and the message is of that part",
      linkWith([available, condition(types.dns, "False", "PrivateDNSZoneCreationFailed")]),
      { status: "Degraded", message: "about PrivateDNSZoneCreationFailed" },
    ],
    [
      "one that waits for an approval is progressing",
      linkWith([
        condition(types.available, "False", "PrivateEndpointConnectionNotApproved"),
        condition(types.endpoint, "False", "PrivateEndpointConnectionNotApproved"),
      ]),
      { status: "Progressing", message: "about PrivateEndpointConnectionNotApproved" },
    ],
    [
      "a condition of somebody else does not count",
      linkWith([available, condition("SomethingElse", "False", "Broken")]),
      { status: "Healthy", message: "about AzureSuccess" },
    ],
    [
      "one that is being deleted is progressing, whatever failed before",
      {
        metadata: { deletionTimestamp: now.toISOString() },
        status: { conditions: [condition(types.available, "False", "EndpointFailed")] },
      },
      { status: "Progressing", message: "It is being deleted." },
    ],
    [
      "a condition without a reason and a message does not fail the script",
      linkWith([{ type: types.available, status: "False" }]),
      { status: "Degraded", message: "" },
    ],
  ])("%s", (_, object, verdict) => {
    expect(healthBy([object])).toEqual([verdict]);
  });

  test("for every reason is that of the dashboard", () => {
    const reasons = [...new Set([...Object.values(ofLink), ...Object.values(ofEndpoint)].flat())];
    expect(reasons.length).toBeGreaterThan(20);
    const cases = reasons.flatMap((reason) => [
      [condition(types.available, "False", String(reason))],
      [available, condition(types.endpoint, "False", String(reason))],
    ]);
    const shown = healthBy(cases.map(linkWith)).map(({ status }) => status);
    const expected = cases.map((conditions) => {
      const rules = { conditions, available: types.available, types: Object.values(types), now };
      return asArgo[healthOfConditions(rules).health];
    });
    expect(cases.map(([, last = available], at) => [last.reason, shown[at]])).toEqual(
      cases.map(([, last = available], at) => [last.reason, expected[at]]),
    );
  });
});
