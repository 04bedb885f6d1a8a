import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { expect, onTestFinished, test } from "vitest";
import type { User } from "../../setup/control-plane.ts";
import { type SlowArm, slowArm } from "../../setup/slow-arm.ts";
import {
  guestGroup,
  location,
  managementGroup,
  managementNetwork,
  managementSubscription,
  tenant,
} from "./azure.ts";
import { hostedClusterObject } from "./objects.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const bin = fileURLToPath(new URL("../../../packages/postern/bin/postern.js", import.meta.url));
const issuer = "https://kubernetes.default.svc";
const contributor =
  "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c";
const rounds = 2;

/** One replica: its process, its way to Azure, and as whom it comes to the API server. */
interface Replica {
  child: ChildProcess;
  arm: SlowArm;
  user: User;
  identity: string;
  log: () => string;
  /** Freeze the process in the middle of a handshake with Azure, after it has logged a step that is a write. */
  freezeAtWrite(): Promise<void>;
}

const losses = ({ log }: Replica) => log().split("lease lost").length - 1;

describeHosted("a leader that was frozen", (start) => {
  async function replica(world: HostedWorld, user: User, app: object): Promise<Replica> {
    const { cluster, azure } = world;
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const arm = await slowArm(azure.simulator, 500);
    azure.simulator.directory.acceptAudience(arm.url);
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    const admins = await readFile(cluster.kubeconfig, "utf8");
    const kubeconfig = await file(
      "kubeconfig",
      admins.replaceAll(cluster.tokens.admin, cluster.tokens[user]),
    );
    const ca = await file("ca.pem", `${azure.simulator.ca}\n${arm.ca}`);
    const policy = "namespaces: [{ namespace: clusters, domains: [example.com] }]\n";
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
    const child = spawn(
      process.execPath,
      [
        ...[bin, "operator", "--kubeconfig", kubeconfig],
        ...["--listen", "127.0.0.1:0", "--no-dashboard"],
        ...["--tenant-policy", await file("policy.yaml", policy)],
        ...["--leader-elect-resource-namespace", "default"],
        ...["--leader-elect-lease-duration", "4s", "--leader-elect-renew-deadline", "3s"],
        ...["--leader-elect-retry-period", "500ms"],
      ],
      {
        env: {
          ...Object.fromEntries(clean),
          POD_NAME: user,
          NODE_EXTRA_CA_CERTS: ca,
          AZURE_RESOURCE_MANAGER_ENDPOINT: arm.url,
          AZURE_AUTHORITY_HOST: azure.simulator.httpsUrl ?? "",
          AZURE_TENANT_ID: tenant,
          AZURE_SUBSCRIPTION_ID: managementSubscription,
          AZURE_RESOURCE_GROUP: "management",
          ...app,
        },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let log = "";
    let atWrite: (() => void) | undefined;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (/"do":"(create DNS zone|link network|create record)"/.test(text)) arm.onHello = atWrite;
    });
    const freezeAtWrite = () =>
      new Promise<void>((frozen) => {
        atWrite = () => {
          child.kill("SIGSTOP");
          arm.onHello = undefined;
          atWrite = undefined;
          frozen();
        };
      });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, arm, user, identity: `${user}_`, log: () => log, freezeAtWrite };
  }

  test("sends nothing that waited for a connection, to Azure or to Kubernetes", async () => {
    const world = await start({
      features: (armClients) => [
        cloudProviderFeature({
          arm: (reconcile) => armClients.management(reconcile),
          managementGroup,
          subnetId: `${managementNetwork}/subnets/nodes`,
          location,
        }),
      ],
      simulator: { https: true, retryAfterSeconds: 1 },
    });
    const { cluster } = world;
    const { simulator } = world.azure;
    const timer = setInterval(() => simulator.moveClock(1_000), 50);
    onTestFinished(() => clearInterval(timer));
    const { body } = await cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    simulator.directory.trustIssuer({ issuer, keys: body.keys });
    const ours = simulator.directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
    const names = Array.from({ length: rounds * 2 }, (_, n) => `frozen${n}`);
    const guests = simulator.directory.addApplication({
      tenant,
      federated: names.map((name) => ({
        name,
        issuer,
        audiences: ["api://AzureADTokenExchange"],
        subject: `system:serviceaccount:clusters-${name}:control-plane-operator`,
      })),
    });
    for (const [scope, { objectId: principalId }] of [
      [managementGroup, ours],
      [guestGroup, guests],
    ] as const)
      simulator.change(
        `${scope}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`,
        { properties: { roleDefinitionId: contributor, principalId } },
      );
    await cluster.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "frozen-leader" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "cluster-admin",
      },
      subjects: ["alice", "bob"].map((name) => ({
        kind: "User",
        apiGroup: "rbac.authorization.k8s.io",
        name,
      })),
    });
    await cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const app = { AZURE_CLIENT_ID: ours.appId, AZURE_CLIENT_SECRET: "hush" };
    const replicas = [await replica(world, "alice", app), await replica(world, "bob", app)];

    const lease = async () =>
      (
        await cluster.request<{ spec?: { holderIdentity?: string } }>(
          "GET",
          "/apis/coordination.k8s.io/v1/namespaces/default/leases/postern-operator",
        )
      ).body.spec?.holderIdentity;
    const leader = async () => {
      const holder = await lease();
      return replicas.find(({ identity }) => holder?.startsWith(identity));
    };
    const make = (name: string) =>
      world.make(
        hostedClusterObject("clusters", name, {
          azure: {
            azureAuthenticationConfig: {
              azureAuthenticationConfigType: "WorkloadIdentities",
              workloadIdentities: { controlPlaneOperator: { clientID: guests.appId } },
            },
          },
        }),
      );
    const available = async (name: string) =>
      world.condition(
        await world.get("HostedCluster", "clusters", name),
        "AzurePrivateLinkServiceAvailable",
      );

    await expect.poll(leader, { timeout: 60_000 }).toBeDefined();
    for (let round = 0; round < rounds; round++) {
      const frozen = (await leader()) as Replica;
      const other = replicas.find((each) => each !== frozen) as Replica;
      const made = names.slice(round * 2, round * 2 + 2);
      const isFrozen = frozen.freezeAtWrite();
      for (const name of made) await make(name);
      await isFrozen;
      await expect.poll(leader, { timeout: 60_000 }).toBe(other);
      const lost = losses(frozen);
      const takenOver = new Date();
      frozen.child.kill("SIGCONT");
      await expect.poll(() => losses(frozen)).toBeGreaterThan(lost);
      for (const name of made)
        await expect.poll(() => available(name), { timeout: 120_000 }).toBe("True AzureSuccess");
      expect(await leader()).toBe(other);
      expect(frozen.arm.writes.filter(({ at }) => at >= takenOver.getTime())).toEqual([]);
      const kubeWrites = await cluster.audit(
        ({ verb, user, objectRef, requestReceivedTimestamp }) =>
          user.username === frozen.user &&
          !["get", "list", "watch"].includes(verb) &&
          objectRef?.resource !== "leases" &&
          Date.parse(requestReceivedTimestamp) >= takenOver.getTime(),
      );
      expect(kubeWrites).toEqual([]);
    }
  }, 400_000);
});
