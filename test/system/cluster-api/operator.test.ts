import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Overview } from "@postern/core/dashboard/fleet.ts";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type Cluster, clusterAt } from "../../setup/cluster.ts";
import { describeWhere } from "../../setup/needs.ts";
import { type Plane, startPlane } from "../../setup/plane.ts";
import { installKinds } from "../kinds/install.ts";
import { azureClusterObject, clusterObject, controlPlaneObject } from "./objects.ts";

const bin = fileURLToPath(new URL("../../../packages/postern/bin/postern.js", import.meta.url));
const given = inject("cluster");

describe("postern operator for Cluster API", () => {
  describeWhere("missing" in given ? given.missing : undefined, "on a bare API server", () => {
    let plane: Plane;
    let cluster: Cluster;
    beforeAll(async () => {
      plane = await startPlane();
      cluster = clusterAt(plane.address);
    }, 120_000);
    afterAll(() => plane?.stop());

    function start(flags: string[]) {
      const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
      const anywhere = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"];
      const args = ["--kubeconfig", cluster.kubeconfig, ...anywhere];
      const child = spawn(process.execPath, [bin, "operator", ...args, ...flags], {
        env: Object.fromEntries(clean),
        stdio: ["ignore", "ignore", "pipe"],
      });
      let log = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const started = () =>
        JSON.parse(log.split("\n").find((line) => line.includes('"msg":"started"')) ?? "{}") as {
          pages?: string;
          dashboard?: string;
        };
      const ready = async () => {
        const { pages } = started();
        if (pages === undefined) return undefined;
        const response = await fetch(`${pages}/readyz?verbose`);
        return { status: response.status, text: await response.text() };
      };
      return { child, ready, started, log: () => log };
    }

    const exitOf = async (child: ChildProcess) =>
      child.exitCode === null ? (await once(child, "exit"))[0] : child.exitCode;

    const make = async (path: string, object: object) => {
      const { status, body } = await cluster.request<{ metadata: { uid: string } }>(
        "POST",
        path,
        object,
      );
      expect(status, JSON.stringify(body)).toBe(201);
      return body;
    };

    test("is ready without the kinds and says so, and begins when they come", async () => {
      const { child, ready, started, log } = start([
        ...["--role", "cluster-api", "--leader-elect-resource-namespace", "default"],
        ...["--management-cluster-name", "mc", "--management-cluster-namespace", "default"],
        ...["--azure-cluster-gates", ",GSPrivateLinksReady,"],
      ]);
      await expect.poll(ready, { timeout: 30_000 }).toMatchObject({
        status: 200,
        text: expect.stringMatching(
          /\[\+\]cache-azureclusters ok: not served, waiting for its CRD/,
        ),
      });
      const text = () => ready().then((page) => page?.text);
      await expect.poll(text).toContain("[+]leader ok: leading");
      expect(log()).toContain(
        '"clusterApi":{"managementCluster":{"namespace":"default","name":"mc"}',
      );

      await installKinds(cluster);
      const infrastructure = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default";
      for (const name of ["mc", "wc"])
        await make(`${infrastructure}/azureclusters`, azureClusterObject("default", name));
      const path = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";
      const owner = await make(path, clusterObject("default", "wc"));
      const controlPlane = controlPlaneObject(owner as Parameters<typeof controlPlaneObject>[0]);
      const at =
        "/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/default/kubeadmcontrolplanes";
      await make(at, controlPlane);
      const annotations = async () =>
        (await cluster.request<{ metadata: { annotations?: object } }>("GET", `${at}/wc`)).body
          .metadata.annotations;
      await expect.poll(annotations, { timeout: 60_000 }).toMatchObject({
        "cluster.x-k8s.io/paused": "true",
        "postern.io/paused-for": "GSPrivateLinksReady",
      });
      // It has no credential of its own, and needs none. Its dashboard shows what Kubernetes knows.
      const overview = await fetch(`${started().dashboard}/api/overview`);
      const { clusters, unread } = ((await overview.json()) as Overview).picture;
      expect(clusters.map(({ key }) => key).toSorted()).toEqual(["default/mc", "default/wc"]);
      expect(unread[0]?.why).toContain("CredentialMissing");
      child.kill("SIGTERM");
      expect(await exitOf(child)).toBe(0);
    }, 150_000);

    test.each<[string, string[], RegExp]>([
      [
        "a role without its management cluster",
        ["--role", "cluster-api"],
        /requires --management-cluster-name and --management-cluster-namespace/,
      ],
      [
        "a link that there is none of",
        ["--management-cluster-name", "mc", "--management-link", "tunnel"],
        /Allowed choices are gateway, ingress, both/,
      ],
    ])("with %s it ends at once and says what to give", async (_what, flags, line) => {
      const { child, log } = start(flags);
      expect(await exitOf(child)).toBe(64);
      expect(log()).toMatch(line);
      expect(log().trim().split("\n")).toHaveLength(1);
    });
  });
});
