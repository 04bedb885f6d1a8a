import type { EndpointConnection } from "../../src/azure/gateways/endpoint-connections.ts";
import type { PrivateLinkService } from "../../src/azure/gateways/private-link-services.ts";
import { newService, whose } from "../../src/hosted/link/link-service.ts";
import type { Down, Subject, Up } from "../../src/hosted/link/seen.ts";
import type { LinkStep } from "../../src/hosted/link/steps.ts";
import { conditions } from "../../src/hosted/names.ts";
import type { Plan } from "../../src/kube/feature.ts";
import { parseResourceId, sameId } from "../../src/model/resource-id.ts";

/** Plain data for the tests of plans: each builder takes only what differs. */

const installation = "0a1b2c3d";
export const guest = "33333333-3333-4333-8333-333333333333";
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
export const ownEndpoint = `/subscriptions/${guest}/resourceGroups/guest/providers/Microsoft.Network/privateEndpoints/private-router-pe`;
export const otherEndpoint = `${ownEndpoint}-of-somebody`;

const wanted = {
  hostedCluster: "one",
  owner: { clusterID, uid: "uid-1" },
  location: "westeurope",
  frontend: frontendId,
  natSubnet: subnetId,
  allowed: [guest],
  installation,
};

export function subject(over: Partial<Subject> = {}): Subject {
  return {
    ...{ namespace: "clusters-one", name: "private-router", uid: "uid-1", installation },
    ...{ conditions: [], fields: {}, notedSubnet: subnetId, foreignEndpoints: "disconnect" },
    ownEndpoints: [ownEndpoint],
    ...over,
  };
}

/** A link service as it should be, and as Azure answers it. */
export function service(
  over: Partial<PrivateLinkService["properties"]> = {},
  top: Partial<PrivateLinkService> = {},
): PrivateLinkService {
  const { properties, ...rest } = newService(wanted);
  const answered = { provisioningState: "Succeeded", alias, fqdns: [] };
  return {
    ...{ ...rest, id: serviceId, etag: 'W/"1"', ...top },
    properties: { ...properties, ...answered, ...over },
  };
}

export const there = (resource: PrivateLinkService) => ({ state: "there", resource }) as const;
export const absent = { state: "absent" } as const;

/** Everything as it should be. */
export function up(over: Partial<Up> = {}): Up {
  const seen: Up = {
    stage: "up",
    subject: subject({
      fields: { privateLinkServiceID: serviceId, privateLinkServiceAlias: alias },
    }),
    known: {
      ...{ is: "wanted", hostedCluster: "one", clusterID, infraID: "one-infra" },
      ...{ serviceName: `pls-${clusterID}`, guestSubscription: guest, loadBalancerIP: "10.0.0.4" },
    },
    allowed: [guest],
    natSubnetID: undefined,
    id: serviceId,
    service: there(service()),
    owner: { is: "ours" },
    frontend: {
      is: "found",
      frontend: {
        ...{
          id: frontendId,
          name: "fe",
          balancer: balancerId,
          location: "westeurope",
          sku: "Standard",
        },
        subnet: `${provider}/virtualNetworks/v/subnets/nodes`,
      },
    },
    nat: { is: "not needed" },
    natOfService: subnetId,
    ...over,
  };
  return { ...seen, owner: over.owner ?? ownerOf(seen) };
}

/** Whose the service is, by its tags and by the status. */
function ownerOf({ service: look, subject: us, known }: Up): Up["owner"] {
  if (look.state !== "there") return { is: "ours" };
  return whose(look.resource, {
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

/** The service is still to be made. */
export function fresh(over: Partial<Up> = {}): Up {
  return up({
    subject: subject(),
    service: absent,
    nat: { is: "there", subnet: subnetId, ours: true },
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
    guestMs: 0,
    services: [{ id: serviceId, look: there(service()), ours: true }],
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

export function held(status: "True" | "False", reason: string, observedGeneration = 1) {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const message = "as it was";
  return { type: conditions.link, status, reason, message, observedGeneration, lastTransitionTime };
}

/** `status reason` of a planned condition. */
export function told(plan: Plan<LinkStep>, type: string = conditions.link): string | undefined {
  const found = plan.conditions.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}`;
}

export function messageOf(plan: Plan<LinkStep>, type: string = conditions.link): string {
  return plan.conditions.find((each) => each.type === type)?.message ?? "";
}

export const doing = (plan: Plan<LinkStep>) => plan.steps.map((step) => step.do);
