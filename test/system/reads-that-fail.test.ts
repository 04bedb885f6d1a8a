import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { openPolicy } from "@postern/core/tenant-policy.ts";
import { Registry } from "@prometheus-io/client";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import type { KubeClient } from "postern/kube/client.ts";
import { silentLog } from "postern/kube/log.ts";
import { Metrics } from "postern/kube/metrics.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { surviveUnhandledRejections } from "postern/kube/unhandled-rejections.ts";
import { clusterApiFeatures, hostedFeatures } from "postern/operator/features.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { KubernetesProxy } from "../chaos/kubernetes-proxy.ts";
import { settle } from "../manual-clock.ts";
import {
  azureClusterObject,
  clusterObject,
  controlPlaneObject,
  identityObject,
  namespaces,
} from "./cluster-api/objects.ts";
import { FailingReads, type Mode, standIn } from "./failing-reads.ts";
import {
  type Azure,
  guestSubscription,
  location,
  managementGroup,
  managementSubscription,
  tenant,
} from "./hosted/azure.ts";
import { hostedClusterObject } from "./hosted/objects.ts";
import { cloudProvider } from "./hosted/whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "./hosted/world.ts";

const provider = "providers/Microsoft.Network";
const issuer = "https://kubernetes.default.svc";
const managementCluster = { namespace: "org-mc", name: "mc" };
const groups = {
  mc: resourceGroupId(managementSubscription, "mc"),
  wc: resourceGroupId(guestSubscription, "wc"),
  base: resourceGroupId(managementSubscription, "base"),
};
const gates = ["GSPrivateLinksReady", "GSDNSZoneReady"];
const links = ["PrivateLinksReady", "PrivateEndpointsReady"];
const mostLives = 8;
const available = "AzurePrivateLinkServiceAvailable";

