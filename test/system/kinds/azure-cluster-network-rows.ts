import { azureCluster as kind } from "@postern/core/kinds/azure-cluster.ts";
import {
  azureClusterSpec,
  connection,
  controlPlane,
  endpoint,
  internal,
  linkService,
  nodes,
} from "./azure-cluster-spec.ts";
import { cannotChange, type Over, type Refusal, type Row, tooLong, tooShort } from "./row.ts";

const network = "spec.networkSpec";
const at = `${network}.subnets[1].privateEndpoints[0]`;
const mustBeName = "in body should match '^[-\\w._]+$'";
const mustBeId =
  "in body should match '(?i:subscriptions/[^/]+/resourcegroups/[^/]+/providers/[^/]+/[^/]+/[^/]+)'";

const given = (says: string, over: Over, ...refusals: Refusal[]): Row => ({
  says: `${says} is ${refusals.length > 0 ? "refused" : "accepted"}`,
  kind,
  spec: azureClusterSpec(over),
  ...(refusals.length > 0 && { refused: refusals }),
});

const changed = (says: string, from: Over, to: Over, ...refusals: Refusal[]): Row => ({
  ...given(says, from, ...refusals),
  becomes: azureClusterSpec(to),
});

const holding = (...privateEndpoints: unknown[]) => ({
  subnets: [controlPlane(), nodes({ privateEndpoints })],
});

const subnets = (over: Over) => ({ subnets: [controlPlane(), nodes(over)] });

const sentence = (length: number) => connection({ requestMessage: "x".repeat(length) });

const endpoints: Row[] = [
  given("an endpoint", holding(endpoint())),
  given("an endpoint with everything", {
    ...holding(
      endpoint({
        customNetworkInterfaceName: "nic",
        privateIPAddresses: ["10.0.16.9"],
        applicationSecurityGroups: ["/asg"],
        manualApproval: true,
        privateLinkServiceConnections: [
          connection({ groupIDs: ["x"], requestMessage: "from the management cluster" }),
        ],
      }),
    ),
  }),
  given(
    "a thousand endpoints in one subnet",
    holding(...Array.from({ length: 1000 }, (_, n) => endpoint({ name: `wc${n}` }))),
  ),
  given(
    "case sensitivity: an id in upper case",
    holding(
      endpoint({
        privateLinkServiceConnections: [
          connection({ privateLinkServiceID: linkService.toUpperCase() }),
        ],
      }),
    ),
  ),
  given(
    "a connection without a name",
    holding(endpoint({ privateLinkServiceConnections: [connection({ name: undefined })] })),
  ),
  given(
    "a request message of 140 letters",
    holding(endpoint({ privateLinkServiceConnections: [sentence(140)] })),
  ),
  given(
    "a request message of 141 letters",
    holding(endpoint({ privateLinkServiceConnections: [sentence(141)] })),
    [`${at}.privateLinkServiceConnections[0].requestMessage`, tooLong(140)],
  ),
  given("an endpoint without a name", holding(endpoint({ name: undefined })), [
    `${at}.name`,
    "Required value",
  ]),
  given("an endpoint with an empty name", holding(endpoint({ name: "" })), [
    `${at}.name`,
    tooShort(1),
  ]),
  given("an endpoint with a space in its name", holding(endpoint({ name: "a b" })), [
    `${at}.name`,
    mustBeName,
  ]),
  given("two endpoints of one name", holding(endpoint(), endpoint({ location: "northeurope" })), [
    `${network}.subnets[1].privateEndpoints[1]`,
    'Duplicate value: {"name":"wc1-api-privatelink-privateendpoint"}',
  ]),
  given(
    "an endpoint that connects to nothing",
    holding(endpoint({ privateLinkServiceConnections: [] })),
    [`${at}.privateLinkServiceConnections`, "in body should have at least 1 items"],
  ),
  given(
    "an endpoint that does not say what it connects to",
    holding(endpoint({ privateLinkServiceConnections: undefined })),
    [`${at}.privateLinkServiceConnections`, "Required value"],
  ),
  given(
    "a connection to no link service",
    holding(
      endpoint({
        privateLinkServiceConnections: [connection({ privateLinkServiceID: undefined })],
      }),
    ),
    [`${at}.privateLinkServiceConnections[0].privateLinkServiceID`, "Required value"],
  ),
  given(
    "a connection to an alias",
    holding(
      endpoint({
        privateLinkServiceConnections: [
          connection({ privateLinkServiceID: "pls.1.westeurope.azure.privatelinkservice" }),
        ],
      }),
    ),
    [`${at}.privateLinkServiceConnections[0].privateLinkServiceID`, mustBeId],
  ),
  given(
    "a connection with a slash in its name",
    holding(endpoint({ privateLinkServiceConnections: [connection({ name: "a/b" })] })),
    [`${at}.privateLinkServiceConnections[0].name`, mustBeName],
  ),
  changed("an endpoint that comes", {}, holding(endpoint())),
  changed("an endpoint that changes", holding(endpoint()), holding(endpoint({ location: "x" }))),
  changed("an endpoint that goes", holding(endpoint()), {}),
];

const field = (name: string) => `${network}.subnets[1].${name}`;

