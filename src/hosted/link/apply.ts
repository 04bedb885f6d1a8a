import { decision, endpointConnections } from "../../azure/gateways/endpoint-connections.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import { subnets } from "../../azure/gateways/subnets.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import { namespace as namespaceKind } from "../../model/kinds/core.ts";
import { nameOf, parentOf, type ResourceId } from "../../model/resource-id.ts";
import { natSubnetAnnotation } from "./nat-users.ts";
import type { LinkParts } from "./parts.ts";
import type { LinkStep } from "./steps.ts";

/** Take one step. */
export async function apply(step: LinkStep, pass: Pass, parts: LinkParts): Promise<Applied> {
  const view = parts.sides.management(pass);
  const services = privateLinkServices(view);
  const now = pass.now().getTime();
  switch (step.do) {
    case "note the NAT subnet":
      return note(step, step.subnet, pass, parts);
    case "forget the NAT subnet":
      return note(step, null, pass, parts);
    case "make the NAT subnet":
    case "make the next NAT subnet": {
      const { id, prefix, broken } = step;
      const condition = broken ? {} : ({ ifNoneMatch: "*" } as const);
      const make = () =>
        parts.networks.write(networkOf(id), id, now, () =>
          subnets(view).put(id, newSubnet(prefix), condition),
        );
      if (step.do === "make the NAT subnet") return make();
      // It is not needed yet: whoever needs it will tell of what is wrong, and nobody waits for it now.
      await make().catch((err: unknown) =>
        pass.log.info({ err }, "the next NAT subnet was not made"),
      );
      return { state: "done" };
    }
    case "remove the NAT subnet":
      return parts.networks.write(
        networkOf(step.id),
        step.id,
        now,
        () => subnets(view).remove(step.id),
        true,
      );
    case "make the link service":
      // Azure knows no condition "only if there is none" for it: it is looked at just before.
      if ((await services.get(step.id)) !== undefined) return { state: "done" };
      return services.put(step.id, step.body);
    case "change the link service":
      return services.put(step.id, step.body, { ifMatch: step.etag });
    case "remove the link service":
      return services.remove(step.id, { ifMatch: step.etag });
    case "reject a connection": {
      const words = "the service is being deleted";
      const body = decision(nameOf(step.id), "Rejected", words);
      return endpointConnections(view).put(step.id, body);
    }
    case "remove a connection":
      return endpointConnections(view).remove(step.id);
  }
}

/** Write down in the namespace which subnet a link uses, or null. */
async function note(
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  subnet: string | null,
  { signal }: Pass,
  { kube, noted }: LinkParts,
): Promise<Applied> {
  const change = { metadata: { annotations: { [natSubnetAnnotation(name)]: subnet } } };
  const options = { fieldManager: "postern-link", signal };
  await kube.patch({ kind: namespaceKind, name: namespace }, "merge", change, options);
  noted.set(uid, subnet ?? "");
  return { state: "done" };
}

function newSubnet(addressPrefix: string) {
  return {
    properties: { addressPrefix, privateLinkServiceNetworkPolicies: "Disabled" as const },
  };
}

function networkOf(subnet: ResourceId): ResourceId {
  return parentOf(subnet) as ResourceId;
}
