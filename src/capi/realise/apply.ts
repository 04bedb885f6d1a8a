import type { ArmView } from "../../azure/arm.ts";
import { decision, endpointConnections } from "../../azure/gateways/endpoint-connections.ts";
import { privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import { type Subnet, subnets } from "../../azure/gateways/subnets.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import { nameOf, type ResourceId } from "../../model/resource-id.ts";
import { isOpen } from "./nat.ts";
import type { RealiseParts } from "./parts.ts";
import type { RealiseStep } from "./steps.ts";

/** Take one step. */
export async function apply(step: RealiseStep, pass: Pass, parts: RealiseParts): Promise<Applied> {
  const object = parts.objects.get(pass.key);
  // It has gone since it was seen, and was not held: whatever there was is another's by now.
  if (object === undefined) return { state: "done" };
  const view = parts.views.of(object, pass);
  switch (step.do) {
    case "open a NAT subnet":
      return open(view, step.id);
    // Azure does not promise to heed If-None-Match for these two: they are looked at just before too.
    case "make a link service": {
      const services = privateLinkServices(view);
      if ((await services.get(step.id)) !== undefined) return { state: "done" };
      parts.known.of(object).add(step.id);
      return services.put(step.id, step.body, { ifNoneMatch: "*" });
    }
    case "make an endpoint": {
      const endpoints = privateEndpoints(view);
      if ((await endpoints.get(step.id)) !== undefined) return { state: "done" };
      parts.known.of(object).add(step.id);
      return endpoints.put(step.id, step.body, { ifNoneMatch: "*" });
    }
    case "change a link service":
      return privateLinkServices(view).put(step.id, step.body, { ifMatch: step.etag });
    case "change an endpoint":
      return privateEndpoints(view).put(step.id, step.body, { ifMatch: step.etag });
    case "remove a link service":
      return privateLinkServices(view).remove(step.id, { ifMatch: step.etag });
    case "remove an endpoint":
      return privateEndpoints(view).remove(step.id, { ifMatch: step.etag });
    case "reject a connection": {
      const body = decision(nameOf(step.id), "Rejected", "the service is being deleted");
      return endpointConnections(view).put(step.id, body);
    }
    case "remove a connection":
      return endpointConnections(view).remove(step.id);
  }
}

/** Change one property of a subnet and nothing else: read it, and write it back if nobody has changed it meanwhile. */
async function open(view: ArmView, id: ResourceId): Promise<Applied> {
  const gateway = subnets(view);
  const found = await gateway.get(id);
  if (found === undefined || isOpen(found)) return { state: "done" };
  const { etag, id: _id, name: _name, type: _type, ...top } = found;
  const {
    provisioningState: _state,
    ipConfigurations: _users,
    privateEndpoints: _endpoints,
    ...kept
  } = found.properties;
  const body: Subnet = {
    ...top,
    properties: { ...kept, privateLinkServiceNetworkPolicies: "Disabled" },
  };
  return gateway.put(id, body, { ifMatch: etag });
}