const ofSubnets: Row[] = [
  given("a network without subnets", { subnets: undefined }),
  given("a network with no subnet", { subnets: [] }),
  ...["node", "control-plane", "bastion", "cluster"].map((role) =>
    given(`a subnet of the role ${role}`, subnets({ role })),
  ),
  given("a subnet of another role", subnets({ role: "worker" }), [
    field("role"),
    'Unsupported value: "worker": supported values: "node", "control-plane", "bastion", "cluster"',
  ]),
  given("a subnet without a role", subnets({ role: undefined }), [field("role"), "Required value"]),
  given("a subnet without a name", subnets({ name: undefined }), [field("name"), "Required value"]),
  given("a subnet with a slash in its name", subnets({ name: "a/b" }), [field("name"), mustBeName]),
  given("two subnets of one name", { subnets: [controlPlane(), controlPlane({ role: "node" })] }, [
    `${network}.subnets[1]`,
    'Duplicate value: {"name":"control-plane-subnet"}',
  ]),
  given("a subnet of no addresses", subnets({ cidrBlocks: ["10.0.16.0"] }), [
    field("cidrBlocks[0]"),
    "must be a block of addresses, such as 10.1.0.0/16",
  ]),
  ...["routeTable", "natGateway", "securityGroup"].flatMap((part) => [
    changed(`a ${part} that is filled in`, {}, subnets({ [part]: { name: "a" } })),
    changed(
      `another ${part}`,
      subnets({ [part]: { name: "a" } }),
      subnets({ [part]: { name: "b" } }),
      [field(`${part}.name`), cannotChange(`the name of ${part}`)],
    ),
    changed(`a ${part} that a stale copy drops`, subnets({ [part]: { name: "a" } }), {}, [
      field(part),
      `${part} of a subnet cannot be removed: restore it`,
    ]),
  ]),
];

const balancer = `${network}.apiServerLB`;
const frontend = (over: Over) => ({
  frontendIPs: [{ name: "f", privateIP: "10.0.0.100", ...over }],
});

const rest: Row[] = [
  given("a load balancer of an unknown type", { apiServerLB: { type: "internal" } }, [
    `${balancer}.type`,
    'Unsupported value: "internal": supported values: "Internal", "Public"',
  ]),
  given("a load balancer without an address yet", {
    apiServerLB: internal({ frontendIPs: undefined }),
  }),
  given(
    "a private load balancer with a public address",
    { apiServerLB: internal(frontend({ publicIP: { name: "ip" } })) },
    [
      `${balancer}.frontendIPs`,
      "an Internal load balancer must have one frontend, without a public IP address",
    ],
  ),
  given(
    "a private load balancer outside of the control plane's subnet",
    { apiServerLB: internal(frontend({ privateIP: "10.0.16.100" })) },
    [
      `${balancer}.frontendIPs`,
      "the address of an Internal load balancer must be in the subnet of the control plane: choose one in it",
    ],
  ),
  given("a private load balancer in a subnet for all", {
    subnets: [nodes({ role: "cluster", cidrBlocks: ["10.0.0.0/16"] })],
  }),
  changed(
    "another address of a private load balancer",
    {},
    {
      apiServerLB: internal({
        frontendIPs: [{ name: "wc1-api-internal-lb-frontend-ip", privateIP: "10.0.0.101" }],
      }),
    },
    [
      `${balancer}.frontendIPs`,
      "the address of an Internal load balancer cannot change once it is set: restore the old one",
    ],
  ),
  changed("another name of the load balancer", {}, { apiServerLB: internal({ name: "other" }) }, [
    `${balancer}.name`,
    cannotChange("name"),
  ]),
  changed(
    "a private cluster that becomes public",
    {},
    { apiServerLB: internal({ type: "Public" }) },
    [`${balancer}.type`, cannotChange("type")],
  ),
  given("a network without a name", { vnet: { resourceGroup: "x" } }, [
    `${network}.vnet.name`,
    "Required value",
  ]),
  given("a zone of a name in a group", {
    privateDNSZone: "System",
    privateDNSZoneName: "wc1.example.com",
    privateDNSZoneResourceGroup: "zones",
  }),
  given("a zone made in a third way", { privateDNSZone: "Custom" }, [
    `${network}.privateDNSZone`,
    'Unsupported value: "Custom": supported values: "System", "None"',
  ]),
  given(
    "a private zone of a public cluster",
    { apiServerLB: { type: "Public" }, privateDNSZoneName: "wc1.example.com" },
    [
      `${network}.privateDNSZoneName`,
      "privateDNSZoneName requires a load balancer of type Internal: remove it",
    ],
  ),
  given("a group of a zone without a name", { privateDNSZoneResourceGroup: "zones" }, [
    `${network}.privateDNSZoneResourceGroup`,
    "privateDNSZoneResourceGroup requires privateDNSZoneName: add it",
  ]),
  changed(
    "another name of the zone",
    { privateDNSZoneName: "wc1.example.com" },
    { privateDNSZoneName: "wc2.example.com" },
    [`${network}.privateDNSZoneName`, cannotChange("privateDNSZoneName")],
  ),
];

/** Rows about the network of an AzureCluster, but not about its private links. */
export const azureClusterNetworkRows: Row[] = [...endpoints, ...ofSubnets, ...rest];
