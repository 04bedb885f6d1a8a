import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { describe, expect, test } from "vitest";
import { annotations } from "../../names.ts";
import { privateLinksOf } from "../../requested-links.ts";
import { reasons } from "../reasons.ts";
import { desiredOf } from "./desired.ts";

const subscription = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";
const group = `/subscriptions/${subscription}/resourceGroups/wc-group`;
const provider = "providers/Microsoft.Network";
const service = `/subscriptions/${other}/resourceGroups/mc/${provider}/privateLinkServices/gate`;

const nat = [{ subnet: "node", allocationMethod: "Dynamic" }];
const link = { name: "wc-link", natIPConfigurations: nat, lbFrontendIPConfigNames: ["fe"] };
const endpoint = {
  name: "wc-pe",
  privateLinkServiceConnections: [{ name: "c", privateLinkServiceID: service }],
};

function cluster(
  over: {
    links?: unknown;
    balancer?: unknown;
    subnets?: unknown;
    vnet?: object;
    annotation?: string;
    spec?: object;
  } = {},
): AzureCluster {
  const balancer = {
    name: "wc-lb",
    type: "Internal",
    frontendIPs: [{ name: "fe" }],
    privateLinks: over.links,
  };
  return {
    metadata: {
      namespace: "org",
      name: "wc",
      ...(over.annotation !== undefined && {
        annotations: { [annotations.privateLinks]: over.annotation },
      }),
    },
    spec: {
      location: "westeurope",
      subscriptionID: subscription,
      resourceGroup: "wc-group",
      networkSpec: {
        vnet: over.vnet ?? { name: "net" },
        subnets: over.subnets === undefined ? [{ name: "node", role: "node" }] : over.subnets,
        apiServerLB: over.balancer === undefined ? balancer : over.balancer,
      },
      ...over.spec,
    } as AzureCluster["spec"],
  };
}

const within = (endpoints: unknown) => [
  { name: "node", role: "node", privateEndpoints: endpoints },
];
const why = (over: Parameters<typeof cluster>[0]) =>
  desiredOf(cluster(over)).problems.map(({ message }) => message);

