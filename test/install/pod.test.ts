import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { realWorld, wordsFor } from "../appliance/run-agent.ts";
import { findOrBuildHelm } from "../setup/binaries.ts";
import { describeWhere } from "../setup/needs.ts";
import { actionsOf } from "../system/cluster-api/rights.ts";
import {
  guestGroup,
  location,
  managementGroup,
  managementNetwork,
  managementSubscription,
  tenant,
} from "../system/hosted/azure.ts";
import { hostedClusterObject } from "../system/hosted/objects.ts";
import { describeHosted, type HostedWorld } from "../system/hosted/world.ts";
import { refusedForGood } from "../system/manifests.ts";
import {
  buildRootfs,
  imageConfig,
  namedHost,
  type PodOwner,
  runPod,
  startContainer,
  whyNoContainers,
} from "./pod.ts";
import { runPostern } from "./run-postern.ts";

const issuer = "https://kubernetes.default.svc";
const audiences = ["api://AzureADTokenExchange"];
const account = "system:serviceaccount:postern:postern-operator";

/** Simulated time goes by this much faster: Azure is slow, and the test need not be. */
const hurry = 20;

test("the image starts Node with the flags of the bench, and by no root user", () => {
  const { entrypoint, user } = imageConfig();
  expect(entrypoint).toContain("--max-semi-space-size=2");
  expect(entrypoint).toContain("--heap-growing-percent=20");
  expect(user).toBe("65532:65532");
});

