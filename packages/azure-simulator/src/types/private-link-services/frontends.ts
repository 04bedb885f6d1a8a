import { regionName } from "@postern/core/region.ts";
import { isObject, object, objects, reference, text } from "../../arm/fields.ts";
import { badReference } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { serviceType } from "./aliases.ts";
import { missingField } from "./refusals.ts";

/** The ids of the frontends in a body or in what is kept. */
export function frontendIds(properties: JsonObject): string[] {
  return objects(properties, "loadBalancerFrontendIpConfigurations").flatMap((each) => {
    const id = reference({ each }, "each");
    return id === undefined ? [] : [id];
  });
}

/** Read the frontends that a service stands before, and refuse what Azure refuses of them. */
export function acceptFrontends(
  properties: JsonObject,
  id: string,
  location: string,
  nat: readonly JsonObject[],
  existing: Resource | undefined,
  world: World,
): string[] {
  const ids = frontendIds(properties).map((each) => world.store.get(each)?.id ?? each);
  if (ids.length === 0 && text(properties, "destinationIPAddress", undefined) === undefined)
    throw missingField("properties.loadBalancerFrontendIpConfigurations", id);
  if (existing) checkUnchanged(ids, existing, id);
  for (const each of ids) {
    const { balancer, frontend } = frontendAt(each, id, location, world);
    checkSku(balancer, id);
    if (hasAddresses(balancer, world)) throw ipBased(balancer);
    if (!existing) checkCount(balancer, id, world);
    checkFree(each, id, world);
    checkNetwork(frontend, nat, balancer, id);
  }
  return ids;
}

function frontendAt(id: string, service: string, location: string, { store }: World) {
  const frontend = store.get(id);
  const balancer = store.get(parentOf(id.toLowerCase()));
  const place = balancer?.top.location;
  if (!balancer || typeof place !== "string") throw badReference(id, service);
  if (frontend?.type !== "Microsoft.Network/loadBalancers/frontendIPConfigurations")
    throw badReference(id, service);
  if (regionName(place) !== regionName(location)) throw badReference(id, service);
  return { balancer, frontend: frontend.properties };
}

/** Only Standard load balancers (learn.microsoft.com/azure/private-link/private-link-service-overview#limitations). */
function checkSku({ top, id: balancer }: Resource, id: string): void {
  const sku = isObject(top.sku) && typeof top.sku.name === "string" ? top.sku.name : "Basic";
  if (sku.toLowerCase() === "standard") return;
  throw new Refusal(
    400,
    "PrivateLinkServiceIsNotSupportedForLoadBalancer",
    `Private link service ${id} cannot reference load balancer ${balancer} since its sku is ${sku}. Private link service is supported only with Standard sku load balancers.`,
  );
}

/** Eight for each load balancer (private-link-service-overview#limitations); code and words are not documented. */
function checkCount(balancer: Resource, id: string, world: World): void {
  const most = world.switches.linkServicesPerLoadBalancer;
  if (servicesOn(balancer, world) < most) return;
  throw new Refusal(
    400,
    "PrivateLinkServiceCountPerLoadBalancerExceeded",
    `Private link service ${id} cannot reference load balancer ${balancer.id} since it has ${most} private link services already.`,
  );
}

/** How many link services stand in front of a load balancer. */
export function servicesOn(balancer: Resource, { store }: World): number {
  const services = new Set<string>();
  for (const frontend of store.collection(`${balancer.key}/frontendipconfigurations`))
    for (const user of store.referrers(frontend.key))
      if (user.type === serviceType) services.add(user.key);
  return services.size;
}

/** Whether a load balancer has a pool with members by address. */
function hasAddresses(balancer: Resource, { store }: World): boolean {
  for (const pool of store.collection(`${balancer.key}/backendaddresspools`))
    for (const { properties } of objects(pool.properties, "loadBalancerBackendAddresses"))
      if (isObject(properties) && properties.ipAddress !== undefined) return true;
  return false;
}

/** The words are those of MicrosoftDocs/azure-docs#75134. */
export function ipBased(balancer: Pick<Resource, "id">): Refusal {
  return new Refusal(
    400,
    "PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer",
    `Private link service is not supported for load balancer ${balancer.id} with backend addresses set by (virtualNetwork, ipAddress) or (subnet, ipAddress).`,
  );
}

/** One frontend, one service: "different front-end IP configurations", says the same page. */
function checkFree(frontend: string, id: string, { store }: World): void {
  for (const other of store.referrers(frontend.toLowerCase())) {
    if (other.type !== serviceType || other.key === id.toLowerCase()) continue;
    if (!frontendIds(other.properties).some((each) => same(each, frontend))) continue;
    throw new Refusal(
      400,
      "LoadBalancerFrontendIPConfigurationInUseByPrivateLinkService",
      `Load balancer frontend ip configuration ${frontend} is referenced by private link service ${other.id} already.`,
    );
  }
}

/** A public frontend has no network of its own; recorded: Azure takes it with any NAT subnet of the region. */
function checkNetwork(
  frontend: JsonObject,
  nat: readonly JsonObject[],
  balancer: Resource,
  id: string,
): void {
  const subnet = reference(frontend, "subnet");
  if (subnet === undefined) return;
  const network = parentOf(subnet.toLowerCase());
  for (const each of nat) {
    const taken = reference(object(each, "properties") ?? {}, "subnet") ?? "";
    if (parentOf(taken.toLowerCase()) === network) continue;
    throw new Refusal(
      400,
      "PrivateLinkServiceAndLoadBalancerNotInSameVirtualNetwork",
      `Private link service ${id} takes addresses from subnet ${taken}, which is not in the virtual network of load balancer ${balancer.id}.`,
    );
  }
}

/** hashicorp/terraform-provider-azurerm#12250 and MicrosoftDocs/azure-docs#121302: a service keeps its frontends. */
function checkUnchanged(ids: readonly string[], existing: Resource, id: string): void {
  const before = frontendIds(existing.properties);
  const changed = ids.length !== before.length || ids.some((each, at) => !same(each, before[at]));
  if (!changed) return;
  throw new Refusal(
    400,
    "PrivateLinkServiceLoadBalancerFrontendIpConfigurationCannotBeChanged",
    `The load balancer frontend ip configurations of private link service ${id} cannot be changed.`,
  );
}

function same(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase();
}