describe("private links", () => {
  const desired = {
    name: "wc-link",
    id: `${group}/${provider}/privateLinkServices/wc-link`,
    location: "westeurope",
    tags: {
      "sigs.k8s.io_cluster-api-provider-azure_cluster_wc": "owned",
      postern_owner: "org/wc",
    },
    frontends: [`${group}/${provider}/loadBalancers/wc-lb/frontendIPConfigurations/fe`],
    nat: [
      {
        name: "node-natipconfig-1",
        subnet: `${group}/${provider}/virtualNetworks/net/subnets/node`,
      },
    ],
    allowed: [],
    autoApproved: [],
    proxyProtocol: false,
  };

  test.each<[string, string, string | undefined]>([
    ["in its subnet", "10.0.1.9", undefined],
    ["of another subnet", "10.0.2.9", "10.0.2.9 is not in subnet node (10.0.1.0/24)"],
    ["that is none", "10.0.1", "10.0.1 is not an address"],
  ])("with a static NAT address %s", (_, privateIPAddress, message) => {
    const natIPConfigurations = [{ subnet: "node", allocationMethod: "Static", privateIPAddress }];
    const subnets = [
      { name: "node", role: "node", cidrBlocks: ["10.0.1.0/24", "nonsense"] },
      { name: "other", role: "node", cidrBlocks: ["10.0.2.0/24"] },
    ];
    expect(why({ links: [{ ...link, natIPConfigurations }], subnets })).toEqual(
      message === undefined ? [] : [expect.stringContaining(message)],
    );
  });

  const gateway = `${group}/${provider}/loadBalancers/gateway-lb`;
  const ofGateway = { ...link, loadBalancerID: gateway, lbFrontendIPConfigNames: ["https"] };

  test("of another load balancer lead to its frontends, whatever the API server has", () => {
    const annotation = JSON.stringify([ofGateway]);
    for (const balancer of [undefined, null, { type: "Public" }]) {
      const read = desiredOf(cluster({ annotation, balancer }));
      expect(read.problems).toEqual([]);
      expect(read.links[0]?.frontends).toEqual([`${gateway}/frontendIPConfigurations/https`]);
    }
  });

  test.each<[unknown, string]>([
    [gateway.replace("wc-group", "mc"), "not in the resource group of the cluster"],
    ["gateway-lb", "not the id of a load balancer"],
    [{}, "not the id of a load balancer"],
    [`${group}/${provider}/virtualNetworks/net`, "not the id of a load balancer"],
  ])(
    "of a load balancer that cannot be this cluster's are rejected: %j",
    (loadBalancerID, message) => {
      expect(why({ annotation: JSON.stringify([{ ...ofGateway, loadBalancerID }]) })).toEqual([
        expect.stringContaining(message),
      ]);
    },
  );

  test.each<[string, Parameters<typeof cluster>[0]]>([
    ["of upstream", { links: [link] }],
    [
      "of the fork",
      { links: [{ ...link, natIPConfigurations: undefined, natIpConfigurations: nat }] },
    ],
    ["of the annotation, where the schema has none", { annotation: JSON.stringify([link]) }],
    ["of the annotation beside an empty list", { links: [], annotation: JSON.stringify([link]) }],
  ])("are read in the spelling %s", (_what, over) => {
    expect(desiredOf(cluster(over)).links).toEqual([desired]);
    expect(why(over)).toEqual([]);
  });

  test("are those of the spec where both are there", () => {
    const annotation = JSON.stringify([{ ...link, name: "other" }]);
    expect(desiredOf(cluster({ links: [link], annotation })).links).toEqual([desired]);
  });

  test("have numbered NAT addresses, of which one may be static", () => {
    const natIPConfigurations = [
      ...nat,
      null,
      { subnet: "node", allocationMethod: "Static", privateIPAddress: "10.0.0.9" },
    ];
    const [read] = desiredOf(cluster({ links: [{ ...link, natIPConfigurations }] })).links;
    expect(read?.nat.map(({ name, address }) => [name, address])).toEqual([
      ["node-natipconfig-1", undefined],
      ["node-natipconfig-2", "10.0.0.9"],
    ]);
  });

  test("take CAPZ's defaults for what is not said", () => {
    const spec = { resourceGroup: undefined, networkSpec: undefined };
    const balancer = { type: "Internal", privateLinks: [link] };
    const networkSpec = { subnets: [{ name: "node", role: "node" }], apiServerLB: balancer };
    const [read] = desiredOf(cluster({ spec: { ...spec, networkSpec } })).links;
    const own = `/subscriptions/${subscription}/resourceGroups/wc/${provider}`;
    expect(read?.frontends).toEqual([
      `${own}/loadBalancers/wc-internal-lb/frontendIPConfigurations/fe`,
    ]);
    expect(read?.nat[0]?.subnet).toBe(`${own}/virtualNetworks/wc-vnet/subnets/node`);
  });

  test("may hold nulls, also in the lists of subscriptions of the fork", () => {
    const allowedSubscriptions = [null, subscription, subscription.toUpperCase()];
    const links = [null, { ...link, allowedSubscriptions, autoApprovedSubscriptions: null }];
    expect(desiredOf(cluster({ links }))).toMatchObject({
      links: [{ allowed: [subscription], autoApproved: [] }],
      problems: [],
    });
  });

  test.each<[string, Parameters<typeof cluster>[0], string]>([
    ["no name", { links: [{ ...link, name: undefined }] }, "its name must have"],
    [
      "no NAT address",
      { links: [{ ...link, natIPConfigurations: [] }] },
      "must have 1 to 8 entries and has 0",
    ],
    [
      "nine NAT addresses",
      { links: [{ ...link, natIPConfigurations: Array(9).fill(nat[0]) }] },
      "has 9",
    ],
    [
      "a subnet that is not there",
      { links: [{ ...link, natIPConfigurations: [{ subnet: "x" }] }] },
      "subnet x, which",
    ],
    [
      "a Static address that is not given",
      {
        links: [{ ...link, natIPConfigurations: [{ subnet: "node", allocationMethod: "Static" }] }],
      },
      "no privateIPAddress",
    ],
    [
      "no frontend",
      { links: [{ ...link, lbFrontendIPConfigNames: null }] },
      "lbFrontendIPConfigNames is empty",
    ],
    [
      "a frontend that is not there",
      { links: [{ ...link, lbFrontendIPConfigNames: ["x"] }] },
      'no frontend "x"',
    ],
    ["a frontend twice", { links: [{ ...link, lbFrontendIPConfigNames: ["fe", "FE"] }] }, "twice"],
    [
      "approval without visibility",
      { links: [{ ...link, autoApprovedSubscriptions: [other] }] },
      "which allowedSubscriptions has not",
    ],
    [
      "a public load balancer",
      { balancer: { type: "Public", privateLinks: [link] } },
      "type is Public",
    ],
    [
      "an unknown load balancer type",
      { balancer: { type: "Odd", privateLinks: [link] } },
      "type is Odd",
    ],
    [
      "no load balancer",
      { balancer: null, annotation: JSON.stringify([link]) },
      "no spec.networkSpec.apiServerLB",
    ],
    ["no subnets", { links: [link], subnets: null }, "subnet node, which"],
    ["one name twice", { links: [link, { ...link, name: "WC-Link" }] }, "is there twice"],
    ["a text for a link", { annotation: '["a"]' }, "it is no object"],
    [
      "no subscription",
      { links: [link], spec: { subscriptionID: "" } },
      "spec.subscriptionID is empty",
    ],
    [
      "tags that Azure refuses",
      { links: [link], spec: { additionalTags: { "a/b": "c" } } },
      "correct spec.additionalTags",
    ],
  ])("with %s are reported, with what and where", (_what, over, message) => {
    expect(why(over)).toEqual([expect.stringContaining(message)]);
  });

  test("that are well are made although another is not", () => {
    const { links, problems } = desiredOf(cluster({ links: [{ name: "bad" }, link] }));
    expect(links).toEqual([desired]);
    expect(problems[0]?.message).toContain("spec.networkSpec.apiServerLB.privateLinks[0]");
  });

  test.each([
    ["no JSON", '[{"name": "a"},\n {"name": secret}]', "line 2, character 11"],
    ["half of it", '[{"name":', "it ends too early"],
    ["no list", '{"name":"a"}', "is JSON, but no list"],
  ])("in an annotation that is %s are reported, and where", (_what, annotation, where) => {
    const { links, problems } = desiredOf(cluster({ annotation }));
    expect(links).toEqual([]);
    expect(problems).toEqual([
      {
        scope: "links",
        reason: reasons.invalidAnnotation,
        message: expect.stringContaining(where),
      },
    ]);
    expect(problems[0]?.message).not.toContain("secret");
  });

  test.each([
    ["more than 64 entries", Array(65).fill(null).with(0, link)],
    ["more than 16384 characters", [{ ...link, comment: "x".repeat(16_384) }]],
    [
      "more than 1000 subscriptions",
      [{ ...link, allowedSubscriptions: Array.from({ length: 1_001 }, String) }],
    ],
  ])("with %s are used by no controller, for one reason", (_what, list) => {
    const given = cluster({ annotation: JSON.stringify(list) });
    const { links, problems } = desiredOf(given);
    const { links: others, problem: message } = privateLinksOf(given);
    expect([links, others]).toEqual([[], []]);
    expect(message).toContain("the private links are not used");
    expect(problems).toEqual([{ scope: "links", reason: reasons.invalidAnnotation, message }]);
  });

  test("without a name are those of every controller, whatever the annotation has", () => {
    const given = cluster({
      links: [{ natIPConfigurations: [] }],
      annotation: JSON.stringify([link]),
    });
    expect(desiredOf(given).links).toEqual([]);
    expect(privateLinksOf(given).links).toEqual([]);
  });
});

