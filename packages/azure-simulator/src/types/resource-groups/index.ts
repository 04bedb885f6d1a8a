import { tags, text } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import { resourcesIn } from "../subscriptions/resources.ts";

/** Resource groups. Deleting one deletes all that is in it. */
export const resourceGroups: ResourceType = {
  type: "Microsoft.Resources/resourceGroups",
  dialect: "resources",
  roleType: "Microsoft.Resources/subscriptions/resourceGroups",
  within: "subscription",
  put: "sync",
  delete: "async",
  patchTags: true,
  list({ world, asker, address }) {
    const action = `${this.roleType}/read`;
    return [...world.store.collection(address.key)].filter(({ key }) =>
      world.allowed(asker, action, key),
    );
  },
  lists: {
    resources: ({ world, asker, address, query }) =>
      resourcesIn(address.groupKey ?? "", asker, query, world),
  },
  accept({ body, name, existing }) {
    if (!/^[-\w.()]{1,90}$/u.test(name) || name.endsWith("."))
      throw new Refusal(
        400,
        "InvalidResourceGroup",
        `The provided resource group name '${name}' is not valid.`,
        { by: "gateway" },
      );
    const location = text(body, "location", undefined) ?? existing?.top.location;
    if (location === undefined)
      throw new Refusal(
        400,
        "LocationRequired",
        "The location property is required for this definition.",
        { by: "gateway" },
      );
    return { top: { location, ...tags(body) }, properties: {} };
  },
  differences: [
    "A resource group is deleted as a whole or not at all: if another group uses one of its subnets, load balancers, addresses or interfaces, nothing is deleted. Azure deletes what it can before it rolls back [?]. A connected link service is deleted, and its endpoints show Disconnected [?].",
    "A list contains the groups that the caller may read; a caller who may read none is rejected, where Azure may return an empty list [?].",
    "The resources of a group do not show Deleting while the group does [?].",
    "managedBy, moving, exporting and locks (not done).",
  ],
};
