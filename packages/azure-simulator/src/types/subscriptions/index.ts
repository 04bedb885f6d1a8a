import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import type { JsonObject } from "../../state/store.ts";
import { namespaces, shownProvider } from "../providers/index.ts";
import { locations, shownLocation } from "./locations.ts";
import { resourcesIn } from "./resources.ts";

/** Subscriptions. People see those in which they have any role. */
export const subscriptions: ResourceType = {
  type: "Microsoft.Resources/subscriptions",
  dialect: "resources",
  within: "tenant",
  open: true,
  read({ world, asker, address }) {
    const subscription = address.subscription ?? "";
    if (world.roles.hasAny(asker, subscription)) return shown(subscription, world);
    throw new Refusal(
      403,
      "AuthorizationFailed",
      `The client '${asker.appId}' with object id '${asker.objectId}' does not have authorization to perform action 'Microsoft.Resources/subscriptions/read' over scope '${address.path}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
      { by: "gateway" },
    );
  },
  list({ world, asker }) {
    return world.directory
      .subscriptions()
      .filter((each) => world.roles.hasAny(asker, each))
      .map((each) => ({ shown: shown(each, world) }));
  },
  wholeLists: ["locations"],
  lists: {
    resources({ world, asker, address, query }) {
      const subscription = `/subscriptions/${address.subscription?.toLowerCase()}`;
      const groups = [...world.store.collection(`${subscription}/resourcegroups`)];
      return groups.flatMap(({ key }) => resourcesIn(key, asker, query, world));
    },
    locations: ({ address }) =>
      locations.map((each) => ({ shown: shownLocation(each, address.subscription ?? "") })),
    providers: ({ world, address }) =>
      namespaces.map((each) => ({ shown: shownProvider(each, address.subscription ?? "", world) })),
  },
  differences: [
    "Every subscription is enabled and has the same offer and policies.",
    "Locations are those of Azure's public cloud that have availability zones, and some others; without coordinates, pairs and zone mappings.",
    "Below a subscription only the lists of resources, locations and providers; tags and others are not supported (not done).",
    "A list of resources accepts filters by resourceGroup, name, resourceType, location, tagName and tagValue, with eq and and.",
  ],
};

function shown(subscription: string, world: World): JsonObject {
  return {
    id: `/subscriptions/${subscription}`,
    authorizationSource: "RoleBased",
    managedByTenants: [],
    subscriptionId: subscription,
    tenantId: world.directory.tenantOf(subscription),
    displayName: world.directory.nameOf(subscription) ?? subscription,
    state: "Enabled",
    subscriptionPolicies: {
      locationPlacementId: "Public_2014-09-01",
      quotaId: "PayAsYouGo_2014-09-01",
      spendingLimit: "Off",
    },
  };
}
