import type { Kind } from "../../../src/model/kind.ts";
import { managed, onAzure, workloadWithoutOperator } from "./hosted-spec.ts";
import {
  cannotChange,
  mustBeSubnet,
  mustBeUuid,
  type Over,
  otherSubnet,
  otherUuid,
  type Refusal,
  type Row,
  subnet,
  tooLong,
  tooShort,
  uuid,
} from "./row.ts";

const says = {
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
    "workloadIdentities.controlPlaneOperator is required with a private link: add it with the clientID of the identity that makes the endpoint",
  privateStays:
    "private cannot be added to a cluster or removed from it: put back what was there, or create a new cluster",
  topologyStays: "topology cannot be removed once it is set: put back its value",
  topologyKeepsSide:
    "topology cannot change between Public and the private ones: put back its value, or create a new cluster",
  natSubnetStays:
    "natSubnetID cannot change with its spelling: put back the old value, or create a new cluster",
  mustBeLabel: "must be a DNS label: lower case letters, digits and inner hyphens",
};
const topologies = '"Public", "PublicAndPrivate", "Private"';

const isPublic = { topology: "Public" };
const isPrivate = { topology: "Private", private: { type: "PrivateLink" } };
const isBoth = { topology: "PublicAndPrivate", private: { type: "PrivateLink" } };
const withLink = (privateLink: Over, topology = "Private") => ({
  topology,
  private: { type: "PrivateLink", privateLink },
});
const withSwift = (podNetworkInstance: string) => ({
  topology: "Private",
  private: { type: "Swift", swift: { podNetworkInstance } },
});
const access = (type: string, link?: Over) => ({
  endpointAccess: { type, ...(link ? { private: link } : {}) },
});

const accepted: [says: string, azure: Over][] = [
  ["a cluster that says nothing of access", {}],
  ["a public cluster", isPublic],
  ["defaults expressible: a private cluster without privateLink", isPrivate],
  ["defaults expressible: a private cluster with an empty privateLink", withLink({})],
  ["defaults expressible: a public and private cluster without privateLink", isBoth],
  ["a private cluster with a NAT subnet", withLink({ natSubnetID: subnet })],
  [
    "a private cluster with more subscriptions",
    withLink({ additionalAllowedSubscriptions: [uuid, otherUuid] }),
  ],
  [
    "case sensitivity: a private cluster with a NAT subnet in lower case",
    withLink({ natSubnetID: subnet.toLowerCase() }),
  ],
  ["a cluster that uses Swift", withSwift("instance-1")],
  [
    "a cluster that uses Swift, without the operator's identity",
    { ...withSwift("x"), azureAuthenticationConfig: workloadWithoutOperator },
  ],
  [
    "a private cluster of a managed service, without the operator's identity",
    { ...isPrivate, azureAuthenticationConfig: managed },
  ],
  [
    "a public cluster without the operator's identity",
    { ...isPublic, azureAuthenticationConfig: workloadWithoutOperator },
  ],
  ["endpointAccess of type Public", access("Public")],
  ["defaults expressible: endpointAccess of type Private alone", access("Private")],
  ["defaults expressible: endpointAccess with an empty private", access("Private", {})],
  [
    "endpointAccess with a NAT subnet and more subscriptions",
    access("PublicAndPrivate", { natSubnetID: subnet, additionalAllowedSubscriptions: [uuid] }),
  ],
  [
    "endpointAccess beside privateConnectivity",
    { ...access("Private"), privateConnectivity: { natSubnetID: subnet } },
  ],
];

