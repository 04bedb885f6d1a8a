import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import type { Overview } from "@postern/core/dashboard/fleet.ts";
import type { Picture } from "@postern/core/dashboard/picture.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { expect, onTestFinished, test } from "vitest";
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

/** Simulated time goes by this much faster: Azure is slow, and the test need not be. */
const hurry = 20;

describeHosted("postern operator", (start) => {
  function grant({ azure }: HostedWorld, scope: string, { objectId }: Application) {
    const id = `${scope}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`;
    azure.simulator.change(id, {
      properties: { roleDefinitionId: contributor, principalId: objectId },
    });
  }

  /** Let the simulator's clock run until the test ends. */
  function run({ azure }: HostedWorld) {
    const timer = setInterval(() => azure.simulator.moveClock(50 * hurry), 50);
    onTestFinished(() => clearInterval(timer));
  }

  async function operator(world: HostedWorld, env: Record<string, string>, flags: string[] = []) {
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { simulator } = world.azure;
    const ca = join(folder, "ca.pem");
    await writeFile(ca, simulator.ca ?? "");
    const policy = join(folder, "policy.yaml");
    await writeFile(policy, "namespaces: [{ namespace: clusters, domains: [example.com] }]\n");
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
    const anywhere = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"];
    const allowed = ["--tenant-policy", policy];
    const args = ["--kubeconfig", world.cluster.kubeconfig, ...anywhere, ...allowed];
    const child = spawn(process.execPath, [bin, "operator", ...args, ...flags], {
      env: {
        ...Object.fromEntries(clean),
        NODE_EXTRA_CA_CERTS: ca,
        AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
        AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
        AZURE_TENANT_ID: tenant,
        ...env,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const stop = async () => {
      child.kill("SIGTERM");
      return child.exitCode ?? (await once(child, "exit"))[0];
    };
    return { stop, log: () => log };
  }

  /** What only the dashboard asks for: whole subscriptions, and a kind once more after its cache has listed it. */
  async function looks({ azure, cluster }: HostedWorld) {
    const lists = await cluster.audit(
      ({ verb, objectRef, userAgent }) =>
        verb === "list" &&
        objectRef?.resource === "azureprivatelinkservices" &&
        userAgent?.startsWith("postern/") === true,
    );
    const whole = /^\/subscriptions\/[^/]+\/providers\/Microsoft.Network\/[^/]+$/i;
    return {
      kubernetes: lists.length,
      azure: azure.simulator.log.entries({}).filter(({ path }) => whole.test(path)).length,
      refused: azure.simulator.log.entries({ status: 403 }).length,
    };
  }

  /** Who asked for anything in a group. */
  function askers({ azure }: HostedWorld, group: string): string[] {
    const entries = azure.simulator.log.entries({ path: `${group}/*` });
    return [...new Set(entries.map(({ identity }) => identity))];
  }

  test("makes a HostedCluster reachable, each side by its own identity, shows it to who looks, and takes it down", async () => {
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
    const { simulator } = world.azure;
    const before = world.azure.ids();
    const { body } = await world.cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    simulator.directory.trustIssuer({ issuer, keys: body.keys });
    const ours = simulator.directory.addApplication({ tenant, secrets: [{ value: "hush" }] });
    const subject = "system:serviceaccount:clusters-whole:control-plane-operator";
    const audiences = ["api://AzureADTokenExchange"];
    const guests = simulator.directory.addApplication({
      tenant,
      federated: [{ name: "management", issuer, subject, audiences }],
    });
    grant(world, managementGroup, ours);
    grant(world, guestGroup, guests);

    run(world);
    const { stop, log } = await operator(world, {
      AZURE_CLIENT_ID: ours.appId,
      AZURE_CLIENT_SECRET: "hush",
      AZURE_SUBSCRIPTION_ID: managementSubscription,
      AZURE_RESOURCE_GROUP: "management",
    });
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const azure = {
      azureAuthenticationConfig: {
        azureAuthenticationConfigType: "WorkloadIdentities",
        workloadIdentities: { controlPlaneOperator: { clientID: guests.appId } },
      },
    };
    const cluster = await world.make(hostedClusterObject("clusters", "whole", { azure }));
    const now = () => world.get("HostedCluster", "clusters", "whole");
    const available = async () => world.condition(await now(), "AzurePrivateLinkServiceAvailable");
    await expect.poll(available, { timeout: 90_000 }).toBe("True AzureSuccess");
    expect(askers(world, `${managementGroup}/*/privateLinkServices`)).toEqual([ours.objectId]);
    expect(askers(world, guestGroup)).toEqual([guests.objectId]);
    expect(log()).not.toMatch(/eyJ|hush/);

    const unseen = await looks(world);
    expect(unseen).toMatchObject({ azure: 0, refused: 0 });
    const started = log()
      .split("\n")
      .find((line) => line.includes('"msg":"started"'));
    const { dashboard } = JSON.parse(started ?? "{}") as { dashboard: string };
    expect(await (await fetch(dashboard)).text()).toContain("<title>Postern</title>");
    const overview = async () =>
      ((await (await fetch(`${dashboard}/api/overview`)).json()) as Overview).picture;
    const seen = await overview();
    // This Azure has no machines behind the load balancer, which is the only thing that is wrong.
    expect(seen.clusters).toMatchObject([
      {
        key: "clusters/whole",
        path: ["ok", "ok", "ok", "absent"],
        causes: [{ reason: "NoBackends" }],
      },
    ]);
    expect(seen.clusters[0]?.linkServices).toEqual([expect.stringMatching(/^pls-/)]);
    // The operator's own role does not reach into the group of the guest.
    expect(seen.unread.map(({ what }) => what)).toContain(`endpoints in ${guestGroup}`);
    const seenOnce = await looks(world);
    expect(seenOnce.kubernetes).toBe(unseen.kubernetes + 1);
    expect(seenOnce.refused).toBeGreaterThan(0);
    const named = ({ unread }: Picture) =>
      unread.map(({ what, why }) => `${what}: ${why}`).toSorted();
    expect(named(await overview())).toEqual(named(seen));
    const seenTwice = await looks(world);
    expect(seenTwice.refused).toBe(seenOnce.refused);

    await world.remove(cluster);
    await expect.poll(now, { timeout: 120_000 }).toBeUndefined();
    const made = (id: string) => !before.includes(id) && !id.includes("roleassignments");
    await expect.poll(() => world.azure.ids().filter(made), { timeout: 60_000 }).toEqual([]);
    // Nobody has looked meanwhile, while everything changed.
    expect(await looks(world)).toEqual(seenTwice);
    expect(await stop()).toBe(0);
  }, 240_000);
});
