import type { ResourceType } from "../../arm/resource-type.ts";

/** The tenant that the asker signed in to. */
export const tenants: ResourceType = {
  type: "Microsoft.Resources/tenants",
  dialect: "resources",
  within: "tenant",
  open: true,
  list({ world, asker }) {
    const tenant = asker.tenant;
    const displayName = world.directory.nameOf(tenant) ?? tenant;
    return [
      {
        shown: { id: `/tenants/${tenant}`, tenantId: tenant, tenantCategory: "Home", displayName },
      },
    ];
  },
  differences: [
    "Only the tenant of the sign-in; Azure lists tenants in which the user is a guest too [D].",
  ],
};
