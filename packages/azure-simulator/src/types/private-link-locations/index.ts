import { regionName } from "@postern/core/region.ts";
import { text } from "../../arm/fields.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import {
  isAutoApproved,
  isVisible,
  serviceOf,
  servicesIn,
} from "../private-link-services/aliases.ts";

/** What is asked of a place and not of a resource: which private link services a subscription may use there. */
export const privateLinkLocations: ResourceType = {
  type: "Microsoft.Network/locations",
  dialect: "network",
  within: "subscription",
  posts: {
    checkPrivateLinkServiceVisibility: {
      action: "Microsoft.Network/locations/checkPrivateLinkServiceVisibility/action",
      long: true,
      run({ world, address, body }) {
        const alias = text(body, "privateLinkServiceAlias", "");
        const service = serviceOf(alias, world.store);
        return {
          visible: service !== undefined && isVisible(service, address.subscription ?? ""),
        };
      },
    },
  },
  lists: {
    autoApprovedPrivateLinkServices({ world, address }) {
      const subscription = address.subscription ?? "";
      const place = regionName(address.names[0] ?? "");
      const found = [];
      for (const service of servicesIn(world.store))
        if (
          regionName(String(service.top.location)) === place &&
          isAutoApproved(service, subscription)
        )
          found.push({ shown: { privateLinkService: service.id } });
      return found;
    },
  },
  differences: [
    "Of the operations on locations only these two and the operations themselves (not done).",
    "A service is found by its alias in every location, whichever location is queried [?].",
  ],
};