const refused: [says: string, azure: Over, ...Refusal[]][] = [
  [
    "an unknown topology",
    { topology: "Hidden" },
    ["topology", `Unsupported value: "Hidden": supported values: ${topologies}`],
  ],
  ["a private cluster without private", { topology: "Private" }, ["private", says.privateMissing]],
  [
    "a public and private cluster without private",
    { topology: "PublicAndPrivate" },
    ["private", says.privateMissing],
  ],
  [
    "a public cluster with private",
    { ...isPrivate, topology: "Public" },
    ["private", says.privateSurplus],
  ],
  [
    "private without a topology",
    { private: { type: "PrivateLink" } },
    ["private", says.privateSurplus],
  ],
  [
    "private without a type",
    { topology: "Private", private: {} },
    ["private.type", "Required value"],
  ],
  [
    "private of an unknown type",
    { topology: "Private", private: { type: "Peering" } },
    ["private.type", 'Unsupported value: "Peering": supported values: "PrivateLink", "Swift"'],
  ],
  [
    "privateLink with type Swift",
    {
      topology: "Private",
      private: { type: "Swift", swift: { podNetworkInstance: "x" }, privateLink: {} },
    },
    ["private.privateLink", "privateLink is only for type PrivateLink: remove it"],
  ],
  [
    "swift with type PrivateLink",
    {
      topology: "Private",
      private: { type: "PrivateLink", swift: { podNetworkInstance: "x" } },
    },
    ["private.swift", "swift is only for type Swift: remove it"],
  ],
  [
    "type Swift without swift",
    { topology: "Private", private: { type: "Swift" } },
    ["private.swift", "swift is required with type Swift: add it with its podNetworkInstance"],
  ],
  [
    "a pod network instance in upper case",
    withSwift("Instance"),
    ["private.swift.podNetworkInstance", says.mustBeLabel],
  ],
  [
    "an empty pod network instance",
    withSwift(""),
    ["private.swift.podNetworkInstance", tooShort(1)],
    ["private.swift.podNetworkInstance", says.mustBeLabel],
  ],
  [
    "a longer pod network instance",
    withSwift("x".repeat(64)),
    ["private.swift.podNetworkInstance", tooLong(63)],
  ],
  [
    "a private link without the operator's identity",
    { ...isPrivate, azureAuthenticationConfig: workloadWithoutOperator },
    ["azureAuthenticationConfig.workloadIdentities.controlPlaneOperator", says.operatorMissing],
  ],
  [
    "endpointAccess of type Private without the operator's identity",
    { ...access("Private"), azureAuthenticationConfig: workloadWithoutOperator },
    ["azureAuthenticationConfig.workloadIdentities.controlPlaneOperator", says.operatorMissing],
  ],
  [
    "a network for a NAT subnet",
    withLink({ natSubnetID: subnet.replace("/subnets/machines", "") }),
    ["private.privateLink.natSubnetID", mustBeSubnet],
  ],
  [
    "a network for a NAT subnet of endpointAccess",
    access("Private", { natSubnetID: subnet.replace("/subnets/machines", "") }),
    ["endpointAccess.private.natSubnetID", mustBeSubnet],
  ],
  [
    "a name among more subscriptions",
    withLink({ additionalAllowedSubscriptions: ["x".repeat(36)] }),
    ["private.privateLink.additionalAllowedSubscriptions[0]", mustBeUuid],
  ],
  [
    "the same subscription twice",
    withLink({ additionalAllowedSubscriptions: [uuid, uuid] }),
    ["private.privateLink.additionalAllowedSubscriptions[1]", `Duplicate value: "${uuid}"`],
  ],
  [
    "an empty list of more subscriptions",
    withLink({ additionalAllowedSubscriptions: [] }),
    ["private.privateLink.additionalAllowedSubscriptions", "in body should have at least 1 items"],
  ],
  ["topology beside endpointAccess", { ...isPublic, ...access("Public") }, ["", says.twoSpellings]],
  [
    "private beside endpointAccess of the same meaning",
    { ...isPrivate, ...access("Private") },
    ["", says.twoSpellings],
  ],
  [
    "private beside privateConnectivity",
    { ...isPrivate, privateConnectivity: {} },
    ["", says.twoSpellings],
    ["privateConnectivity", says.connectivityAlone],
  ],
  [
    "privateConnectivity alone",
    { privateConnectivity: {} },
    ["privateConnectivity", says.connectivityAlone],
  ],
  [
    "privateConnectivity beside endpointAccess of type Public",
    { ...access("Public"), privateConnectivity: {} },
    ["privateConnectivity", says.connectivityAlone],
  ],
  [
    "privateConnectivity beside endpointAccess.private",
    { ...access("Private", {}), privateConnectivity: {} },
    ["privateConnectivity", says.connectivityTwice],
  ],
  [
    "endpointAccess of type Public with private",
    access("Public", {}),
    [
      "endpointAccess.private",
      "private is only for type Private or PublicAndPrivate: set that type, or remove it",
    ],
  ],
  [
    "endpointAccess of an unknown type",
    access("Hidden"),
    ["endpointAccess.type", `Unsupported value: "Hidden": supported values: ${topologies}`],
  ],
  [
    "endpointAccess without a type",
    { endpointAccess: {} },
    ["endpointAccess.type", "Required value"],
  ],
];

const changesAccepted: [says: string, from: Over, to: Over][] = [
  ["from private to public and private", isPrivate, isBoth],
  ["from public and private to private", isBoth, isPrivate],
  ["from no topology to Public", {}, isPublic],
  ["from Public to Public", isPublic, isPublic],
  ["from no privateLink to an empty one", isPrivate, withLink({})],
  ["from an empty privateLink to none", withLink({}), isPrivate],
  ["to a NAT subnet", isPrivate, withLink({ natSubnetID: subnet })],
  ["away from a NAT subnet", withLink({ natSubnetID: subnet }), withLink({})],
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

const changesRefused: [says: string, from: Over, to: Over, ...Refusal[]][] = [
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

const at = ([field, message]: Refusal): Refusal => [
  `spec.platform.azure${field === "" ? "" : `.${field}`}`,
  message,
];

/** All rows about who reaches the API server, for a kind that has `spec.platform.azure`. */
export function accessRows(kind: Kind): Row[] {
  return [
    ...accepted.map(
      ([what, azure]): Row => ({ says: `${what} is accepted`, kind, spec: onAzure(azure) }),
    ),
    ...refused.map(
      ([what, azure, ...refusals]): Row => ({
        says: `${what} is refused`,
        kind,
        spec: onAzure(azure),
        refused: refusals.map(at),
      }),
    ),
    ...changesAccepted.map(
      ([what, from, to]): Row => ({
        says: `a change ${what} is accepted`,
        kind,
        spec: onAzure(from),
        becomes: onAzure(to),
      }),
    ),
    ...changesRefused.map(
      ([what, from, to, ...refusals]): Row => ({
        says: `a change ${what} is refused`,
        kind,
        spec: onAzure(from),
        becomes: onAzure(to),
        refused: refusals.map(at),
      }),
    ),
  ];
}
