import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { realClock } from "@postern/core/clock.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { grantFeature } from "postern/hosted/grant/feature.ts";
import { linkFeature } from "postern/hosted/link/feature.ts";
import { install } from "postern/install/run-install.ts";
import { defaultSettings, mergeSettings, type Settings } from "postern/install/settings.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import {
  baseZone,
  deleteCluster,
  makeWorkload,
  startDns,
  untilNamed,
  valuesAt,
} from "../system/cluster-api/dns-world.ts";
import { labelNamespace } from "../system/cluster-api/objects.ts";
import { controlPlaneSide } from "../system/hosted/whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "../system/hosted/world.ts";
import { refusedForGood, serviceAccount, untilMay } from "../system/manifests.ts";
import { runPostern } from "./run-postern.ts";

/** What an earlier Postern installed, and a cluster as it left it: its code is not here, only what it wrote. */
const earlier = join(import.meta.dirname, "earlier");
const earlierVersion = "0.0.9";
const valuesOf = (name: string) => join(import.meta.dirname, `../../deploy/values/${name}.yaml`);
const user = "system:serviceaccount:postern:postern-operator";
const link = "azureprivatelinkservices.hypershift.openshift.io";
const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${link}`;
const operator = "/apis/apps/v1/namespaces/postern/deployments/postern-operator";

interface Recorded {
  objects: Thing[];
  azure: Record<string, { type: string; top: JsonObject; properties: JsonObject }>;
}

const patient = { timeout: 20_000, interval: 50 };

/** The manifests had the number of today's version; here they have that of one before. */
function earlierInstallation(name: "hosted" | "cluster-api") {
  const file = name === "hosted" ? "installation.yaml" : "cluster-api.yaml";
  const text = readFileSync(join(earlier, file), "utf8");
  const objects = parseAllDocuments(text.replaceAll("0.1.0", earlierVersion)).map(
    (document) => document.toJS() as KubeObject,
  );
  const given = parse(readFileSync(valuesOf(name), "utf8"));
  return { given, settings: mergeSettings(defaultSettings(), given) as Settings, objects };
}

describeHosted("an installation of an earlier version", (start) => {
  const describeCrd = async ({ cluster }: HostedWorld) => {
    const { body } = await cluster.request<KubeObject & { spec: object }>("GET", crd);
    return { version: body.metadata.annotations?.["postern.io/version"], spec: body.spec };
  };
  const imageOf = async ({ cluster }: HostedWorld) => {
    const { body } = await cluster.request("GET", operator);
    return /"image":"([^"]*)"/.exec(JSON.stringify(body))?.[1];
  };

  /** What the `install` and `upgrade` of the earlier version do. */
  async function installEarlier(
    { cluster }: HostedWorld,
    name: "hosted" | "cluster-api" = "hosted",
  ): Promise<string[]> {
    const lines: string[] = [];
    const kubeconfig = readFileSync(cluster.kubeconfig, "utf8");
    const kube = new KubeClient(await fromKubeconfigText(kubeconfig, cluster.kubeconfig));
    try {
      await install(
        earlierInstallation(name),
        {
          namespace: "postern",
          version: earlierVersion,
          waitUntilAvailable: false,
          waitUntilCrdsEstablished: true,
          timeoutMs: 20_000,
        },
        {
          kube,
          clock: realClock,
          signal: new AbortController().signal,
          print: (line) => lines.push(line),
        },
      );
    } finally {
      kube.close();
    }
    return lines;
  }

  /** Restores the recorded cluster. Objects get other uids, which owner references, tags and names of frontends have too. */
  async function restore(world: HostedWorld): Promise<string[]> {
    let text = readFileSync(join(earlier, "cluster.yaml"), "utf8");
    const count = (parse(text) as Recorded).objects.length;
    for (let at = 0; at < count; at++) {
      const object = (parse(text) as Recorded).objects[at];
      if (object === undefined) break;
      const { uid, ...metadata } = object.metadata;
      const made = await world.make({ ...object, metadata } as Thing);
      if (object.status && object.kind !== "Namespace")
        await world.patch({ ...made, kind: object.kind }, { status: object.status }, "status");
      const short = (id: string) => `a${id.replaceAll("-", "").slice(0, 31)}`;
      text = text
        .replaceAll(uid, made.metadata.uid)
        .replaceAll(short(uid), short(made.metadata.uid));
    }
    const before = world.azure.ids();
    const { store } = world.azure.simulator;
    for (const [id, shot] of Object.entries((parse(text) as Recorded).azure))
      store.put({
        ...shot,
        id,
        key: id.toLowerCase(),
        name: id.slice(id.lastIndexOf("/") + 1),
        state: "Succeeded",
        version: 1,
        etag: crypto.randomUUID(),
        sequence: store.tick(),
      });
    return before;
  }

  /** The operator starts anew, with the permissions of what is installed now, goes on for half an hour, and writes nothing to Azure. */
  async function servesAgain(world: HostedWorld): Promise<void> {
    await world.stop();
    await world.mark();
    let started = false;
    const starting = world.start().then(() => {
      started = true;
    });
    // A kind that was just changed may not be served for a moment, and the operator tries again by this clock.
    await vi.waitFor(() => {
      world.clock.step(world.clock.now() + 1_000);
      expect(started).toBe(true);
    }, patient);
    await starting;
    await world.advance(30 * 60_000);
    expect(world.armRequests().length).toBeGreaterThan(0);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await refusedForGood(world.cluster, user)).toEqual([]);
  }

  test("is upgraded and rolled back, and a cluster lives through both without a write to Azure", async () => {
    let token = "";
    const world = await start({
      features: (armClients) => [
        grantFeature(),
        linkFeature({
          armClients,
          natSubnets: "shared",
          natPrefixLength: 24,
          installation: "0f0f0f0f",
        }),
        ...controlPlaneSide(armClients),
      ],
      token: () => token,
      stopped: true,
    });
    const { cluster } = world;
    // The kinds of the other tests are those of today.
    await cluster.request("DELETE", crd);
    await vi.waitFor(async () => expect((await cluster.request("GET", crd)).status).toBe(404));
    onTestFinished(async () => {
      await runPostern("uninstall", "--force", "--kubeconfig", cluster.kubeconfig);
    });
    await installEarlier(world);
    const installed = await describeCrd(world);
    expect(installed.version).toBe(earlierVersion);
    const empty = await restore(world);
    token = await serviceAccount(cluster, "postern", "postern-operator");
    await untilMay(cluster, user, {
      group: "hypershift.openshift.io",
      resource: "azureprivatelinkservices",
      verb: "watch",
    });

    const now = () => world.get("AzurePrivateLinkService", "clusters-earlier", "private-router");
    const serves = async () => {
      await servesAgain(world);
      expect(world.condition(await now(), "AzurePrivateLinkServiceAvailable")).toBe(
        "True AzureSuccess",
      );
    };
    await serves();

    const flags = ["--kubeconfig", cluster.kubeconfig, "--no-wait-until-available"];
    const image = "registry.example.com/postern:v9";
    const upgraded = await runPostern("upgrade", ...flags, "--image", image);
    expect(upgraded.err).toBe("");
    expect(upgraded.out).toContain(`updated CustomResourceDefinition ${link}`);
    expect(await imageOf(world)).toBe(image);
    const today = await describeCrd(world);
    expect(today.version).not.toBe(earlierVersion);
    await serves();

    const lines = await installEarlier(world);
    expect(lines).toContain(
      `= CustomResourceDefinition ${link}: unchanged, it is of version ${today.version}, and never downgraded`,
    );
    expect(await imageOf(world)).toBe(`registry.example.com/postern:v${earlierVersion}`);
    expect(await describeCrd(world)).toEqual(today);
    await serves();

    // Nothing of what it has in Azure was forgotten on the way. Frontends are the cloud provider's, which is not here.
    for (const kind of ["HostedCluster", "AzurePrivateLinkService", "HostedControlPlane"])
      for (const thing of await world.list(kind)) await world.remove(thing);
    await world.until("the link is deleted", async () => (await now()) === undefined);
    await world.advance(10 * 60_000);
    const left = world.azure.ids().filter((id) => !empty.includes(id));
    expect(left.filter((id) => !id.includes("/loadbalancers/"))).toEqual([]);
  }, 120_000);

  test("of Cluster API is upgraded and rolled back as well, and its cluster keeps its DNS records without a write to Azure", async () => {
    let token = "";
    const world = await startDns(start, {}, { token: () => token, stopped: true });
    const { cluster } = world;
    onTestFinished(async () => {
      await runPostern("uninstall", "--force", "--kubeconfig", cluster.kubeconfig);
    });
    await labelNamespace(world, "org-mc", { "postern.io/secrets": "allowed" });
    await installEarlier(world, "cluster-api");
    token = await serviceAccount(cluster, "postern", "postern-operator");
    await untilMay(cluster, user, {
      group: "infrastructure.cluster.x-k8s.io",
      resource: "azureclusters",
      verb: "watch",
    });
    await world.start();
    // In the namespace whose Secrets the operator may read.
    const workload = await makeWorkload(world, "wc", { namespace: "org-mc" });
    await untilNamed(world, "wc");
    const named = async () =>
      world.condition(await world.get("AzureCluster", "org-mc", "wc"), "GSDNSZoneReady");
    await world.until(
      "its zones are ready",
      async () => (await named())?.startsWith("True") === true,
    );
    const serves = async () => {
      await servesAgain(world);
      expect(await named()).toMatch(/^True/);
    };
    await serves();

    const image = "registry.example.com/postern:v9";
    const flags = ["--kubeconfig", cluster.kubeconfig, "--no-wait-until-available"];
    const upgraded = await runPostern("upgrade", ...flags, "--image", image);
    expect(upgraded.err).toBe("");
    expect(await imageOf(world)).toBe(image);
    await serves();
    await installEarlier(world, "cluster-api");
    expect(await imageOf(world)).toBe(`registry.example.com/postern:v${earlierVersion}`);
    await serves();

    await deleteCluster(world, workload);
    await world.until(
      "its names are deleted",
      () => valuesAt(world, baseZone, "NS", "wc") === undefined,
    );
  }, 120_000);
});