describeHosted("every read of the operator", (start) => {
  // It takes a quarter of a second of real time, in which a clock that is moved goes far.
  beforeAll(async () => void (await import("@azure/identity")));

  /** All controllers of the operator in one process: `--role all` with Cluster API. */
  function operator(
    { simulator, operator: credential }: Azure,
    client: KubeClient,
    world: () => HostedWorld,
  ) {
    const { clock } = world();
    const cloud = customCloud({
      resourceManager: simulator.url,
      authorityHost: simulator.httpsUrl ?? "",
    });
    const arm = new Arm({ cloud, credential, clock });
    onTestFinished(() => arm.close());
    const parts = {
      azure: {
        arm,
        cloud,
        credential,
        ca: simulator.ca,
        onCertificate: () => undefined,
        checks: [],
        armClientFor: () => arm,
        forgetReads: () => arm.forgetReads(),
        close: () => arm.close(),
      },
      client,
      registry: new Registry(),
      clock,
      env: {},
      policy: openPolicy,
    };
    return [
      ...hostedFeatures(
        {
          role: "all",
          natSubnets: "shared",
          natPrefixLength: 24,
          management: { managementGroup, installation: "0f0f0f0f" },
        },
        parts,
      ),
      ...clusterApiFeatures(
        {
          managementCluster,
          managementLinks: ["gateway"],
          gates,
          dns: { baseDomain: "example.com", baseZoneGroup: groups.base },
          others: {},
        },
        parts,
      ),
    ];
  }

  async function startAll(reads: FailingReads, metrics: Metrics): Promise<HostedWorld> {
    let world: HostedWorld | undefined;
    const features = (
      armClients: Parameters<typeof cloudProvider>[0],
      azure: Azure,
      kube: KubeClient,
    ) => {
      const all: MakeFeature[] = operator(azure, kube, () => world as HostedWorld).map((make) =>
        reads.named(make),
      );
      return [...all, reads.named(cloudProvider(armClients), standIn)];
    };
    const proxy: { url: string; waiting(): number } = { url: "", waiting: () => reads.waiting };
    world = await start({ features, simulator: { https: true }, stopped: true, metrics, proxy });
    const { clock, cluster, azure } = world;
    const kubernetes = new KubernetesProxy({
      upstream: cluster.url,
      ca: cluster.ca,
      chance: () => 1,
    });
    proxy.url = await kubernetes.listen();
    onTestFinished(() => kubernetes.close());
    reads.strike({ clock, simulator: azure.simulator, kubernetes });
    const { body } = await cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    azure.simulator.directory.trustIssuer({ issuer, keys: body.keys });
    await prepare(world);
    return world;
  }

  function application({ azure }: HostedWorld, subject?: string): Application {
    const { directory, roles } = azure.simulator;
    const federated = subject
      ? [{ name: "one", issuer, subject, audiences: ["api://AzureADTokenExchange"] }]
      : [];
    const made = directory.addApplication({ tenant, secrets: [{ value: "hush" }], federated });
    roles.makeOwner(made);
    return made;
  }

  /** What CAPZ has created for a cluster: a group, a network and the load balancer of its API server. */
  function inAzure({ azure }: HostedWorld, group: string, name: string): void {
    const { simulator } = azure;
    const vnet = `${group}/${provider}/virtualNetworks/vnet`;
    simulator.change(group, { location });
    simulator.change(vnet, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [{ name: "nodes", properties: { addressPrefix: "10.0.0.0/20" } }],
      },
    });
    simulator.change(`${group}/${provider}/loadBalancers/${name}-internal-lb`, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "front", properties: { subnet: { id: `${vnet}/subnets/nodes` } } },
        ],
      },
    });
  }

  const azureCluster = (
    namespace: string,
    name: string,
    own: string,
    other: string,
    link: string,
  ) =>
    azureClusterObject(namespace, name, {
      subscriptionID: own,
      networkSpec: {
        vnet: {
          name: "vnet",
          id: `${resourceGroupId(own, name)}/${provider}/virtualNetworks/vnet`,
        },
        apiServerLB: {
          type: "Internal",
          frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
          privateLinks: [
            {
              name: link,
              natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
              lbFrontendIPConfigNames: ["front"],
              allowedSubscriptions: [other],
              autoApprovedSubscriptions: [other],
            },
          ],
        },
        subnets: [{ name: "nodes", role: "node" }],
      },
    });

  async function prepare(world: HostedWorld): Promise<void> {
    const { simulator } = world.azure;
    await namespaces(world, "clusters", "org-mc", "org");
    inAzure(world, groups.mc, "mc");
    inAzure(world, groups.wc, "wc");
    simulator.change(groups.base, { location });
    simulator.change(`${groups.base}/${provider}/dnsZones/example.com`, { location: "global" });
    for (const namespace of ["org-mc", "org"]) {
      const metadata = { namespace, name: "one" };
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata,
        stringData: { clientSecret: "hush" },
      };
      // Of the life before.
      await world.remove(secret as unknown as Thing);
      await world.make(secret);
      onTestFinished(() => world.remove(secret as unknown as Thing));
      await world.make(
        identityObject(namespace, "one", {
          type: "ServicePrincipal",
          clientID: application(world).appId,
          tenantID: tenant,
          clientSecret: metadata,
          allowedNamespaces: { list: [namespace] },
        }),
      );
    }
    const link = "mc-gateway-privatelink";
    await world.make(azureCluster("org-mc", "mc", managementSubscription, guestSubscription, link));
  }

  /** Start the controllers. The clock moves meanwhile: a watch that failed waits for it. */
  async function startControllers({ start, clock }: HostedWorld): Promise<void> {
    const started = start();
    for (let over = false; !over; await settle()) {
      over = await Promise.race([started.then(() => true), settle().then(() => false)]);
      if (!over && clock.nextDue < clock.now() + 60_000) clock.step(clock.nextDue);
    }
  }

  /** Create both clusters, wait until they are available, delete them, and wait until they are gone. */
  async function live(world: HostedWorld): Promise<void> {
    const subject = "system:serviceaccount:clusters-one:control-plane-operator";
    const { appId: clientID } = application(world, subject);
    await startControllers(world);
    const hosted = await world.make(
      hostedClusterObject("clusters", "one", {
        azure: {
          azureAuthenticationConfig: {
            azureAuthenticationConfigType: "WorkloadIdentities",
            workloadIdentities: { controlPlaneOperator: { clientID } },
          },
        },
      }),
    );
    const link = "wc-api-privatelink";
    const azure = await world.make(
      azureCluster("org", "wc", guestSubscription, managementSubscription, link),
    );
    const made = clusterObject("org", "wc");
    // Cluster API removes it when the infrastructure is gone.
    const finalizers = ["cluster.cluster.x-k8s.io"];
    const owner = await world.make({ ...made, metadata: { ...made.metadata, finalizers } });
    const controlPlane = await world.make(controlPlaneObject(owner));
    await world.patch(owner, { status: { phase: "Provisioned" } }, "status");
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const ready = { type: "LoadBalancersReady", status: "True", lastTransitionTime };
    await world.patch(azure, { status: { conditions: [ready] } }, "status");

    const now = ({ kind, metadata }: Thing) => world.get(kind, metadata.namespace, metadata.name);
    const isTrue = (thing: Thing | undefined, type: string) =>
      world.condition(thing, type)?.startsWith("True ");
    await world.until(
      "not available",
      async () => {
        const [one, two] = [await now(hosted), await now(azure)];
        return (
          isTrue(one, available) === true && [...gates, ...links].every((type) => isTrue(two, type))
        );
      },
      50,
    );
    for (const thing of [hosted, owner, azure]) await world.remove(thing);
    await world.until(
      "not gone",
      async () => (await now(hosted)) === undefined && (await now(azure)) === undefined,
      50,
    );
    await world.patch(owner, { metadata: { finalizers: null } });
    await world.remove(controlPlane);
    await world.stop();
  }

  test.each<Mode>(["early", "late"])(
    "may fail %s, and the operator lives",
    async (mode) => {
      const reads = new FailingReads(mode);
      onTestFinished(reads.recordSenders());
      const metrics = new Metrics();
      const rejections: unknown[] = [];
      const record = (error: unknown) => rejections.push(error);
      process.on("unhandledRejection", record);
      onTestFinished(() => void process.off("unhandledRejection", record));
      onTestFinished(surviveUnhandledRejections({ log: silentLog, metrics: () => metrics }));

      // In one life a read may be missed, because each time another one of the same feature failed.
      for (let lives = 0; lives === 0 || reads.missed().length > 0; lives++) {
        if (lives === mostLives) throw new Error(`these do not fail: ${reads.missed().join(", ")}`);
        await live(await startAll(reads, metrics));
      }
      expect(rejections).toEqual([]);
      expect(reads.failed.size).toBeGreaterThan(70);
      for (const metric of [
        "postern_unhandled_rejections_total",
        "controller_runtime_reconcile_panics_total",
      ]) {
        const { values = [] } = (await metrics.registry.getSingleMetric(metric)?.get()) ?? {};
        expect(values.length, metric).toBeGreaterThan(5);
        expect(
          values.filter(({ value }) => value > 0),
          metric,
        ).toEqual([]);
      }
    },
    300_000,
  );
});
