import { defined, object, objects, oneOf, tagsAndZone, text } from "../../arm/fields.ts";
import { checkNetworkName, joinsIn } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Child, ResourceType, World } from "../../arm/resource-type.ts";
import { guidFrom } from "../../state/guid.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { acceptPool } from "../backend-address-pools/accept.ts";
import {
  backendAddressPools,
  checkMayGo,
  poolJoins,
  scaleSetUsing,
} from "../backend-address-pools/index.ts";
import { interfaceJoins } from "../network-interfaces/index.ts";
import { membersOf } from "../network-interfaces/pool-membership.ts";
import { natPoolsOf } from "./back-references.ts";
import {
  frontendIPConfigurations,
  inboundNatRules,
  loadBalancingRules,
  outboundRules,
  probes,
} from "./children.ts";
import { acceptFrontends, type Sku, skuOf, tierOf } from "./frontends.ts";
import { acceptProbes } from "./probes.ts";
import { acceptInbound, acceptOutbound, acceptRules, type Siblings } from "./rules.ts";

const parts: Readonly<Record<string, ResourceType>> = {
  frontendIPConfigurations,
  backendAddressPools,
  loadBalancingRules,
  probes,
  inboundNatRules,
  outboundRules,
};

/** Load balancers: Basic, Standard and Gateway. A write says all that there will be; what it leaves out goes. */
export const loadBalancers: ResourceType = {
  type: "Microsoft.Network/loadBalancers",
  dialect: "network",
  within: "resourceGroup",
  put: ({ resource }) => (isSlow(resource) ? "async" : "asyncDone"),
  delete: "async",
  patchTags: true,
  joins: ({ properties }) => [
    ...joinsIn(properties.frontendIPConfigurations, interfaceJoins),
    ...joinsIn(properties.backendAddressPools, poolJoins),
  ],
  accept({ body, properties, existing, world, id, name }) {
    checkNetworkName(name);
    const given = object(body, "sku") ?? {};
    const held = existing && skuOf(existing);
    const sku: Sku = oneOf(given, "name", ["Basic", "Standard", "Gateway"], held ?? "Basic");
    if (held !== undefined && held !== sku)
      throw new Refusal(
        400,
        "LoadBalancerSkuCannotBeChanged",
        `The SKU of load balancer ${id} cannot be changed from ${held} to ${sku}.`,
      );
    const location = String(body.location ?? existing?.top.location);
    const tier =
      oneOf(given, "tier", ["Regional", "Global"], held && tierOf(existing)) ?? "Regional";
    const about = { world, id, location, sku, isGlobal: tier === "Global" };
    const frontends = acceptFrontends(objects(properties, "frontendIPConfigurations"), about);
    const pools = acceptPools(objects(properties, "backendAddressPools"), about);
    const kept = {
      frontendIPConfigurations: frontends,
      backendAddressPools: pools,
      probes: acceptProbes(objects(properties, "probes")),
    };
    const siblings: Siblings = { id, sku, names: mapNames(kept) };
    const children: Readonly<Record<string, readonly Child[]>> = {
      ...kept,
      loadBalancingRules: acceptRules(objects(properties, "loadBalancingRules"), siblings),
      inboundNatRules: acceptInbound(objects(properties, "inboundNatRules"), siblings),
      outboundRules: acceptOutbound(objects(properties, "outboundRules"), siblings),
    };
    for (const word in children) checkDistinct(children[word] ?? [], word, id);
    if (existing) checkMayLose(existing, mapNames(children), world);
    const natPools = acceptInbound(
      objects(properties, "inboundNatPools"),
      siblings,
      "inboundNatPools",
    );
    return {
      top: defined({
        location,
        ...tagsAndZone(body),
        sku: { name: sku, tier },
      }),
      properties: {
        resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
        inboundNatPools: natPools.map((each) => ({ ...each })),
      },
      children: Object.fromEntries(
        Object.entries(children).map(([word, listed]) => [parts[word]?.type ?? word, listed]),
      ),
    };
  },
  show(balancer, world, query) {
    const etag = `W/"${balancer.etag}"`;
    const shown: JsonObject = {};
    for (const word in parts)
      shown[word] = [...world.store.collection(`${balancer.key}/${word.toLowerCase()}`)].map(
        (each) => ({
          name: each.name,
          id: each.id,
          etag,
          type: each.type,
          ...each.top,
          properties: {
            provisioningState: each.state,
            ...each.properties,
            ...parts[word]?.show?.(each, world, query),
          },
        }),
      );
    shown.inboundNatPools = natPoolsOf(balancer).map(({ name, properties }) => ({
      name,
      id: `${balancer.id}/inboundNatPools/${name}`,
      etag,
      type: "Microsoft.Network/loadBalancers/inboundNatPools",
      properties: { provisioningState: balancer.state, ...(properties as JsonObject) },
    }));
    return shown;
  },
  mayDelete(balancer, world) {
    for (const user of world.store.referrers(balancer.key))
      if (user.type === "Microsoft.Network/privateLinkServices")
        // The words are those of Azure's page on this error code for AKS.
        throw new Refusal(
          400,
          "CannotDeleteLoadBalancerWithPrivateLinkService",
          `Cannot delete load balancer ${balancer.id} since it is referenced by private link service ${user.id}. Please delete private link service prior to deleting load balancer.`,
        );
    for (const pool of world.store.collection(`${balancer.key}/backendaddresspools`)) {
      const user = scaleSetUsing(pool, world);
      // The words are those of kubernetes-sigs/cluster-api-provider-azure#3163.
      if (user !== undefined)
        throw new Refusal(
          400,
          "LoadBalancerInUseByVirtualMachineScaleSet",
          `Cannot delete load balancer ${balancer.id} since its child resources ${pool.name} are in use by virtual machine scale set ${user}.`,
        );
    }
    checkMayLose(balancer, {}, world);
  },
  lists: {
    networkInterfaces: ({ resource, world }) => interfacesOf(resource, world),
  },
  differences: [
    "The first response has the state Updating for Gateway and Global, and for one in four Standard load balancers, chosen by the seed; otherwise Succeeded: as recorded, where nothing in the requests distinguishes them [W].",
    "Rules with two pools, probes and chains are checked and stored; no traffic flows.",
    "Error codes other than FrontendIPConfigHasBothSubnetAndPublicIP, PublicIPAndLBSkuDoNotMatch, RulesUseSameFrontendPortProtocolAndIPConfig and LoadBalancerInUseByVirtualMachineScaleSet are by analogy [?].",
    "Moving public addresses between load balancers, migrateToIpBased and port mappings are not done.",
  ],
};

