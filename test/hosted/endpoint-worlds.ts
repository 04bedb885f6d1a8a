import type { PrivateEndpoint } from "postern/azure/gateways/private-endpoints.ts";
import type { Observed, Sibling } from "postern/hosted/endpoint/observed.ts";
import { plan } from "postern/hosted/endpoint/plan.ts";
import { conditions } from "postern/hosted/names.ts";
import { privateZoneIn } from "postern/private-dns/zone/observed.ts";
import { planTwice } from "../setup/plan-twice.ts";
import {
  AzureModel,
  clusterID,
  connectedEndpoint,
  group,
  nowAfter,
  observed,
  spec,
} from "./azure-model.ts";

export const short = `${group}/providers/Microsoft.Network/privateEndpoints/private-router-pe`;
export const internal = privateZoneIn(group, "one.hypershift.local");
export const base = privateZoneIn(group, "example.com");

/** Plan and do until nothing is left to do. */
export function settle(azure: AzureModel, world: Observed): Observed {
  let now = world;
  for (let reconciles = 0; reconciles < 20; reconciles++) {
    const planned = planTwice(plan, azure.observed(now));
    for (const step of planned.steps) azure.apply(step);
    now = nowAfter(now, planned);
    if (planned.steps.length === 0) return now;
  }
  throw new Error("the plan does not come to an end");
}

/** A cluster that is reachable, and the object that says so. */
export function reachable(over: Partial<Observed> = {}): { azure: AzureModel; world: Observed } {
  const azure = new AzureModel();
  return { azure, world: settle(azure, observed(over)) };
}

export const reported = (world: Observed, type: string = conditions.available) => {
  const found = world.conditions.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}`;
};

export const message = (world: Observed, type: string = conditions.available) =>
  world.conditions.find((each) => each.type === type)?.message ?? "";

export const steps = (azure: AzureModel, world: Observed) =>
  plan(azure.observed(world)).steps.map((step) =>
    `${step.do} ${"id" in step ? step.id.split("/").at(-1) : ""}`.trim(),
  );

export function changeEndpoint(
  azure: AzureModel,
  change: Partial<PrivateEndpoint["properties"]>,
): void {
  const found = azure.at<PrivateEndpoint>(short);
  if (found) azure.set(short, { ...found, properties: { ...found.properties, ...change } });
}

export function connection(azure: AzureModel, status: string): void {
  const found = azure.at<PrivateEndpoint>(short);
  if (found) azure.set(short, connectedEndpoint(found, status, azure.addresses));
}

export const sibling = (over: Partial<Sibling> = {}): Sibling => ({
  name: "oauth-openshift",
  uid: "oauth-uid",
  uses: true,
  lives: true,
  baseDomain: "example.com",
  baseZone: base,
  ready: true,
  ...over,
});

export const oauth = (over: Partial<Observed> = {}): Observed =>
  observed({
    object: {
      name: "oauth-openshift",
      namespace: "clusters-one",
      hasFinalizer: true,
      spec: spec(),
    },
    self: { uid: "oauth-uid", clusterID, controlPlaneUid: "plane-uid" },
    siblings: [sibling({ name: "private-router", uid: "link-uid" })],
    ...over,
  });

export const addressOf = (azure: AzureModel, id: string) =>
  azure.at<{ properties: { aRecords?: { ipv4Address: string }[] } }>(id)?.properties.aRecords?.[0]
    ?.ipv4Address;
