import { type Over, type Refusal, subnet } from "./row.ts";

/** What the API server says of the fields about access. */
export const says = {
  twoSpellings:
    "endpointAccess and privateConnectivity are another spelling of topology and private: keep topology and private, and remove the others",
  connectivityAlone:
    "privateConnectivity is only for endpointAccess of type Private or PublicAndPrivate: set that type, or remove it",
  connectivityTwice:
    "privateConnectivity is another spelling of endpointAccess.private: keep that, and remove privateConnectivity",
  privateMissing:
    "private is required with topology Private or PublicAndPrivate: add it with type PrivateLink",
  privateSurplus:
    "private is only for topology Private or PublicAndPrivate: set that topology, or remove it",
  operatorMissing:
    "workloadIdentities.controlPlaneOperator is required with a private link: add it with the clientID of the identity that creates the endpoint",
  privateStays:
    "private cannot be added to a cluster or removed from it: restore the old value, or create a new cluster",
  topologyStays: "topology cannot be removed once it is set: restore its value",
  topologyKeepsSide:
    "topology cannot change between Public and the private ones: restore its value, or create a new cluster",
  typeStays:
    "private.type cannot change with its spelling, and endpointAccess means PrivateLink: restore the old value, or create a new cluster",
  natSubnetStays:
    "natSubnetID cannot be removed, nor change with its spelling: restore the old value, or create a new cluster",
  mustBeLabel: "must be a DNS label: lower case letters, digits and inner hyphens",
};
export const topologies = '"Public", "PublicAndPrivate", "Private"';

export const isPublic = { topology: "Public" };
export const isPrivate = { topology: "Private", private: { type: "PrivateLink" } };
export const isBoth = { topology: "PublicAndPrivate", private: { type: "PrivateLink" } };
export const withLink = (privateLink: Over, topology = "Private") => ({
  topology,
  private: { type: "PrivateLink", privateLink },
});
export const withSwift = (podNetworkInstance: string) => ({
  topology: "Private",
  private: { type: "Swift", swift: { podNetworkInstance } },
});
export const access = (type: string, link?: Over) => ({
  endpointAccess: { type, ...(link ? { private: link } : {}) },
});

export const longestSubnet = subnet.padEnd(355, "x");

/** A refusal of a field of `spec.platform.azure`, by its full path. */
export function inAzure([field, message]: Refusal): Refusal {
  return [`spec.platform.azure${field === "" ? "" : `.${field}`}`, message];
}
