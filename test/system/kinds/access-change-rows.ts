import type { Kind } from "@postern/core/kind.ts";
import {
  access,
  inAzure,
  isBoth,
  isPrivate,
  isPublic,
  says,
  withLink,
  withSwift,
} from "./access-spec.ts";
import { onAzure } from "./hosted-spec.ts";
import {
  cannotChange,
  type Over,
  otherSubnet,
  otherUuid,
  type Refusal,
  type Row,
  subnet,
  uuid,
} from "./row.ts";

const accepted: [says: string, from: Over, to: Over][] = [
  ["from private to public and private", isPrivate, isBoth],
  ["from public and private to private", isBoth, isPrivate],
  ["from no topology to Public", {}, isPublic],
  ["from Public to Public", isPublic, isPublic],
  ["from no privateLink to an empty one", isPrivate, withLink({})],
  ["from an empty privateLink to none", withLink({}), isPrivate],
  ["to a NAT subnet", isPrivate, withLink({ natSubnetID: subnet })],
  ["to more subscriptions", isPrivate, withLink({ additionalAllowedSubscriptions: [uuid] })],
  [
    "to other subscriptions",
    withLink({ additionalAllowedSubscriptions: [uuid] }),
    withLink({ additionalAllowedSubscriptions: [otherUuid] }),
  ],
  [
    "away from more subscriptions",
    withLink({ additionalAllowedSubscriptions: [uuid] }),
    withLink({}),
  ],
  [
    "of endpointAccess from Private to PublicAndPrivate",
    access("Private"),
    access("PublicAndPrivate"),
  ],
  ["from nothing to endpointAccess Public", {}, access("Public")],
  [
    "of the spelling, from endpointAccess",
    access("Private", { natSubnetID: subnet }),
    withLink({ natSubnetID: subnet }),
  ],
  [
    "of the spelling, to endpointAccess",
    withLink({ natSubnetID: subnet }, "PublicAndPrivate"),
    access("Private", { natSubnetID: subnet }),
  ],
  [
    "of the spelling, from privateConnectivity",
    { ...access("Private"), privateConnectivity: { natSubnetID: subnet } },
    withLink({ natSubnetID: subnet }),
  ],
];

const refused: [says: string, from: Over, to: Over, ...Refusal[]][] = [
  [
    "from Public to Private",
    isPublic,
    isPrivate,
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  [
    "from Public to PublicAndPrivate",
    isPublic,
    isBoth,
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  [
    "from Private to Public",
    isPrivate,
    isPublic,
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  [
    "from PublicAndPrivate to Public",
    isBoth,
    isPublic,
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  ["from no topology to Private", {}, isPrivate, ["private", says.privateStays]],
  ["from no topology to PublicAndPrivate", {}, isBoth, ["private", says.privateStays]],
  ["from Public to no topology", isPublic, {}, ["topology", says.topologyStays]],
  [
    "from Private to nothing",
    isPrivate,
    {},
    ["private", says.privateStays],
    ["topology", says.topologyStays],
  ],
  [
    "from Private to no topology",
    isPrivate,
    { private: { type: "PrivateLink" } },
    ["private", says.privateSurplus],
    ["topology", says.topologyStays],
  ],
  [
    "that takes private away",
    isPrivate,
    { topology: "Private" },
    ["private", says.privateMissing],
    ["private", says.privateStays],
  ],
  [
    "that adds private",
    isPublic,
    { ...isPublic, private: { type: "PrivateLink" } },
    ["private", says.privateStays],
    ["private", says.privateSurplus],
  ],
  ["from PrivateLink to Swift", isPrivate, withSwift("x"), ["private.type", cannotChange("type")]],
  ["from Swift to PrivateLink", withSwift("x"), isPrivate, ["private.type", cannotChange("type")]],
  [
    "of the NAT subnet",
    withLink({ natSubnetID: subnet }),
    withLink({ natSubnetID: otherSubnet }),
    ["private.privateLink.natSubnetID", cannotChange("natSubnetID")],
  ],
  [
    "of the NAT subnet in endpointAccess",
    access("Private", { natSubnetID: subnet }),
    access("Private", { natSubnetID: otherSubnet }),
    ["endpointAccess.private.natSubnetID", cannotChange("natSubnetID")],
  ],
  [
    "of the NAT subnet in privateConnectivity",
    { ...access("Private"), privateConnectivity: { natSubnetID: subnet } },
    { ...access("Private"), privateConnectivity: { natSubnetID: otherSubnet } },
    ["privateConnectivity.natSubnetID", cannotChange("natSubnetID")],
  ],
  [
    "of the pod network instance",
    withSwift("x"),
    withSwift("y"),
    ["private.swift.podNetworkInstance", cannotChange("podNetworkInstance")],
  ],
  [
    "of endpointAccess from Public to Private",
    access("Public"),
    access("Private"),
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  [
    "of endpointAccess from Private to Public",
    access("Private"),
    access("Public"),
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  ["that takes endpointAccess away", access("Public"), {}, ["topology", says.topologyStays]],
  [
    "of the spelling that makes a public cluster private",
    isPublic,
    access("Private"),
    ["private", says.privateStays],
    ["topology", says.topologyKeepsSide],
  ],
  [
    "of the spelling that goes from Swift to a link",
    withSwift("x"),
    access("Private"),
    ["private", says.typeStays],
  ],
  [
    "of the spelling that goes from a link to Swift",
    access("Private"),
    withSwift("x"),
    ["private", says.typeStays],
  ],
  [
    "away from a NAT subnet",
    withLink({ natSubnetID: subnet }),
    withLink({}),
    ["", says.natSubnetStays],
  ],
  [
    "away from the whole privateLink with its NAT subnet",
    withLink({ natSubnetID: subnet }),
    isPrivate,
    ["", says.natSubnetStays],
  ],
  [
    "of the spelling that removes the NAT subnet",
    access("Private", { natSubnetID: subnet }),
    withLink({}),
    ["", says.natSubnetStays],
  ],
  [
    "of the spelling that changes the NAT subnet",
    access("Private", { natSubnetID: subnet }),
    withLink({ natSubnetID: otherSubnet }),
    ["", says.natSubnetStays],
  ],
  [
    "from endpointAccess.private to privateConnectivity that changes the NAT subnet",
    access("Private", { natSubnetID: subnet }),
    { ...access("Private"), privateConnectivity: { natSubnetID: otherSubnet } },
    ["", says.natSubnetStays],
  ],
];

/** Rows about a change of who reaches the API server, for a kind that has `spec.platform.azure`. */
export function accessChangeRows(kind: Kind): Row[] {
  return [
    ...accepted.map(
      ([what, from, to]): Row => ({
        says: `a change ${what} is accepted`,
        kind,
        spec: onAzure(from),
        becomes: onAzure(to),
      }),
    ),
    ...refused.map(
      ([what, from, to, ...refusals]): Row => ({
        says: `a change ${what} is refused`,
        kind,
        spec: onAzure(from),
        becomes: onAzure(to),
        refused: refusals.map(inAzure),
      }),
    ),
  ];
}
