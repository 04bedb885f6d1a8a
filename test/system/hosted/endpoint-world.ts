import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import { openPolicy, type TenantPolicy } from "@postern/core/tenant-policy.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import {
  clusterAnnotation,
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
} from "postern/hosted/names.ts";
import {
  balancer,
  frontendOf,
  guestGroup,
  guestNetwork,
  guestSubnet,
  guestSubscription,
  location,
  managementGroup,
  managementNetwork,
} from "./azure.ts";
import type { ClusterShape } from "./objects.ts";
import type { Hosted, HostedWorld, Thing, WorldOptions } from "./world.ts";

export const network = "providers/Microsoft.Network";
export const operationMs = 30_000;

/** The guest side alone; without a policy where none is given. */
export function guestOnly(policy?: TenantPolicy): WorldOptions["features"] {
  return (armClients) => [endpointFeature({ armClients, policy })];
}

/** A world in which only the guest side is at work, with everything allowed. */
export async function startGuest(
  start: (options: WorldOptions) => Promise<HostedWorld>,
  simulator: SimulatorOptions = {},
  more: Partial<WorldOptions> = {},
): Promise<HostedWorld> {
  return start({
    features: guestOnly(openPolicy),
    simulator: { operationMs: { "*": operationMs }, ...simulator },
    ...more,
  });
}

/** What a link is made with, where it differs. */
export interface LinkShape {
  name?: string;
  baseDomain?: string | null;
  resourceGroupName?: string;
  guestSubnetID?: string;
  guestVNetID?: string;
}

/** The management side of a link, done by the test: the object, its link service and what is said of it. */
export class Link {
  readonly world: HostedWorld;
  readonly hosted: Hosted;
  readonly name: string;
  thing: Thing;

  constructor(world: HostedWorld, hosted: Hosted, thing: Thing) {
    this.world = world;
    this.hosted = hosted;
    this.name = thing.metadata.name;
    this.thing = thing;
  }

  get serviceId(): string {
    const { clusterID } = this.hosted.cluster.spec as { clusterID: string };
    return `${managementGroup}/${network}/privateLinkServices/pls-${this.name}-${clusterID}`;
  }

  get endpointId(): string {
    return `${guestGroup}/${network}/privateEndpoints/${this.name}-pe`;
  }

  async now(): Promise<Thing | undefined> {
    return this.world.get("AzurePrivateLinkService", this.hosted.namespace, this.name);
  }

  /** `status reason` of Available, endpoint and names. */
  async told(): Promise<(string | undefined)[]> {
    const thing = await this.now();
    return [conditions.available, conditions.endpoint, conditions.dns].map((type) =>
      this.world.condition(thing, type),
    );
  }

  async message(type: string): Promise<string | undefined> {
    const thing = await this.now();
    return thing?.status?.conditions?.find((each) => each.type === type)?.message;
  }

  async isAvailable(): Promise<boolean> {
    return (await this.told())[0] === "True AzureSuccess";
  }

  /** Make the link service, approving the guest by itself or not, and publish its alias. */
  async publish({ approving = true } = {}): Promise<string> {
    const frontend = `${balancer}/frontendIPConfigurations/${this.frontend}`;
    const subscriptions = [guestSubscription];
    this.world.azure.simulator.change(this.serviceId, {
      location,
      properties: {
        loadBalancerFrontendIpConfigurations: [{ id: frontend }],
        ipConfigurations: [
          {
            name: "nat",
            properties: { primary: true, subnet: { id: `${managementNetwork}/subnets/nat` } },
          },
        ],
        visibility: { subscriptions },
        autoApproval: { subscriptions: approving ? subscriptions : [] },
      },
    });
    const { properties } = this.world.azure.at(this.serviceId) as {
      properties: { alias: string };
    };
    await this.say("True", "AzureSuccess", properties.alias);
    return properties.alias;
  }

  frontend = "";

