import type { ResourceType } from "../../arm/resource-type.ts";

/** What the asker may do at a scope. */
export const permissions: ResourceType = {
  type: "Microsoft.Authorization/permissions",
  dialect: "authorization",
  within: "scope",
  list({ world, asker, address }) {
    return world.roles.permissionsAt(asker, address.scopeKey).map(({ actions, notActions }) => ({
      shown: {
        actions: [...actions],
        notActions: [...notActions],
        dataActions: [],
        notDataActions: [],
      },
    }));
  },
  differences: ["dataActions are always empty (not done)."],
};
