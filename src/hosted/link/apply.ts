import { decision, endpointConnections } from "../../azure/gateways/endpoint-connections.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import { subnets } from "../../azure/gateways/subnets.ts";
import { KubeError } from "../../kube/errors.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import { versionIn } from "../../kube/status.ts";
import { namespace as namespaceKind } from "../../model/kinds/core.ts";
import { nameOf, parentOf, type ResourceId } from "../../model/resource-id.ts";
import { natSubnetAnnotation, notedSubnetOf } from "./nat-users.ts";
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
      // Azure does not promise to heed If-None-Match for it: it is looked at just before too.
      if ((await services.get(step.id)) !== undefined) return { state: "done" };
      return services.put(step.id, step.body, { ifNoneMatch: "*" });
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

/** How often the note of a namespace that others write too is tried. */
const noteTries = 4;

/** Write down in the namespace which subnet a link uses, or null, unless another has changed that note meanwhile. */
async function note(
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  subnet: string | null,
  { signal }: Pass,
  { kube, namespaces, noted }: LinkParts,
): Promise<Applied> {
  const place = { kind: namespaceKind, name: namespace };
  const key = natSubnetAnnotation(name);
  let latest = namespaces.get(namespace) ?? (await kube.get(place, signal));
  const seen = notedSubnetOf(latest, name);
  for (let tries = 1; ; tries++) {
    const { uid: own, resourceVersion } = latest?.metadata ?? {};
    const change = { metadata: { uid: own, resourceVersion, annotations: { [key]: subnet } } };
    const options = { fieldManager: "postern-link", signal };
    try {
      const version = versionIn(await kube.patch(place, "merge", change, options));
      noted.set(uid, { subnet: subnet ?? "", version });
      return { state: "done" };
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 409) || tries === noteTries) throw error;
      latest = await kube.get(place, signal);
      if (notedSubnetOf(latest, name) !== seen) throw error;
    }
  }
}

function newSubnet(addressPrefix: string) {
  return {
    properties: { addressPrefix, privateLinkServiceNetworkPolicies: "Disabled" as const },
  };
}

function networkOf(subnet: ResourceId): ResourceId {
  return parentOf(subnet) as ResourceId;
}