  /** What the link side says in the status. */
  async say(status: "True" | "False", reason: string, alias?: string | null): Promise<void> {
    const held = await this.now();
    const others = (held?.status?.conditions ?? []).filter(({ type }) => type !== conditions.link);
    const condition = {
      type: conditions.link,
      status,
      reason,
      message: "as the test says",
      observedGeneration: held?.metadata.generation,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    await this.world.patch(
      this.thing,
      {
        status: {
          conditions: [...others, condition],
          ...(alias !== undefined && { privateLinkServiceAlias: alias }),
          privateLinkServiceID: this.serviceId,
        },
      },
      "status",
    );
  }

  async hasFinalizer(): Promise<boolean> {
    return (await this.now())?.metadata.finalizers?.includes(endpointFinalizer) ?? false;
  }
}

/** A hosted cluster whose control plane is held, as `observe` does. */
export async function heldCluster(
  world: HostedWorld,
  name: string,
  shape: ClusterShape = {},
): Promise<Hosted> {
  const hosted = await world.hostedCluster(name, shape);
  const finalizers = [controlPlaneFinalizer];
  const controlPlane = await world.patch(hosted.controlPlane, { metadata: { finalizers } });
  return { ...hosted, controlPlane: { ...controlPlane, kind: "HostedControlPlane" } };
}

/** The object of a link, as `observe` makes it. */
export async function makeLink(
  world: HostedWorld,
  hosted: Hosted,
  shape: LinkShape = {},
): Promise<Link> {
  const { simulator } = world.azure;
  simulator.change(`${managementNetwork}/subnets/nat`, {
    properties: {
      addressPrefix: "10.0.128.0/24",
      privateLinkServiceNetworkPolicies: "Disabled",
    },
  });
  const { uid, name: owner } = hosted.controlPlane.metadata;
  const name = shape.name ?? "private-router";
  const baseDomain = shape.baseDomain === undefined ? domainOf(hosted) : shape.baseDomain;
  let frontend = frontendOf(hosted.service);
  let address = hosted.address;
  if (name !== "private-router") {
    frontend = `${frontend}-${name}`;
    address = world.azure.addFrontend(frontend);
  }
  const thing = await world.make({
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "AzurePrivateLinkService",
    metadata: {
      namespace: hosted.namespace,
      name,
      annotations: {
        [clusterAnnotation]: `${hosted.cluster.metadata.namespace}/${hosted.cluster.metadata.name}`,
      },
      ownerReferences: [
        {
          apiVersion: "hypershift.openshift.io/v1beta1",
          kind: "HostedControlPlane",
          name: owner,
          uid,
          controller: true,
        },
      ],
    },
    spec: {
      loadBalancerIP: address,
      subscriptionID: guestSubscription,
      resourceGroupName: shape.resourceGroupName ?? "guest",
      location,
      guestSubnetID: shape.guestSubnetID ?? guestSubnet,
      guestVNetID: shape.guestVNetID ?? guestNetwork,
      ...(baseDomain && { baseDomain }),
    },
  } as Parameters<HostedWorld["make"]>[0]);
  const link = new Link(world, hosted, { ...thing, kind: "AzurePrivateLinkService" });
  link.frontend = frontend;
  return link;
}

/** A cluster with its router's link, until it is available. */
export async function availableCluster(
  world: HostedWorld,
  name: string,
  shape: ClusterShape = {},
  linkShape: LinkShape = {},
): Promise<Link> {
  const link = await makeLink(world, await heldCluster(world, name, shape), linkShape);
  await link.publish();
  await world.until(`${name} is available`, () => link.isAvailable(), 10);
  return link;
}

/** The ids of everything that lies in the guest and is not its network. */
export function guestThings(world: HostedWorld): string[] {
  return world.azure
    .ids(`${guestSubscription}/`)
    .filter((id) => !/virtualnetworks\/|networkinterfaces\//.test(id))
    .filter((id) => id.includes("/providers/") && !id.endsWith("/soa/@"))
    .map((id) => id.slice(id.indexOf("/providers/microsoft.network/") + 29));
}

/** The addresses of a record set, or undefined where there is none. */
export function addressesAt(world: HostedWorld, zone: string, name: string): string[] | undefined {
  const found = world.azure.at(`${zone}/A/${name}`) as
    | { properties: { aRecords: { ipv4Address: string }[] } }
    | undefined;
  return found?.properties.aRecords.map((each) => each.ipv4Address);
}

/** The domain of the hostname of the OAuth server. */
function domainOf({ cluster }: Hosted): string | undefined {
  const { services } = cluster.spec as {
    services?: { servicePublishingStrategy: { route?: { hostname: string } } }[];
  };
  const prefix = `oauth-${cluster.metadata.name}.`;
  return services
    ?.map(({ servicePublishingStrategy: { route } }) => route?.hostname ?? "")
    .find((each) => each.startsWith(prefix))
    ?.slice(prefix.length);
}