/** Recorded: whether the write of a Standard load balancer takes time differs from one to the next. */
function isSlow({ top, etag }: Resource): boolean {
  const { name, tier } = (top.sku ?? {}) as JsonObject;
  if (name === "Gateway" || tier === "Global") return true;
  return name === "Standard" && Number.parseInt(guidFrom(`slow ${etag}`).slice(0, 2), 16) < 64;
}

function acceptPools(
  given: readonly JsonObject[],
  { world, id, sku, isGlobal }: { world: World; id: string; sku: Sku; isGlobal: boolean },
): Child[] {
  return given.map((each, at) => {
    const name = text(each, "name", "");
    checkNetworkName(name);
    const poolId = `${id}/backendAddressPools/${name}`;
    const properties = acceptPool(object(each, "properties") ?? {}, {
      world,
      id: poolId,
      sku,
      isGlobal,
      balancer: id.toLowerCase(),
      existing: world.store.get(poolId),
      at,
    });
    return { name, properties };
  });
}

function mapNames(kept: Readonly<Record<string, readonly Child[]>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(kept).map(([word, listed]) => [word, listed.map((each) => each.name)]),
  );
}

function checkDistinct(kept: readonly Child[], word: string, id: string): void {
  const seen = new Set<string>();
  for (const { name } of kept) {
    if (seen.has(name.toLowerCase()))
      throw new Refusal(400, "InvalidRequestFormat", "Cannot parse the request.", {
        details: [
          {
            code: "DuplicateResourceName",
            message: `Resource ${id} has two child resources with the same name (${name}) in ${word}.`,
          },
        ],
      });
    seen.add(name.toLowerCase());
  }
}

/** Refuse to lose a frontend that a link service or a chain uses, or a pool that a scale set uses. */
function checkMayLose(
  balancer: Resource,
  left: Readonly<Record<string, readonly string[]>>,
  world: World,
): void {
  const stays = (word: string, name: string) =>
    left[word]?.some((each) => each.toLowerCase() === name.toLowerCase()) === true;
  for (const frontend of world.store.collection(`${balancer.key}/frontendipconfigurations`)) {
    if (stays("frontendIPConfigurations", frontend.name)) continue;
    for (const user of world.store.referrers(frontend.key)) {
      if (user.key.startsWith(`${balancer.key}/`)) continue;
      const service = user.type === "Microsoft.Network/privateLinkServices";
      throw new Refusal(
        400,
        service
          ? "LoadBalancerFrontendIPConfigurationInUseByPrivateLinkService"
          : "LoadBalancerFrontendIPConfigurationInUse",
        `Frontend IP configuration ${frontend.id} cannot be deleted since it is in use by ${user.id}.`,
      );
    }
  }
  for (const pool of world.store.collection(`${balancer.key}/backendaddresspools`))
    if (!stays("backendAddressPools", pool.name)) checkMayGo(pool, world);
}

function interfacesOf(balancer: Resource | undefined, world: World): Resource[] {
  const found = new Map<string, Resource>();
  for (const pool of world.store.collection(`${balancer?.key}/backendaddresspools`))
    for (const { of } of membersOf(pool, world)) found.set(of.key, of);
  return [...found.values()];
}
