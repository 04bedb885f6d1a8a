import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { KubeObject } from "@postern/core/kind.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuildHelm } from "../setup/binaries.ts";
import { type Cluster, clusterAt, describeOnCluster } from "../setup/cluster.ts";
import { type Plane, startPlane } from "../setup/plane.ts";
import { runPostern } from "./run-postern.ts";

const root = join(import.meta.dirname, "../..");
const helm = await findOrBuildHelm((line) => void process.stderr.write(`${line}\n`));
const link = "azureprivatelinkservices.hypershift.openshift.io";
const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${link}`;
const operator = "/apis/apps/v1/namespaces/postern/deployments/postern-operator";

describeOnCluster("the chart on a cluster", () => {
  let plane: Plane;
  let cluster: Cluster;
  beforeAll(async () => {
    plane = await startPlane();
    cluster = clusterAt(plane.address);
  }, 120_000);
  afterAll(() => plane?.stop());

  const run = (...args: string[]) => {
    const program = "helm" in helm ? helm.helm : "";
    const connected = ["--kubeconfig", cluster.kubeconfig, "-n", "postern"];
    const { status, stderr } = spawnSync(program, [...args, ...connected], { encoding: "utf8" });
    return { status, stderr };
  };
  const chart = [join(root, "charts/postern"), "-f", join(root, "deploy/values/hosted.yaml")];
  const get = async <T extends KubeObject>(path: string) =>
    (await cluster.request<T>("GET", path)).body;

  test("is installed, upgraded, rolled back and uninstalled; the kinds stay", async (context) => {
    if ("missing" in helm) return context.skip(helm.missing);
    const values = ["--set", "createNamespace=false"];
    const installed = run("install", "postern", ...chart, "--create-namespace", ...values);
    expect(installed.stderr).not.toContain("Error");
    expect(installed.status).toBe(0);
    const argsOf = async () => JSON.stringify(await get(operator));
    expect(await argsOf()).toContain("--role=all");

    const upgraded = run("upgrade", "postern", ...chart, ...values, "--set", "policy=observe-only");
    expect(upgraded.status, upgraded.stderr).toBe(0);
    expect(await argsOf()).toContain("--policy=observe-only");

    const rolledBack = run("rollback", "postern", "1");
    expect(rolledBack.status, rolledBack.stderr).toBe(0);
    expect(await argsOf()).toContain("--policy=sync");

    const removed = run("uninstall", "postern");
    expect(removed.status, removed.stderr).toBe(0);
    expect((await cluster.request("GET", operator)).status).toBe(404);
    expect((await cluster.request("GET", crd)).status).toBe(200);
  });

  test("what Helm installed is not taken over by postern install unless it is told to", async (context) => {
    if ("missing" in helm) return context.skip(helm.missing);
    const installed = run("install", "postern", ...chart, "--set", "createNamespace=false");
    expect(installed.status, installed.stderr).toBe(0);
    const flags = [
      "--kubeconfig",
      cluster.kubeconfig,
      "-f",
      chart[2] ?? "",
      "--image",
      "elsewhere/postern:v2",
    ];
    const refused = await runPostern("install", ...flags, "--no-wait-until-available");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/nothing was changed\. .*conflict.*helm.*\. Use what installed it/);
    const upgrade = await runPostern("upgrade", "--kubeconfig", cluster.kubeconfig);
    expect(upgrade.code).toBe(64);
    expect(upgrade.err).toContain(
      "for an installation by Helm, use helm upgrade or helm uninstall",
    );
  });
});