describe("private endpoints", () => {
  test("are read with everything that can be asked for", () => {
    const asked = {
      ...endpoint,
      location: "northeurope",
      privateLinkServiceConnections: [
        null,
        { name: "c", privateLinkServiceID: service, groupIDs: ["g"], requestMessage: "please" },
      ],
      customNetworkInterfaceName: "nic",
      privateIPAddresses: ["10.0.0.8", null],
      applicationSecurityGroups: ["/subscriptions/s/a"],
      manualApproval: true,
    };
    expect(desiredOf(cluster({ subnets: within([null, asked]) })).endpoints).toEqual([
      {
        name: "wc-pe",
        id: `${group}/${provider}/privateEndpoints/wc-pe`,
        location: "northeurope",
        tags: expect.objectContaining({ postern_owner: "org/wc" }),
        subnet: `${group}/${provider}/virtualNetworks/net/subnets/node`,
        manual: true,
        connections: [{ name: "c", service, groupIds: ["g"], requestMessage: "please" }],
        interfaceName: "nic",
        addresses: ["10.0.0.8"],
        securityGroups: ["/subscriptions/s/a"],
      },
    ]);
  });

  test("lie in the subnet by its id where that is known", () => {
    const hub = `/subscriptions/${other}/resourcegroups/Hub/${provider}/virtualNetworks/hub`;
    const id = `${hub}/subnets/n`;
    const subnets = [{ name: "node", role: "node", id, privateEndpoints: [endpoint] }];
    const [read] = desiredOf(cluster({ vnet: { id: hub }, subnets })).endpoints;
    expect(read?.subnet.toLowerCase()).toBe(id.toLowerCase());
  });

  test("attack: the id of a subnet in another network than the cluster's is refused", () => {
    const id = `/subscriptions/${other}/resourcegroups/Hub/${provider}/virtualNetworks/hub/subnets/n`;
    const subnets = [{ name: "node", role: "node", id, privateEndpoints: [endpoint] }];
    const { endpoints, problems } = desiredOf(cluster({ subnets }));
    expect(endpoints).toEqual([]);
    expect(problems[0]?.message).toContain("subnet node is not in the cluster's network");
  });

  test.each<[string, unknown, string]>([
    ["no name", [{ ...endpoint, name: "" }], "its name must have"],
    ["a long name", [{ ...endpoint, name: "a".repeat(65) }], "1 to 64"],
    ["no connection", [{ ...endpoint, privateLinkServiceConnections: [] }], "is empty"],
    [
      "an id that is none",
      [{ ...endpoint, privateLinkServiceConnections: [{ privateLinkServiceID: "x" }] }],
      "the id of a resource",
    ],
    [
      "a long message",
      [
        {
          ...endpoint,
          privateLinkServiceConnections: [
            { privateLinkServiceID: service, requestMessage: "x".repeat(141) },
          ],
        },
      ],
      "more than 140",
    ],
    ["one name twice", [endpoint, endpoint], "is there twice"],
  ])("with %s are reported, with what and where", (_what, endpoints, message) => {
    const problems = why({ subnets: within(endpoints) });
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toContain("spec.networkSpec.subnets[0].privateEndpoints[");
  });

  test("nothing is asked for by an AzureCluster without a network, subnets or entries", () => {
    const nothing = { links: [], endpoints: [], problems: [] };
    for (const networkSpec of [undefined, null, {}, { subnets: [null], apiServerLB: null }])
      expect(desiredOf(cluster({ spec: { networkSpec } }))).toMatchObject(nothing);
  });
});
