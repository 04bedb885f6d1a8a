import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { metricsPage } from "../../scripts/generate-metrics-page.ts";
import { describeWhere } from "../setup/needs.ts";
import { alertRules, dashboardQueries, monitoring } from "./monitoring-files.ts";

const runbooks = new URL("../../docs/runbooks/", import.meta.url);
const promtool = spawnSync("promtool", ["--version"]).error
  ? "promtool is not installed: Debian's package is prometheus"
  : undefined;

describeWhere(promtool, "the alerts, by promtool", () => {
  test("fire where they should, and not where they should not", () => {
    const folder = mkdtempSync(join(tmpdir(), "postern-alerts-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { spec } = parse(readFileSync(monitoring("prometheus-rule.yaml"), "utf8"));
    writeFileSync(join(folder, "rules.yaml"), stringify(spec));
    copyFileSync(monitoring("alerts.test.yaml"), join(folder, "alerts.test.yaml"));
    const said = execFileSync("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: folder });
    expect(String(said)).toContain("SUCCESS");
  });
});

test("each alert has a test that it fires, one that it does not, and a runbook", () => {
  const { tests } = parse(readFileSync(monitoring("alerts.test.yaml"), "utf8")) as {
    tests: { name: string }[];
  };
  const names = tests.map(({ name }) => name);
  const alerts = alertRules().map(({ alert }) => alert);
  expect(names.toSorted()).toEqual(
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
