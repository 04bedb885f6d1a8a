import { azureCluster as kind } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterSpec, internal, link, nat } from "./azure-cluster-spec.ts";
import {
  cannotChange,
  mustBeIp,
  type Over,
  otherUuid,
  type Refusal,
  type Row,
  tooShort,
  uuid,
} from "./row.ts";

const all = "spec.networkSpec.apiServerLB.privateLinks";
const at = `${all}[0]`;
const oneSpelling =
  "set one of natIpConfigurations and natIPConfigurations, as the installed CAPZ spells it";
const keepsNat =
  "the NAT addresses of a link cannot change: restore the old list, or create a link with another name";
const mustBeAllowed =
  "every auto-approved subscription must be allowed: add it to allowedSubscriptions";

const cluster = (privateLinks: unknown[], over: Over = {}) =>
  azureClusterSpec({ apiServerLB: internal({ privateLinks, ...over }) });

const given = (says: string, links: unknown[], ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec: cluster(links),
  ...(refusals.length > 0 && { refused: refusals }),
});

const changed = (says: string, from: unknown[], to: unknown[], ...refusals: Refusal[]): Row => ({
  ...given(says, from, ...refusals),
  becomes: cluster(to),
});

/** The same link as CAPZ itself spells it. */
const upstream = (natIPConfigurations: unknown = [nat()], over: Over = {}) =>
  link({ natIpConfigurations: undefined, natIPConfigurations, ...over });

const many = (count: number, over: (n: number) => Over = () => ({})) =>
  Array.from({ length: count }, (_, n) => link({ name: `link-${n}`, ...over(n) }));

const spelt = (["natIpConfigurations", "natIPConfigurations"] as const).flatMap((spelling) => {
  const says = (what: string) => `${what} in ${spelling}`;
  const of = (nats: unknown) => link({ natIpConfigurations: undefined, [spelling]: nats });
  const field = `${at}.${spelling}`;
  return [
    given(says("a link"), [of([nat()])]),
    given(says("a link with 8 NAT addresses"), [of(Array.from({ length: 8 }, () => nat()))]),
    given(
      says("a link with 9 NAT addresses"),
      [of(Array.from({ length: 9 }, () => nat()))],
      [field, "Too many: 9: must have at most 8 items"],
    ),
    given(
      says("a link with no NAT address"),
      [of([])],
      [field, "in body should have at least 1 items"],
    ),
    given(
      says("an address of a third kind"),
      [of([nat({ allocationMethod: "Lucky" })])],
      [
        `${field}[0].allocationMethod`,
        'Unsupported value: "Lucky": supported values: "Static", "Dynamic"',
      ],
    ),
    given(
      says("an address without a subnet"),
      [of([nat({ subnet: undefined })])],
      [`${field}[0].subnet`, "Required value"],
    ),
    given(
      says("an address in a subnet that is not there"),
      [of([nat({ subnet: "moon" })])],
      [
        all,
        "the NAT addresses of a private link are in a subnet that does not exist: use one of subnets",
      ],
    ),
    given(says("a fixed address"), [
      of([nat({ allocationMethod: "Static", privateIPAddress: "10.0.16.7" })]),
    ]),
    given(
      says("a fixed address that is not given"),
      [of([nat({ allocationMethod: "Static" })])],
      [
        `${field}[0].privateIPAddress`,
        "privateIPAddress is required with Static: add it, or set Dynamic",
      ],
    ),
    given(
      says("a fixed address that is none"),
      [of([nat({ allocationMethod: "Static", privateIPAddress: "ten" })])],
      [`${field}[0].privateIPAddress`, mustBeIp],
    ),
    given(
      says("a fixed address in another subnet than its own"),
      [of([nat({ allocationMethod: "Static", privateIPAddress: "10.0.0.7" })])],
      [
        all,
        "a Static NAT address of a private link is outside its subnet: choose one in the subnet",
      ],
    ),
    changed(
      says("another NAT address"),
      [of([nat()])],
      [of([nat({ subnet: "control-plane-subnet" })])],
      [field, cannotChange(spelling)],
    ),
    changed(
      says("a link of another name with another NAT address"),
      [of([nat()])],
      [{ ...of([nat({ subnet: "control-plane-subnet" })]), name: "other" }],
    ),
  ];
});

