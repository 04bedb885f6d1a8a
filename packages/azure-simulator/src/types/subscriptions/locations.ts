import { regionName } from "@postern/core/region.ts";
import type { JsonObject } from "../../state/store.ts";

/** Azure's public regions: https://learn.microsoft.com/azure/reliability/regions-list */
export const locations: readonly string[] = [
  "East US",
  "East US 2",
  "South Central US",
  "West US 2",
  "West US 3",
  "Australia East",
  "Southeast Asia",
  "North Europe",
  "Sweden Central",
  "UK South",
  "West Europe",
  "Central US",
  "South Africa North",
  "Central India",
  "East Asia",
  "Indonesia Central",
  "Japan East",
  "Japan West",
  "Korea Central",
  "Malaysia West",
  "New Zealand North",
  "Canada Central",
  "Austria East",
  "Belgium Central",
  "Denmark East",
  "France Central",
  "Germany West Central",
  "Italy North",
  "Norway East",
  "Poland Central",
  "Spain Central",
  "Switzerland North",
  "Mexico Central",
  "Chile Central",
  "UAE North",
  "Brazil South",
  "Israel Central",
  "Qatar Central",
  "North Central US",
  "West US",
  "West Central US",
  "South Africa West",
  "Australia Central",
  "Australia Central 2",
  "Australia Southeast",
  "Korea South",
  "South India",
  "West India",
  "Jio India West",
  "Jio India Central",
  "Canada East",
  "France South",
  "Germany North",
  "Norway West",
  "Switzerland West",
  "UK West",
  "Sweden South",
  "UAE Central",
  "Brazil Southeast",
  "East US 2 EUAP",
  "Central US EUAP",
];

/** Those of the other clouds: resources can be in them, and subscriptions do not list them. */
const elsewhere: readonly string[] = [
  "US Gov Virginia",
  "US Gov Texas",
  "US Gov Arizona",
  "US DoD Central",
  "US DoD East",
  "China North",
  "China North 2",
  "China North 3",
  "China East",
  "China East 2",
  "China East 3",
];

const known = new Set([...locations, ...elsewhere].map(regionName));

/** Whether a region is one of Azure's, in any of its clouds. */
export function isLocation(location: string): boolean {
  return known.has(regionName(location));
}

/** The names of all regions, as refusals list them. */
export function locationNames(): string {
  return [...known].sort().join(",");
}

/** A region as a subscription lists it. */
export function shownLocation(displayName: string, subscription: string): JsonObject {
  const name = regionName(displayName);
  return {
    id: `/subscriptions/${subscription}/locations/${name}`,
    name,
    type: "Region",
    displayName,
    regionalDisplayName: displayName,
    metadata: { regionType: "Physical", regionCategory: "Recommended" },
  };
}
