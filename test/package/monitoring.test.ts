import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricsPage } from "../../scripts/generate-metrics-page.ts";
import { alertRules, dashboardQueries, monitoring } from "./monitoring-files.ts";

// test/install/forms.test.ts runs these tests by promtool on the alerts of the chart.
const runbooks = new URL("../../docs/runbooks/", import.meta.url);
test("each alert has a test that it fires, one that it does not, and a runbook", () => {
  const { tests } = parse(readFileSync(monitoring("alerts.test.yaml"), "utf8")) as {
    tests: { name: string }[];
  };
  const names = tests.map(({ name }) => name);
  const alerts = alertRules().map(({ alert }) => alert);
  const further = / where .*/;
  expect([...new Set(names.map((name) => name.replace(further, "")))].toSorted()).toEqual(
    alerts.flatMap((alert) => [`${alert} fires`, `${alert} does not fire`]).toSorted(),
  );
  const pages = readdirSync(runbooks).filter((file) => file !== "README.md");
  expect(pages.toSorted()).toEqual(alerts.map((alert) => `${alert}.md`).toSorted());
  for (const { alert, expr, annotations } of alertRules()) {
    expect(annotations.runbook).toBe(`docs/runbooks/${alert}.md`);
    expect(readFileSync(new URL(`${alert}.md`, runbooks), "utf8"), alert).toContain(expr);
  }
});

test("alerts and dashboard ask only for metrics that exist", () => {
  const known = new Set([...metricsPage().matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
  const asked = [...alertRules().map(({ expr }) => expr), ...dashboardQueries()];
  for (const expr of asked)
    for (const [name] of expr.matchAll(/\b(postern|controller_runtime|workqueue|leader)_\w+/g))
      expect(
        known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, "")),
        `${name} of ${expr}`,
      ).toBe(true);
});
