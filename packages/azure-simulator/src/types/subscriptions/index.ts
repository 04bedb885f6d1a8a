import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import type { JsonObject } from "../../state/store.ts";

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
  differences: [
    "Every subscription is enabled and has the same offer and policies; its locations cannot be asked for (not done).",
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
