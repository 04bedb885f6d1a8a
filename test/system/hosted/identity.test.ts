import { readFile } from "node:fs/promises";
import type { Application, TrustedIssuer } from "@postern/azure-simulator/entra/application.ts";
import {
  type HostedControlPlane,
  hostedControlPlane,
} from "@postern/core/kinds/hosted-control-plane.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import type { Observation } from "postern/azure/gateway.ts";
import { privateDnsZones } from "postern/azure/gateways/private-dns.ts";
import type { TokenSource } from "postern/azure/tokens.ts";
import { createArmClients } from "postern/hosted/arm-clients.ts";
import { identities } from "postern/hosted/identities.ts";
import { registeredIn } from "postern/hosted/tenancy.ts";
import { defineFeature, type Plan, type Step } from "postern/kube/feature.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { beforeAll, expect, test } from "vitest";
import { guestSubscription, location, managementGroup, tenant } from "./azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const issuer = "https://kubernetes.default.svc";
const contributor =
  "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c";
const account = "control-plane-operator";
const inManagement = (namespace: string) => ({
  name: "management",
  issuer,
  subject: `system:serviceaccount:${namespace}:${account}`,
  audiences: ["api://AzureADTokenExchange"],
});
const inGuest = {
  name: "guest",
  issuer,
  subject: `system:serviceaccount:kube-system:${account}`,
  audiences: ["openshift"],
};

/** Makes one zone in the group of each control plane, and looks at it every five minutes. */
function zones(world: () => HostedWorld): MakeFeature {
  return ({ kube, caches }) => {
    const { azure, clock } = world();
    const { simulator, operator } = azure;
    const cloud = customCloud({
      resourceManager: simulator.url,
      authorityHost: simulator.httpsUrl ?? "",
    });
    const arm = new Arm({ cloud, credential: operator, clock });
    const ca = simulator.ca ?? "";
    const dropped = (tokens: TokenSource) => arm.forget(tokens);
    const { credentialOf, follow } = identities({ kube, entra: { cloud, clock, ca }, dropped });
    follow(caches.of(hostedControlPlane), registeredIn(caches));
    const armClients = createArmClients({ arm, managementGroup, credentialOf });
    type ZoneStep = Step & { controlPlane: HostedControlPlane };
    interface Observed {
      controlPlane: HostedControlPlane;
      zone: Observation<unknown>;
    }
    const feature = defineFeature({
      name: "zones",
      kind: hostedControlPlane,
      conditions: ["Zoned"],
      observe: async (controlPlane, reconcile) => {
        const zones = privateDnsZones(armClients.hosted(controlPlane, reconcile));
        return {
          observed: { controlPlane, zone: await zones.observe(zoneOf(controlPlane)) },
          context: zones,
        };
      },
      plan: ({ zone, controlPlane }: Observed): Plan<ZoneStep> => {
        const is = zone.state === "exists";
        const status = is ? "True" : "False";
        const conditions = [{ type: "Zoned", status, reason: zone.state, message: "" } as const];
        const { name } = controlPlane.metadata;
        const steps: ZoneStep[] =
          zone.state === "absent"
            ? [{ do: "create DNS zone", name, why: "it does not exist", controlPlane }]
            : [];
        return { steps, conditions, requeue: { afterMs: is ? 300_000 : 5_000 } };
      },
      apply: ({ controlPlane }, zones) =>
        zones.put(zoneOf(controlPlane), { location: "global", properties: {} }),
    });
    return { feature };
  };
}

function zoneOf({ metadata, spec }: HostedControlPlane): string {
  const { subscriptionID = "", resourceGroup = "" } = spec.platform.azure ?? {};
  const group = resourceGroupId(subscriptionID, resourceGroup);
  return `${group}/providers/Microsoft.Network/privateDnsZones/${metadata.name}.example.com`;
}

