import { expect, test } from "vitest";
import { clockFinding, versionFinding } from "./doctor-cluster.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [0, "ok", "In sync."],
  [900, "ok", "In sync."],
  [-20_000, "ok", "19 s apart."],
  [45_000, "warning", "44 s apart."],
  [-3_600_000, "failed", "3599 s apart."],
])("a clock that is %i ms off is %s", (offMs, result, found) => {
  const finding = clockFinding("Azure", now + offMs, now);
  expect(finding).toMatchObject({ check: "clock skew", about: "Azure", result, found });
  expect(finding.remedy === undefined).toBe(result === "ok");
});

test.each([
  ["1", "29", "v1.29.9", "failed"],
  ["1", "29+", "v1.29.9-eks-1", "failed"],
  ["1", "30+", "v1.30.0-gke.1", "ok"],
  ["1", "36", "v1.36.3", "ok"],
  ["2", "0", "v2.0.0", "ok"],
])("before an installation Kubernetes %s.%s (%s) is %s", (major, minor, gitVersion, result) => {
  const finding = versionFinding({ major, minor, gitVersion }, "cluster");
  const found = `The cluster runs Kubernetes ${gitVersion}.`;
  expect(finding).toMatchObject({ check: "Kubernetes version", result, found });
  const remedy = "Upgrade the cluster: Postern needs Kubernetes 1.30 or later.";
  expect(finding.remedy).toBe(result === "failed" ? remedy : undefined);
});