const folder = mkdtempSync(join(tmpdir(), "postern-pod-"));
const rootfs = join(folder, "rootfs");
const helm = await findOrBuildHelm((line) => void process.stderr.write(`${line}\n`));
beforeAll(() => {
  if (whyNoContainers() === undefined) buildRootfs(rootfs);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

describeWhere(whyNoContainers(), "a container of the agent", () => {
  // An agent serves the machine that it runs on, which is an appliance and no node of a cluster: it has no pod.
  test("joins its pool by the identity of its machine, and leaves it at SIGTERM within the time of its unit", async () => {
    const world = await realWorld();
    const id = world.machine("fw");
    const health = createHttpServer((_, response) => void response.end()).listen(0, "127.0.0.1");
    await once(health, "listening");
    onTestFinished(() => void health.close());
    const { port } = health.address() as { port: number };
    const args = ["agent", "run", ...(await wordsFor(world, id))];
    const agent = startContainer(
      {
        name: `agent-${crypto.randomUUID().slice(0, 8)}`,
        args: [
          ...args,
          ...["--health-target", `http://127.0.0.1:${port}/`],
          ...["--health-listen", "127.0.0.1:0", "--tunnel", "none"],
        ],
        env: {},
      },
      { bundle: join(folder, "agent"), rootfs },
    );
    onTestFinished(() => agent.signal("KILL"));
    await expect.poll(() => world.members().length, { timeout: 60_000 }).toBe(1);
    agent.signal("TERM");
    expect(await agent.ended, agent.log()).toBe(0);
    expect(world.members()).toEqual([]);
  }, 180_000);
});

describeWhere(whyNoContainers(), "a pod of the operator", () => {
  describeHosted("under runc", (start) => {
    /** Gives an identity one of the roles that the guide gives, in one group and nowhere else. */
    function grant(
      { azure }: HostedWorld,
      scope: string,
      { objectId }: Application,
      role: "management" | "guest",
    ) {
      const authorization = `${scope}/providers/Microsoft.Authorization`;
      const definition = `${authorization}/roleDefinitions/${crypto.randomUUID()}`;
      azure.simulator.change(definition, {
        properties: {
          roleName: role,
          assignableScopes: [scope],
          permissions: [{ actions: actionsOf(role), notActions: [] }],
        },
      });
      azure.simulator.change(`${authorization}/roleAssignments/${crypto.randomUUID()}`, {
        properties: { roleDefinitionId: definition, principalId: objectId },
      });
    }

    /** A world with a cloud provider, and the identities of the operator and of one hosted cluster. */
    async function startWorld(cluster: string) {
      const world = await start({
        features: (sides) => [
          cloudProviderFeature({
            arm: (reconcile) => sides.management(reconcile),
            managementGroup,
            subnetId: `${managementNetwork}/subnets/nodes`,
            location,
          }),
        ],
        simulator: { https: true, retryAfterSeconds: 1 },
      });
      const { simulator } = world.azure;
      const { body } = await world.cluster.request<Pick<TrustedIssuer, "keys">>(
        "GET",
        "/openid/v1/jwks",
        undefined,
        { accept: "application/jwk-set+json" },
      );
      simulator.directory.trustIssuer({ issuer, keys: body.keys });
      const trusting = (name: string, subject: string) =>
        simulator.directory.addApplication({
          tenant,
          federated: [{ name, issuer, subject, audiences }],
        });
      const ours = trusting("operator", account);
      const guests = trusting(
        "guest",
        `system:serviceaccount:clusters-${cluster}:control-plane-operator`,
      );
      grant(world, managementGroup, ours, "management");
      grant(world, guestGroup, guests, "guest");
      const timer = setInterval(() => simulator.moveClock(50 * hurry), 50);
      onTestFinished(() => clearInterval(timer));
      return { world, ours, guests };
    }

    /** The settings of the guide, and where the simulator is. */
    async function writeValues(
      { azure }: HostedWorld,
      ours: Application,
      further: { azure?: object; [setting: string]: unknown },
      host = "127.0.0.1",
    ): Promise<string> {
      const { simulator } = azure;
      const file = join(folder, `values-${crypto.randomUUID()}.yaml`);
      const values = {
        image: { repository: "registry.example.com/postern" },
        hosted: { replaceHyperShift: true },
        tenantPolicy: { namespaces: [{ namespace: "clusters", domains: ["example.com"] }] },
        additionalTrustBundle: simulator.ca,
        metrics: { port: await freePort() },
        health: { port: await freePort() },
        extraArgs: ["--no-dashboard"],
        extraEnv: [
          { name: "AZURE_RESOURCE_MANAGER_ENDPOINT", value: simulator.url },
          {
            name: "AZURE_AUTHORITY_HOST",
            value: simulator.httpsUrl?.replace("127.0.0.1", host),
          },
        ],
        ...further,
        azure: {
          subscriptionId: managementSubscription,
          resourceGroup: "management",
          clientId: ours.appId,
          ...further.azure,
        },
      };
      writeFileSync(file, stringify(values));
      return file;
    }

    /** A hosted cluster is created, becomes available, and is deleted with everything that it had. */
    async function serves(world: HostedWorld, name: string, guests: Application) {
      await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
      const identity = {
        azureAuthenticationConfig: {
          azureAuthenticationConfigType: "WorkloadIdentities",
          workloadIdentities: { controlPlaneOperator: { clientID: guests.appId } },
        },
      };
      const made = await world.make(hostedClusterObject("clusters", name, { azure: identity }));
      const now = () => world.get("HostedCluster", "clusters", name);
      const available = async () =>
        world.condition(await now(), "AzurePrivateLinkServiceAvailable");
      await expect.poll(available, { timeout: 120_000 }).toBe("True AzureSuccess");
      await world.remove(made);
      await expect.poll(now, { timeout: 180_000 }).toBeUndefined();
      expect(await refusedForGood(world.cluster, account)).toEqual([]);
    }

    async function freePort(): Promise<number> {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as { port: number };
      server.close();
      return port;
    }

    test("becomes ready by a workload identity, serves a cluster with the permissions of the installation, and ends within its grace period", async () => {
      const { world, ours, guests } = await startWorld("pod");
      const { cluster } = world;
      const values = await writeValues(world, ours, {});
      const installed = await runPostern(
        ...["install", "--kubeconfig", cluster.kubeconfig, "--values", values],
        // The test has installed the kinds before.
        ...["--no-wait-until-available", "--force-conflicts"],
      );
      expect(installed.err).toBe("");
      const { body: deployment } = await cluster.request<PodOwner>(
        "GET",
        "/apis/apps/v1/namespaces/postern/deployments/postern-operator",
      );
      const pod = await runPod(deployment, cluster, {
        bundle: join(folder, "pod"),
        rootfs,
        tenant,
      });
      onTestFinished(() => pod.kill());
      await expect.poll(() => pod.probe("readiness"), { timeout: 60_000 }).toBe(200);
      expect(await pod.probe("liveness")).toBe(200);

      await serves(world, "pod", guests);

      const lease = "/apis/coordination.k8s.io/v1/namespaces/postern/leases/postern-operator";
      const holder = async () =>
        (await cluster.request<{ spec: { holderIdentity?: string } }>("GET", lease)).body.spec
          .holderIdentity;
      expect(await holder()).toContain(pod.name);
      expect(await pod.stop()).toBe(0);
      expect(await holder()).toBe("");
      expect(pod.log()).toContain('"msg":"stopped"');
    }, 480_000);

    test("of a chart becomes ready by a projected token as any user, serves a cluster, and helm test runs doctor beside it", async (context) => {
      if ("missing" in helm) return context.skip(helm.missing);
      const { world, ours, guests } = await startWorld("chart");
      const { cluster } = world;
      const further = {
        azure: { tenantId: tenant, projectedToken: true },
        openshift: true,
        // The tests have installed the kinds before.
        crds: { enabled: false },
      };
      // A name of /etc/hosts: the image has what resolves names.
      const values = await writeValues(world, ours, further, namedHost);
      await runPostern("uninstall", "--force", "--kubeconfig", cluster.kubeconfig);
      const helmEnds = async (...args: string[]) => {
        const connected = ["--kubeconfig", cluster.kubeconfig, "-n", "postern"];
        const child = spawn(helm.helm, [...args, ...connected], {
          stdio: ["ignore", "pipe", "pipe"],
        });
        let output = "";
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding("utf8").on("data", (text: string) => {
            output += text;
          });
        await once(child, "close");
        return { code: child.exitCode, output };
      };
      const chart = join(import.meta.dirname, "../../charts/postern");
      const installed = await helmEnds(
        "install",
        "postern",
        chart,
        "-f",
        values,
        "--create-namespace",
      );
      expect(installed.code, installed.output).toBe(0);
      const { body: deployment } = await cluster.request<PodOwner>(
        "GET",
        "/apis/apps/v1/namespaces/postern/deployments/postern-operator",
      );
      const operator = await runPod(deployment, cluster, {
        bundle: join(folder, "chart"),
        rootfs,
        tenant,
      });
      onTestFinished(() => operator.kill());
      await expect.poll(() => operator.probe("readiness"), { timeout: 60_000 }).toBe(200);

      await serves(world, "chart", guests);

      const testing = helmEnds("test", "postern", "--timeout", "2m");
      const pods = "/api/v1/namespaces/postern/pods/postern-test";
      type PodObject = PodOwner["spec"]["template"] & { metadata: { name: string } };
      const find = () => cluster.request<PodObject>("GET", pods);
      await expect.poll(async () => (await find()).status, { timeout: 30_000 }).toBe(200);
      const { body: pod } = await find();
      const owner = {
        metadata: { name: pod.metadata.name, namespace: "postern" },
        spec: { template: pod },
      };
      const doctor = await runPod(owner, cluster, {
        bundle: join(folder, "doctor"),
        rootfs,
        tenant,
      });
      const code = await doctor.ended;
      // What a kubelet reports.
      await cluster.request(
        "PATCH",
        `${pods}/status`,
        { status: { phase: code === 0 ? "Succeeded" : "Failed" } },
        { contentType: "application/merge-patch+json" },
      );
      const tested = await testing;
      expect(code, doctor.log()).toBe(0);
      expect(tested.code, tested.output).toBe(0);
      expect(tested.output).toMatch(/Phase:\s+Succeeded/);
      expect(await operator.stop()).toBe(0);
      expect((await helmEnds("uninstall", "postern")).code).toBe(0);
    }, 480_000);
  });
});