describeHosted("the identities of control planes", (startWorld) => {
  // It takes a quarter of a second of real time, in which a clock that is moved goes far.
  beforeAll(async () => void (await import("@azure/identity")));

  async function start(): Promise<HostedWorld> {
    let world: HostedWorld | undefined;
    const made = () => world as HostedWorld;
    world = await startWorld({
      features: () => [zones(made)],
      simulator: { https: true },
      stopped: true,
    });
    const { body } = await world.cluster.request<Pick<TrustedIssuer, "keys">>(
      "GET",
      "/openid/v1/jwks",
      undefined,
      { accept: "application/jwk-set+json" },
    );
    world.azure.simulator.directory.trustIssuer({ issuer, keys: body.keys });
    await world.start();
    return world;
  }

  /** An identity that the tokens of the management cluster's service account stand for, with rights in one group. */
  function identity(world: HostedWorld, name: string, options: { role?: boolean } = {}) {
    const { simulator } = world.azure;
    const group = resourceGroupId(guestSubscription, `guest-${name}`);
    simulator.change(group, { location });
    const federated = [inManagement(`clusters-${name}`)];
    const application = simulator.directory.addApplication({ tenant, federated });
    if (options.role !== false) grant(world, group, application);
    return { group, application };
  }

  function grant({ azure }: HostedWorld, group: string, { objectId }: Application) {
    const id = `${group}/providers/Microsoft.Authorization/roleAssignments/${crypto.randomUUID()}`;
    azure.simulator.change(id, {
      properties: { roleDefinitionId: contributor, principalId: objectId },
    });
  }

  const config = (clientID: string) => ({
    azureAuthenticationConfigType: "WorkloadIdentities",
    workloadIdentities: { controlPlaneOperator: { clientID } },
  });

  async function controlPlane(
    world: HostedWorld,
    name: string,
    clientID: string,
    options: { account?: boolean } = {},
  ): Promise<Thing> {
    if (options.account !== false) await serviceAccount(world, `clusters-${name}`);
    const azure = { resourceGroup: `guest-${name}`, azureAuthenticationConfig: config(clientID) };
    return (await world.hostedCluster(name, { azure })).controlPlane;
  }

  async function serviceAccount(world: HostedWorld, namespace: string) {
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await world.cluster.request("POST", path, { metadata: { name: account } });
  }

  async function zoned(world: HostedWorld, { metadata }: Thing) {
    const now = await world.get("HostedControlPlane", metadata.namespace, metadata.name);
    return world.condition(now, "Zoned");
  }
  const untilZoned = (world: HostedWorld, thing: Thing, wanted: string) =>
    world.until(
      `${thing.metadata.name} is ${wanted}`,
      async () => (await zoned(world, thing)) === wanted,
      90,
    );

  /** Who asked for anything in a group, by application. */
  function askers({ azure }: HostedWorld, group: string): string[] {
    const { log, directory } = azure.simulator;
    const entries = log.entries({ path: `${group}/*` });
    const names = entries.map(({ identity: by }) => directory.find(by)?.appId ?? by);
    return [...new Set(names)];
  }

  test("each one acts in its own group by its own identity, and by no other", async () => {
    const world = await start();
    const [a, b] = [identity(world, "a"), identity(world, "b")];
    const [one, two] = [
      await controlPlane(world, "a", a.application.appId),
      await controlPlane(world, "b", b.application.appId),
    ];
    await untilZoned(world, one, "True exists");
    await untilZoned(world, two, "True exists");
    await world.advance(11 * 60_000);
    expect(askers(world, a.group)).toEqual([a.application.appId]);
    expect(askers(world, b.group)).toEqual([b.application.appId]);
  });

  test("one that names the identity of another gets no token for it", async () => {
    const world = await start();
    const [a, thief] = [identity(world, "a"), identity(world, "thief")];
    const one = await controlPlane(world, "a", a.application.appId);
    await untilZoned(world, one, "True exists");
    const two = await controlPlane(world, "thief", a.application.appId);
    await untilZoned(world, two, "False AADSTS700213");
    const now = await world.get("HostedControlPlane", "clusters-thief", "thief");
    expect(now?.status?.conditions?.[0]?.message).toMatch(
      /service account clusters-thief\/control-plane-operator of the management cluster \(the guest gave none: there is no kubeconfig of it\).*\. Create a federated credential/,
    );
    expect(askers(world, thief.group)).toEqual([]);
    expect(askers(world, a.group)).toEqual([a.application.appId]);
  });

  test("where the guest's API server answers, HyperShift's federated credential is enough", async () => {
    const world = await start();
    const { application } = identity(world, "a");
    application.federated = [inGuest];
    // This API server stands for the guest's too.
    const kubeconfig = await readFile(world.cluster.kubeconfig, "base64");
    await serviceAccount(world, "clusters-a");
    const secret = await world.make({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "clusters-a", name: "service-network-admin-kubeconfig" },
      data: { kubeconfig },
    } as Parameters<typeof world.make>[0]);
    const one = await controlPlane(world, "a", application.appId);
    await untilZoned(world, one, "True exists");
    await world.remove(secret);
  });

  test("without any service account it is told what to make, and goes on when that is there", async () => {
    const world = await start();
    const name = `bare-${Date.now()}`;
    const { application } = identity(world, name);
    const one = await controlPlane(world, name, application.appId, { account: false });
    await untilZoned(world, one, "False ProofMissing");
    await serviceAccount(world, `clusters-${name}`);
    await untilZoned(world, one, "True exists");
  });

  test("what is forbidden is reported, and done after the role is granted", async () => {
    const world = await start();
    const { application, group } = identity(world, "a", { role: false });
    const one = await controlPlane(world, "a", application.appId);
    await untilZoned(world, one, "False AuthorizationFailed");
    grant(world, group, application);
    await untilZoned(world, one, "True exists");
    expect(askers(world, group)).toEqual([application.appId]);
  });

  test("a credential that dies is told when its token counts no more, and used again when it lives", async () => {
    const world = await start();
    const { application } = identity(world, "a");
    const one = await controlPlane(world, "a", application.appId);
    await untilZoned(world, one, "True exists");
    const { federated } = application;
    application.federated = [];
    await world.advance(30 * 60_000);
    expect(await zoned(world, one)).toBe("True exists");
    const { simulator } = world.azure;
    const error = { code: "ExpiredAuthenticationToken", message: "The access token is revoked." };
    const id = simulator.addFault({
      match: { identity: application.objectId },
      effect: { kind: "answer", status: 401, body: { error } },
    });
    await untilZoned(world, one, "False AADSTS70025");
    simulator.faults.remove(id);
    application.federated = federated;
    await untilZoned(world, one, "True exists");
  });

  test("another identity in the spec is used from the next request on", async () => {
    const world = await start();
    const [a, b] = [identity(world, "a"), identity(world, "b")];
    const one = await controlPlane(world, "a", a.application.appId);
    await untilZoned(world, one, "True exists");
    b.application.federated = [inManagement("clusters-a")];
    grant(world, a.group, b.application);
    const last = world.azure.simulator.log.last;
    const azure = { azureAuthenticationConfig: config(b.application.appId) };
    await world.patch(one, { spec: { platform: { azure } } });
    await world.advance(6 * 60_000);
    const after = world.azure.simulator.log.entries({ path: `${a.group}/*`, since: last });
    expect(new Set(after.map(({ identity: by }) => by))).toEqual(new Set([b.application.objectId]));
  });
});
