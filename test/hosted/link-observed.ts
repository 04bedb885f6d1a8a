import { parseResourceId, sameId } from "@postern/core/resource-id.ts";
import type { EndpointConnection } from "postern/azure/gateways/endpoint-connections.ts";
import type { PrivateLinkService } from "postern/azure/gateways/private-link-services.ts";
import type { NatSnapshot } from "postern/hosted/link/nat/observed.ts";
import type { Down, Subject, Up } from "postern/hosted/link/observed.ts";
import { desiredOf } from "postern/hosted/link/service/desired.ts";
import { ownershipOf } from "postern/hosted/link/service/owner.ts";
import type { LinkStep } from "postern/hosted/link/steps.ts";
import { conditions } from "postern/hosted/names.ts";
import type { Plan } from "postern/kube/feature.ts";
import { newLinkService } from "postern/private-link/link-service/desired.ts";

/** Plain data for the tests of plans: each builder takes only what differs. */

const installation = "0a1b2c3d";
export const hostedSubscription = "33333333-3333-4333-8333-333333333333";
export const clusterID = "99999999-9999-4999-8999-999999999999";
export const group = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/mgmt";
const provider = `${group}/providers/Microsoft.Network`;
export const serviceId = parseResourceId(`${provider}/privateLinkServices/pls-${clusterID}`);
export const balancerId = parseResourceId(`${provider}/loadBalancers/lb`);
export const frontendId = `${balancerId}/frontendIPConfigurations/fe`;
export const subnetId = parseResourceId(
  `${provider}/virtualNetworks/v/subnets/postern-nat-0a1b2c3d-0`,
);
export const alias = `pls-${clusterID}.0000.westeurope.azure.privatelinkservice`;
export const ownEndpoint = `/subscriptions/${hostedSubscription}/resourceGroups/guest/providers/Microsoft.Network/privateEndpoints/private-router-pe`;
export const otherEndpoint = `${ownEndpoint}-of-somebody`;

const known: Up["known"] = {
  is: "desired",
  hostedCluster: "one",
  clusterID,
  infraID: "one-infra",
  serviceName: `pls-${clusterID}`,
  clusterSubscription: hostedSubscription,
  loadBalancerIP: "10.0.0.4",
  isServiceDeleting: false,
};

const frontend: () => Up["frontend"] = () => ({
  is: "found",
  frontend: {
    id: frontendId,
    name: "fe",
    balancer: balancerId,
    location: "westeurope",
    sku: "Standard",
    subnet: `${provider}/virtualNetworks/v/subnets/nodes`,
  },
});

export function subject(over: Partial<Subject> = {}): Subject {
  return {
    namespace: "clusters-one",
    name: "private-router",
    uid: "uid-1",
    installation,
    conditions: [],
    fields: {},
    recordedSubnet: subnetId,
    foreignEndpoints: "disconnect",
    proxyProtocol: false,
    ownEndpoints: [ownEndpoint],
    ...over,
  };
}

/** A link service as it should be, and as Azure answers it. */
export function service(
  over: Partial<PrivateLinkService["properties"]> = {},
  top: Partial<PrivateLinkService> = {},
): PrivateLinkService {
  const object = { id: serviceId, known, subject: subject(), allowed: [hostedSubscription] };
  const { properties, ...rest } = newLinkService(
    desiredOf({ ...object, frontend: frontend() }, subnetId),
  );
  const answered = { provisioningState: "Succeeded", alias, fqdns: [] };
  return {
    ...rest,
    id: serviceId,
    etag: 'W/"1"',
    ...top,
    properties: { ...properties, ...answered, ...over },
  };
}

export const there = (resource: PrivateLinkService) => ({ state: "exists", resource }) as const;
export const absent = { state: "absent" } as const;

/** Everything as it should be. */
export function up(over: Partial<Up> = {}): Up {
  const observed: Up = {
    stage: "up",
    subject: subject({
      fields: { privateLinkServiceID: serviceId, privateLinkServiceAlias: alias },
    }),
    known,
    allowed: [hostedSubscription],
    natSubnetID: undefined,
    id: serviceId,
    service: there(service()),
    owner: { is: "ours" },
    frontend: frontend(),
    isBalancerFull: false,
    nat: { is: "not needed" },
    natOfService: subnetId,
    ...over,
  };
  return { ...observed, owner: over.owner ?? ownerOf(observed) };
}

/** Whose the service is, by its tags and by the status. */
function ownerOf({ service: observation, subject: us, known }: Up): Up["owner"] {
  if (observation.state !== "exists") return { is: "ours" };
  return ownershipOf(observation.resource, {
    uid: us.uid,
    clusterID: known.clusterID,
    hostedCluster: known.hostedCluster,
    sharesClusterID: false,
    namedByStatus: sameId(us.fields.privateLinkServiceID ?? "", serviceId),
    isOwnFrontend: () => false,
    exists: () => true,
    installation,
  });
}

/** A network with one shared subnet that has room. */
export function natSnapshot(over: Partial<NatSnapshot> = {}): NatSnapshot {
  const id = parseResourceId(`${provider}/virtualNetworks/v`);
  const subnet = {
    id: subnetId,
    name: "postern-nat-0a1b2c3d-0",
    prefix: "10.0.64.0/24",
    capacity: 251,
    state: "Succeeded",
    policies: "Disabled",
    delegated: false,
    configurations: [],
  };
  return {
    is: "observed",
    natSubnets: "shared",
    prefixLength: 24,
    id,
    network: { id, location: "westeurope", spaces: [], taken: [], subnets: [subnet] },
    gate: { is: "open" },
    claim: { is: "open" },
    uses: new Map(),
    candidates: [],
    ...over,
  };
}

/** The service is still to be created. */
export function fresh(over: Partial<Up> = {}): Up {
  return up({
    subject: subject(),
    service: absent,
    nat: natSnapshot(),
    natOfService: undefined,
    ...over,
  });
}

/** The object is being deleted, and its service is there. */
export function down(over: Partial<Down> = {}): Down {
  return {
    stage: "down",
    subject: subject({
      fields: { privateLinkServiceID: serviceId, privateLinkServiceAlias: alias },
    }),
    endpointGraceMs: 0,
    services: [{ id: serviceId, observation: there(service()), isOwn: true }],
    natOfService: subnetId,
    nat: { is: "nothing" },
    ...over,
  };
}

export function connection(
  endpoint: string,
  status: "Approved" | "Pending" | "Rejected" | "Disconnected",
): EndpointConnection {
  return {
    id: `${serviceId}/privateEndpointConnections/${endpoint.slice(endpoint.lastIndexOf("/") + 1)}`,
    properties: {
      privateEndpoint: { id: endpoint },
      privateLinkServiceConnectionState: { status },
    },
  };
}

export function present(status: "True" | "False", reason: string, observedGeneration = 1) {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const message = "as it was";
  return { type: conditions.link, status, reason, message, observedGeneration, lastTransitionTime };
}

/** `status reason` of a planned condition. */
export function reported(plan: Plan<LinkStep>, type: string = conditions.link): string | undefined {
  const found = plan.conditions.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}`;
}

export function messageOf(plan: Plan<LinkStep>, type: string = conditions.link): string {
  return plan.conditions.find((each) => each.type === type)?.message ?? "";
}

export const doing = (plan: Plan<LinkStep>) => plan.steps.map((step) => step.do);
