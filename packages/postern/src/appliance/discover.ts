import {
  parseResourceId,
  type ResourceId,
  resourceGroupId,
  resourceIn,
} from "@postern/core/resource-id.ts";
import type { ArmClient } from "../azure/arm.ts";
import { AzureError } from "../azure/errors.ts";
import { apiVersions } from "../azure/gateways/api-versions.ts";
import { type LoadBalancer, loadBalancers } from "../azure/gateways/load-balancers.ts";
import { choosePool } from "./choose-pool.ts";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import { findPlace, type Place } from "./find-machine.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import { type IMDSMetadata, queryIMDS } from "./imds.ts";
import { callerUntil, retryUntil } from "./retry.ts";

/** Where to look for the load balancer, if not in the machine's own resource group. */
export interface DiscoverOptions {
  /** Its name, or its resource id. */
  loadBalancer?: string | undefined;
  resourceGroup?: string | undefined;
  subscriptionId?: string | undefined;
  /** How long to go on while something is not there yet: the metadata service, the identity, its role. */
  patienceMs?: number | undefined;
}

/** Without any patience too, everything is asked once. */
const lastTryMs = 30_000;
const balancerType = "Microsoft.Network/loadBalancers";

/**
 * Find the Gateway load balancer of this machine: who it is by the metadata service, its primary interface, and the pool of
 * this name. Three requests to Resource Manager where nothing fails.
 */
export async function discoverGWLBBackendPool(
  ctx: ApplianceContext,
  poolName: string,
  options: DiscoverOptions = {},
): Promise<GWLBConfig> {
  const { patienceMs = 120_000 } = options;
  const what = `find the backend pool "${poolName}"`;
  if (poolName.trim() === "")
    throw new ApplianceError({ code: "PoolNameMissing", what: "find the backend pool" });
  const endsAt = ctx.clock.now() + patienceMs;
  const metadata = await queryIMDS(ctx, { patienceMs });
  const ended = (last: unknown) =>
    last instanceof AzureError && last.code !== "Cancelled"
      ? last
      : new AzureError({ code: "TimedOut", what });
  // What was found once is not asked for again.
  let place: Place | undefined;
  const limitMs = Math.max(0, endsAt - ctx.clock.now());
  const retryOptions = { what: "discover", limitMs, lastTryMs, ended } as const;
  return retryUntil(ctx, retryOptions, async (pass) => {
    const arm = ctx.azure(metadata.environment).for(callerUntil(pass.signal));
    place ??= await findPlace(arm, metadata);
    const { scope, shown, name } = searchScope(metadata, options, what);
    const found = await balancersIn(arm, scope, name);
    const pool = choosePool(found, {
      poolName,
      location: metadata.location,
      vnetResourceId: place.vnetResourceId,
      scope: shown,
      named: name,
    });
    return { done: configOf(metadata, place, pool) };
  });
}

/** The scope, and the name where one load balancer is meant. */
function searchScope(
  metadata: IMDSMetadata,
  { loadBalancer, resourceGroup, subscriptionId }: DiscoverOptions,
  what: string,
): { scope: ResourceId; shown: string; name: string | undefined } {
  const given = loadBalancer?.trim() || undefined;
  if (given?.startsWith("/") === true) {
    const id = parseResourceId(given, balancerType);
    const [, , subscription = "", , group = ""] = id.split("/");
    const scope = resourceGroupId(subscription, group);
    return { scope, shown: `resource group ${group}`, name: id.slice(id.lastIndexOf("/") + 1) };
  }
  const group = resourceGroup?.trim() || metadata.resourceGroup;
  const subscription = subscriptionId?.trim() || metadata.subscriptionId;
  if (group === "" || subscription === "")
    throw new ApplianceError({ code: "MetadataIncomplete", what });
  const scope = resourceGroupId(subscription, group);
  return { scope, shown: `resource group ${group}`, name: given };
}

/** The one that is named, or all: where there is no such one, the others say more than that. */
async function balancersIn(
  arm: ArmClient,
  scope: ResourceId,
  name: string | undefined,
): Promise<LoadBalancer[]> {
  const one = name && (await loadBalancers(arm).get(resourceIn(scope, balancerType, name)));
  if (one) return [one];
  const all = await loadBalancers(arm).list(scope);
  // In a group that does not exist there are none either, and the answer to this says which it is.
  if (all.length === 0) {
    const query = { "api-version": apiVersions.network };
    await arm.request("GET", `${scope}/providers/${balancerType}`, { query });
  }
  return all;
}

function configOf(
  { name, interfaces: _interfaces, tags: _tags, ...metadata }: IMDSMetadata,
  place: Place,
  pool: ReturnType<typeof choosePool>,
): GWLBConfig {
  return { ...metadata, vmName: name, ...place, ...pool };
}
