import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import {
  cannotBeRemoved,
  cannotChange,
  mustBeDomain,
  mustBeGroup,
  mustBeId,
  mustBeIp,
  mustBeSubnet,
  mustBeUuid,
  network,
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

/** The smallest spec that is accepted, with some fields put over it. */
export function linkSpec(over: Over = {}): Record<string, unknown> {
  return {
    subscriptionID: uuid,
    resourceGroupName: "guest",
    location: "westeurope",
    guestSubnetID: subnet,
    guestVNetID: network,
    ...over,
  };
}

const kind = azurePrivateLinkService;
const mustBeNetwork = mustBeId("Microsoft.Network/virtualNetworks");
const mustBeRegion = "must be the short name of an Azure region in lower case, such as westeurope";

const longest = {
  group: "g".repeat(90),
  subnet: `/subscriptions/${uuid}/resourceGroups/${"g".repeat(90)}/providers/Microsoft.Network/virtualNetworks/${"v".repeat(64)}/subnets/${"s".repeat(80)}`,
  domain: `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`,
};
const subscriptions = (count: number) =>
  Array.from({ length: count }, (_, at) => `${uuid.slice(0, 34)}${String(at).padStart(2, "0")}`);

const accepted: [says: string, over: Over][] = [
  ["a link with only what is required", {}],
  [
    "a link with every field",
    {
      loadBalancerIP: "10.0.0.4",
      natSubnetID: otherSubnet,
      additionalAllowedSubscriptions: [otherUuid],
      baseDomain: "example.com",
    },
  ],
  ["a load balancer with an IPv6 address", { loadBalancerIP: "fd00::4" }],
  ["the longest IPv6 address", { loadBalancerIP: "2001:0db8:85a3:0000:0000:8a2e:0370:7334" }],
  ["a subscription in upper case", { subscriptionID: uuid.toUpperCase() }],
  ["a resource group with every kind of character", { resourceGroupName: "Az-09_.(x)" }],
  ["the longest name of a resource group", { resourceGroupName: longest.group }],
  ["the longest name of a region", { location: "a".repeat(50) }],
  ["the longest id of a subnet", { guestSubnetID: longest.subnet, natSubnetID: longest.subnet }],
  ["a link with fifty more subscriptions", { additionalAllowedSubscriptions: subscriptions(50) }],
  [
    "a link with another subscription in upper case",
    { additionalAllowedSubscriptions: [otherUuid.toUpperCase()] },
  ],
  ["a base domain of one label", { baseDomain: "local" }],
  ["a base domain in upper case", { baseDomain: "Example.COM" }],
  ["the longest base domain", { baseDomain: longest.domain }],
  [
    "case sensitivity: a guest subnet whose fixed words are in lower case",
    { guestSubnetID: subnet.toLowerCase() },
  ],
  [
    "case sensitivity: a NAT subnet whose fixed words are in upper case",
    { natSubnetID: subnet.toUpperCase() },
  ],
  [
    "case sensitivity: a guest network whose fixed words are in lower case",
    { guestVNetID: network.toLowerCase() },
  ],
];

const refused: [says: string, over: Over, field: string, ...messages: string[]][] = [
  ...["subscriptionID", "resourceGroupName", "location", "guestSubnetID", "guestVNetID"].map(
    (field): [string, Over, string, string] => [
      `a link without ${field}`,
      { [field]: undefined },
      field,
      "Required value",
    ],
  ),
  ["an empty address", { loadBalancerIP: "" }, "loadBalancerIP", tooShort(1), mustBeIp],
  ["a name for an address", { loadBalancerIP: "lb.example.com" }, "loadBalancerIP", mustBeIp],
  ["an address with leading zeros", { loadBalancerIP: "10.0.0.04" }, "loadBalancerIP", mustBeIp],
  ["a block for an address", { loadBalancerIP: "10.0.0.0/24" }, "loadBalancerIP", mustBeIp],
  ["an address with a zone", { loadBalancerIP: "fe80::1%eth0" }, "loadBalancerIP", mustBeIp],
  ["IPv4 written as IPv6", { loadBalancerIP: "::ffff:10.0.0.4" }, "loadBalancerIP", mustBeIp],
  ["a longer address", { loadBalancerIP: "1".repeat(40) }, "loadBalancerIP", tooLong(39)],
  [
    "a subscription that is cut off",
    { subscriptionID: uuid.slice(1) },
    "subscriptionID",
    tooShort(36),
    mustBeUuid,
  ],
  ["a longer subscription", { subscriptionID: `${uuid}0` }, "subscriptionID", tooLong(36)],
  [
    "a subscription with other letters",
    { subscriptionID: uuid.replace("5", "g") },
    "subscriptionID",
    mustBeUuid,
  ],
  [
    "a subscription without hyphens",
    { subscriptionID: uuid.replaceAll("-", "0") },
    "subscriptionID",
    mustBeUuid,
  ],
  [
    "an empty resource group",
    { resourceGroupName: "" },
    "resourceGroupName",
    tooShort(1),
    mustBeGroup,
  ],
  [
    "a resource group that ends with a dot",
    { resourceGroupName: "guest." },
    "resourceGroupName",
    mustBeGroup,
  ],
  ["a resource group with a slash", { resourceGroupName: "a/b" }, "resourceGroupName", mustBeGroup],
  [
    "a longer resource group",
    { resourceGroupName: `${longest.group}g` },
    "resourceGroupName",
    tooLong(90),
  ],
  ["an empty region", { location: "" }, "location", tooShort(1), mustBeRegion],
  ["a region in upper case", { location: "WestEurope" }, "location", mustBeRegion],
  ["a region's display name", { location: "west europe" }, "location", mustBeRegion],
  ["a longer region", { location: "a".repeat(51) }, "location", tooLong(50)],
  ["an empty NAT subnet", { natSubnetID: "" }, "natSubnetID", tooShort(1), mustBeSubnet],
  ["a network for a NAT subnet", { natSubnetID: network }, "natSubnetID", mustBeSubnet],
  [
    "a subnet's child for a NAT subnet",
    { natSubnetID: `${subnet}/x/y` },
    "natSubnetID",
    mustBeSubnet,
  ],
  ["a NAT subnet with a slash behind", { natSubnetID: `${subnet}/` }, "natSubnetID", mustBeSubnet],
  [
    "a NAT subnet without its first slash",
    { natSubnetID: subnet.slice(1) },
    "natSubnetID",
    mustBeSubnet,
  ],
  [
    "a NAT subnet of another provider",
    { natSubnetID: subnet.replace("Microsoft.Network", "MicrosoftxNetwork") },
    "natSubnetID",
    mustBeSubnet,
  ],
  ["a longer NAT subnet", { natSubnetID: `${longest.subnet}s` }, "natSubnetID", tooLong(355)],
  ["an empty guest subnet", { guestSubnetID: "" }, "guestSubnetID", tooShort(1), mustBeSubnet],
  ["a longer guest subnet", { guestSubnetID: `${longest.subnet}s` }, "guestSubnetID", tooLong(355)],
  ["an empty guest network", { guestVNetID: "" }, "guestVNetID", tooShort(1), mustBeNetwork],
  [
    "a longer guest network",
    { guestVNetID: `${network}${"v".repeat(355)}` },
    "guestVNetID",
    tooLong(355),
  ],
  ["a network for the guest's subnet", { guestSubnetID: network }, "guestSubnetID", mustBeSubnet],
  ["a subnet for the guest's network", { guestVNetID: subnet }, "guestVNetID", mustBeNetwork],
  [
    "an empty list of more subscriptions",
    { additionalAllowedSubscriptions: [] },
    "additionalAllowedSubscriptions",
    "should have at least 1 items",
  ],
  [
    "fifty-one more subscriptions",
    { additionalAllowedSubscriptions: subscriptions(51) },
    "additionalAllowedSubscriptions",
    "must have at most 50 items",
  ],
  [
    "the same subscription twice",
    { additionalAllowedSubscriptions: [uuid, uuid] },
    "additionalAllowedSubscriptions[1]",
    `Duplicate value: "${uuid}"`,
  ],
  [
    "a name among more subscriptions",
    { additionalAllowedSubscriptions: [otherUuid, "x".repeat(36)] },
    "additionalAllowedSubscriptions[1]",
    mustBeUuid,
  ],
  [
    "a subscription that is cut off among more subscriptions",
    { additionalAllowedSubscriptions: [uuid.slice(1)] },
    "additionalAllowedSubscriptions[0]",
    tooShort(36),
    mustBeUuid,
  ],
  ["an empty base domain", { baseDomain: "" }, "baseDomain", tooShort(1), mustBeDomain],
  ["a base domain with a dot behind", { baseDomain: "example.com." }, "baseDomain", mustBeDomain],
  ["a base domain with two dots", { baseDomain: "example..com" }, "baseDomain", mustBeDomain],
  ["a base domain with a hyphen first", { baseDomain: "-example.com" }, "baseDomain", mustBeDomain],
  ["a base domain with an underscore", { baseDomain: "a_b.com" }, "baseDomain", mustBeDomain],
  ["a longer base domain", { baseDomain: `${longest.domain}d` }, "baseDomain", tooLong(253)],
];

const full = {
  loadBalancerIP: "10.0.0.4",
  natSubnetID: subnet,
  additionalAllowedSubscriptions: [uuid],
  baseDomain: "example.com",
};

const changesAccepted: [says: string, from: Over, to: Over][] = [
  ["a link that stays the same", full, full],
  ["an address that comes", {}, { loadBalancerIP: "10.0.0.4" }],
  ["an address that changes", full, { ...full, loadBalancerIP: "10.0.0.5" }],
  ["an address that goes", full, { ...full, loadBalancerIP: undefined }],
  ["more subscriptions that come", {}, { additionalAllowedSubscriptions: [uuid] }],
  [
    "more subscriptions that change",
    full,
    { ...full, additionalAllowedSubscriptions: [otherUuid] },
  ],
  ["more subscriptions that go", full, { ...full, additionalAllowedSubscriptions: undefined }],
  ["a NAT subnet that comes", {}, { natSubnetID: subnet }],
  ["a base domain that comes", {}, { baseDomain: "example.com" }],
];

const changesRefused: [field: string, to: unknown][] = [
  ["subscriptionID", otherUuid],
  ["resourceGroupName", "other"],
  ["location", "northeurope"],
  ["natSubnetID", otherSubnet],
  ["guestSubnetID", otherSubnet],
  ["guestVNetID", `${network}2`],
  ["baseDomain", "example.org"],
];

const removalsRefused = ["natSubnetID", "baseDomain"];

/** All rows about the spec of a link. */
export const linkSpecRows: Row[] = [
  ...accepted.map(
    ([says, over]): Row => ({ says: `${says} is accepted`, kind, spec: linkSpec(over) }),
  ),
  ...refused.map(
    ([says, over, field, ...messages]): Row => ({
      says: `${says} is refused`,
      kind,
      spec: linkSpec(over),
      refused: messages.map((message) => [`spec.${field}`, message]),
    }),
  ),
  {
    says: "a link without a spec is refused",
    kind,
    spec: undefined,
    refused: [["spec", "Required value"]],
  },
  ...changesAccepted.map(
    ([says, from, to]): Row => ({
      says: `${says} is accepted`,
      kind,
      spec: linkSpec(from),
      becomes: linkSpec(to),
    }),
  ),
  ...changesRefused.map(
    ([field, to]): Row => ({
      says: `a change of ${field} is refused`,
      kind,
      spec: linkSpec(full),
      becomes: linkSpec({ ...full, [field]: to }),
      refused: [[`spec.${field}`, cannotChange(field)]],
    }),
  ),
  ...removalsRefused.map(
    (field): Row => ({
      says: `the removal of ${field} is refused`,
      kind,
      spec: linkSpec(full),
      becomes: linkSpec({ ...full, [field]: undefined }),
      refused: [[`spec.${field}`, cannotBeRemoved(field)]],
    }),
  ),
  {
    says: "a change of guestSubnetID in case only is refused",
    kind,
    spec: linkSpec(),
    becomes: linkSpec({ guestSubnetID: subnet.toUpperCase() }),
    refused: [["spec.guestSubnetID", cannotChange("guestSubnetID")]],
  },
  {
    says: "two changes at once are refused by both fields",
    kind,
    spec: linkSpec(),
    becomes: linkSpec({ location: "northeurope", resourceGroupName: "other" }),
    refused: [
      ["spec.location", cannotChange("location")],
      ["spec.resourceGroupName", cannotChange("resourceGroupName")],
    ] satisfies Refusal[],
  },
  {
    says: "a required field that goes is refused",
    kind,
    spec: linkSpec(),
    becomes: linkSpec({ guestVNetID: undefined }),
    refused: [["spec.guestVNetID", "Required value"]],
  },
];
