import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { describeWhere } from "../setup/needs.ts";
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
import { buildRootfs, imageConfig, type PodOwner, runPod, whyNoContainers } from "./pod.ts";
import { runPostern } from "./run-postern.ts";

const issuer = "https://kubernetes.default.svc";
const audiences = ["api://AzureADTokenExchange"];
const contributor =
  "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c";
const account = "system:serviceaccount:postern:postern-operator";

/** Simulated time goes by this much faster: Azure is slow, and the test need not be. */
const hurry = 20;

test("the image starts Node with the flags of the bench, and by no root user", () => {
  const { entrypoint, user } = imageConfig();
  expect(entrypoint).toContain("--max-semi-space-size=2");
  expect(entrypoint).toContain("--heap-growing-percent=20");
  expect(user).toBe("65532:65532");
});

describeWhere(whyNoContainers(), "a pod of the operator", () => {
  describeHosted("under runc", (start) => {
    function grant({ azure }: HostedWorld, scope: string, { objectId }: Application) {
      const id = `${scope}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`;
      azure.simulator.change(id, {
        properties: { roleDefinitionId: contributor, principalId: objectId },
      });
    }

    async function freePort(): Promise<number> {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as { port: number };
      server.close();
      return port;
    }

    test("becomes ready by a workload identity, serves a cluster with the permissions of the installation, and ends within its grace period", async () => {
      const folder = mkdtempSync(join(tmpdir(), "postern-pod-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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
      const { cluster, azure } = world;
      const { simulator } = azure;
      const { body } = await cluster.request<Pick<TrustedIssuer, "keys">>(
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
      const guests = trusting("guest", "system:serviceaccount:clusters-pod:control-plane-operator");
      grant(world, managementGroup, ours);
      grant(world, guestGroup, guests);

      const values = join(folder, "values.yaml");
      writeFileSync(
        values,
        stringify({
          image: { repository: "registry.example.com/postern" },
          azure: {
            subscriptionId: managementSubscription,
            resourceGroup: "management",
            clientId: ours.appId,
          },
          hosted: { replaceHyperShift: true },
          tenantPolicy: { namespaces: [{ namespace: "clusters", domains: ["example.com"] }] },
          additionalTrustBundle: simulator.ca,
          metrics: { port: await freePort() },
          health: { port: await freePort() },
          extraArgs: ["--no-dashboard"],
          extraEnv: [
            { name: "AZURE_RESOURCE_MANAGER_ENDPOINT", value: simulator.url },
            { name: "AZURE_AUTHORITY_HOST", value: simulator.httpsUrl },
          ],
        }),
      );
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
      const rootfs = join(folder, "rootfs");
      buildRootfs(rootfs);
      const timer = setInterval(() => simulator.moveClock(50 * hurry), 50);
      onTestFinished(() => clearInterval(timer));
      const pod = await runPod(deployment, cluster, {
        bundle: join(folder, "pod"),
        rootfs,
        tenant,
      });
      onTestFinished(() => pod.kill());
      await expect.poll(() => pod.probe("readiness"), { timeout: 60_000 }).toBe(200);
      expect(await pod.probe("liveness")).toBe(200);

      await cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
      const identity = {
        azureAuthenticationConfig: {
          azureAuthenticationConfigType: "WorkloadIdentities",
          workloadIdentities: { controlPlaneOperator: { clientID: guests.appId } },
        },
      };
      const made = await world.make(hostedClusterObject("clusters", "pod", { azure: identity }));
      const now = () => world.get("HostedCluster", "clusters", "pod");
      const available = async () =>
        world.condition(await now(), "AzurePrivateLinkServiceAvailable");
      await expect.poll(available, { timeout: 120_000 }).toBe("True AzureSuccess");
      await world.remove(made);
      await expect.poll(now, { timeout: 180_000 }).toBeUndefined();
      expect(await refusedForGood(cluster, account)).toEqual([]);

      const lease = "/apis/coordination.k8s.io/v1/namespaces/postern/leases/postern-operator";
      const holder = async () =>
        (await cluster.request<{ spec: { holderIdentity?: string } }>("GET", lease)).body.spec
          .holderIdentity;
      expect(await holder()).toContain(pod.name);
      expect(await pod.stop()).toBe(0);
      expect(await holder()).toBe("");
      expect(pod.log()).toContain('"msg":"stopped"');
    }, 480_000);
  });
});