/** Rows about the private links of an AzureCluster. */
export const privateLinkRows: Row[] = [
  ...spelt,
  given(
    "a link with neither spelling",
    [link({ natIpConfigurations: undefined })],
    [at, oneSpelling],
  ),
  given("a link with both spellings", [link({ natIPConfigurations: [nat()] })], [at, oneSpelling]),
  changed("a change of the spelling", [link()], [upstream()], [at, keepsNat]),
  given("8 links", many(8)),
  given("9 links", many(9), [all, "Too many: 9: must have at most 8 items"]),
  given(
    "two links of one name",
    [link(), upstream()],
    [`${all}[1]`, 'Duplicate value: {"name":"wc1-api-privatelink"}'],
  ),
  given("a link without a name", [link({ name: undefined })], [`${at}.name`, "Required value"]),
  given("a link with an empty name", [link({ name: "" })], [`${at}.name`, tooShort(1)]),
  given(
    "a link to no frontend",
    [link({ lbFrontendIPConfigNames: [] })],
    [`${at}.lbFrontendIPConfigNames`, "in body should have at least 1 items"],
  ),
  given(
    "a link to a frontend that is not there",
    [link({ lbFrontendIPConfigNames: ["moon"] })],
    [all, "a private link refers to a frontend that does not exist: use one of frontendIPs"],
  ),
  given(
    "a link to one frontend twice",
    [
      link({
        lbFrontendIPConfigNames: [
          "wc1-api-internal-lb-frontend-ip",
          "wc1-api-internal-lb-frontend-ip",
        ],
      }),
    ],
    [`${at}.lbFrontendIPConfigNames[1]`, 'Duplicate value: "wc1-api-internal-lb-frontend-ip"'],
  ),
  {
    says: "a link on a load balancer whose frontend is not known yet is accepted",
    kind,
    spec: cluster([link()], { frontendIPs: undefined }),
  },
  {
    says: "a link on a public load balancer is refused",
    kind,
    spec: cluster([link()], { type: "Public" }),
    refused: [[all, "private links require a load balancer of type Internal: remove them"]],
  },
  given("a link that allows nobody", [
    link({ allowedSubscriptions: undefined, autoApprovedSubscriptions: undefined }),
  ]),
  given("a link whose connections must all be approved", [link({ autoApprovedSubscriptions: [] })]),
  given(
    "a link that approves whom it does not allow",
    [link({ allowedSubscriptions: [uuid], autoApprovedSubscriptions: [otherUuid] })],
    [`${at}.autoApprovedSubscriptions`, mustBeAllowed],
  ),
  given(
    "a link that approves and allows nobody by name",
    [link({ allowedSubscriptions: undefined, autoApprovedSubscriptions: [uuid] })],
    [`${at}.autoApprovedSubscriptions`, mustBeAllowed],
  ),
  given("case sensitivity: a link that approves in upper case whom it allows in lower", [
    link({
      allowedSubscriptions: [otherUuid],
      autoApprovedSubscriptions: [otherUuid.toUpperCase()],
    }),
  ]),
  given("a link for a hundred subscriptions", [
    link({
      allowedSubscriptions: Array.from({ length: 100 }, (_, n) => `${uuid}-${n}`),
      autoApprovedSubscriptions: Array.from({ length: 100 }, (_, n) => `${uuid}-${n}`),
    }),
  ]),
  given("a link with the proxy protocol", [link({ enableProxyProtocol: true })]),
  changed(
    "another list of subscriptions",
    [link()],
    [link({ allowedSubscriptions: [uuid], autoApprovedSubscriptions: [] })],
  ),
  changed("a link that goes", [link()], []),
];
