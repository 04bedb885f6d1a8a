import type { Kind } from "@postern/core/kind.ts";
import {
  access,
  inAzure,
  isBoth,
  isPrivate,
  isPublic,
  longestSubnet,
  says,
  topologies,
  withLink,
  withSwift,
} from "./access-spec.ts";
import { managed, onAzure, workloadWithoutOperator } from "./hosted-spec.ts";
import {
  mustBeSubnet,
  mustBeUuid,
  network,
  type Over,
  otherUuid,
  type Refusal,
  type Row,
  subnet,
  tooLong,
  tooShort,
  uuid,
} from "./row.ts";

const accepted: [says: string, azure: Over][] = [
  ["a cluster that says nothing of access", {}],
  ["a public cluster", isPublic],
  ["defaults expressible: a private cluster without privateLink", isPrivate],
  ["defaults expressible: a private cluster with an empty privateLink", withLink({})],
  ["defaults expressible: a public and private cluster without privateLink", isBoth],
  ["a private cluster with a NAT subnet", withLink({ natSubnetID: subnet })],
  ["a private cluster with the longest NAT subnet", withLink({ natSubnetID: longestSubnet })],
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

/** The places of the settings of a link: one in the shipped spelling, two in the other. */
const places: [path: string, put: (link: Over) => Over][] = [
  ["private.privateLink", (link) => withLink(link)],
  ["endpointAccess.private", (link) => access("Private", link)],
  ["privateConnectivity", (link) => ({ ...access("Private"), privateConnectivity: link })],
];

const linkRefused: [says: string, link: Over, field: string, ...messages: string[]][] = [
  ["an empty subnet", { natSubnetID: "" }, "natSubnetID", tooShort(1), mustBeSubnet],
  ["a longer subnet", { natSubnetID: `${longestSubnet}x` }, "natSubnetID", tooLong(355)],
  ["a network for a subnet", { natSubnetID: network }, "natSubnetID", mustBeSubnet],
  [
    "an empty list of subscriptions",
    { additionalAllowedSubscriptions: [] },
    "additionalAllowedSubscriptions",
    "in body should have at least 1 items",
  ],
  [
    "the same subscription twice",
    { additionalAllowedSubscriptions: [uuid, uuid] },
    "additionalAllowedSubscriptions[1]",
    `Duplicate value: "${uuid}"`,
  ],
  [
    "a name for a subscription",
    { additionalAllowedSubscriptions: ["x".repeat(36)] },
    "additionalAllowedSubscriptions[0]",
    mustBeUuid,
  ],
  [
    "a subscription that is cut off",
    { additionalAllowedSubscriptions: [uuid.slice(1)] },
    "additionalAllowedSubscriptions[0]",
    tooShort(36),
    mustBeUuid,
  ],
  [
    "a longer subscription",
    { additionalAllowedSubscriptions: [`${uuid}0`] },
    "additionalAllowedSubscriptions[0]",
    tooLong(36),
  ],
];

const refused: [says: string, azure: Over, ...Refusal[]][] = [
  ...places.flatMap(([path, put]) =>
    linkRefused.map(([what, link, field, ...messages]): [string, Over, ...Refusal[]] => [
      `${what} in ${path}`,
      put(link),
      ...messages.map((message): Refusal => [`${path}.${field}`, message]),
    ]),
  ),
  [
    "swift without a pod network instance",
    { topology: "Private", private: { type: "Swift", swift: {} } },
    ["private.swift.podNetworkInstance", "Required value"],
  ],
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

/** Rows about who reaches the API server, for a new object of a kind that has `spec.platform.azure`. */
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
        refused: refusals.map(inAzure),
      }),
    ),
  ];
}
