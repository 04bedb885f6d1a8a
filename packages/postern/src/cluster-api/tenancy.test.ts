import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { defaultPolicy, type TenantRules, tenantPolicy } from "@postern/core/tenant-policy.ts";
import { describe, expect, test } from "vitest";
import { GroupClaims } from "./group-claims.ts";
import { refusalOf, type TenancyFacts } from "./tenancy.ts";

const [tenants, elsewhere, own] = ["1", "2", "9"].map(
  (each) => `${each}1111111-1111-4111-8111-111111111111`,
) as [string, string, string];
const groupOf = (name: string, subscription = tenants) =>
  `/subscriptions/${subscription}/resourceGroups/${name}`;

function cluster(
  key: string,
  { at = "2026-01-02T00:00:00Z", ...spec }: { at?: string } & Record<string, unknown> = {},
): AzureCluster {
  const [namespace = "", name = ""] = key.split("/");
  return {
    metadata: { namespace, name, creationTimestamp: at },
    spec: { location: "x", subscriptionID: tenants, resourceGroup: "wc", ...spec },
  } as AzureCluster;
}

const mc = cluster("org-mc/mc", { subscriptionID: own, resourceGroup: "mc" });
type Over = Partial<TenancyFacts> & { cluster: AzureCluster; neighbours?: AzureCluster[] };
const refusalIn = ({ neighbours = [], ...over }: Over) => {
  const claims = new GroupClaims();
  for (const after of [...neighbours, over.cluster, mc])
    claims.follow({ before: undefined, after });
  const error = refusalOf({
    policy: defaultPolicy,
    identity: ["org/one", "client"],
    claimsOn: (key) => claims.of(key),
    management: mc,
    ...over,
  });
  return error && `${error.code}: ${error.message}`;
};

const links = (over: object) => ({
  networkSpec: { apiServerLB: { type: "Internal", privateLinks: [{ name: "api", ...over }] } },
});

describe("the tenant policy of the namespace of an AzureCluster", () => {
  const vnet = (over: object) => ({ networkSpec: { vnet: over } });
  test.each<[string, TenantRules, object, string | undefined]>([
    ["allows everything where it lists nothing", {}, {}, undefined],
    ["refuses an identity that it does not list", { identities: ["org/two"] }, {}, "org/one"],
    ["allows an identity by its name", { identities: ["org/one"] }, {}, undefined],
    ["allows an identity by its client id", { identities: ["CLIENT"] }, {}, undefined],
    ["refuses another subscription", { subscriptions: [elsewhere] }, {}, tenants],
    ["allows its subscription", { subscriptions: [tenants] }, {}, undefined],
    ["refuses another resource group", { resourceGroups: [groupOf("x")] }, {}, groupOf("wc")],
    ["allows its resource group in any case", { resourceGroups: [groupOf("WC")] }, {}, undefined],
    [
      "refuses the resource group of its network",
      { resourceGroups: [groupOf("wc")] },
      vnet({ name: "v", resourceGroup: "nets" }),
      groupOf("nets"),
    ],
    [
      "refuses the resource group in the id of its network",
      { resourceGroups: [groupOf("wc")] },
      vnet({ id: `${groupOf("nets", own)}/providers/Microsoft.Network/virtualNetworks/v` }),
      groupOf("nets", own),
    ],
    [
      "refuses a link that admits another subscription",
      { subscriptions: [tenants] },
      links({ allowedSubscriptions: [own, elsewhere] }),
      elsewhere,
    ],
    [
      "refuses a link that approves everybody",
      { subscriptions: [tenants] },
      links({ allowedSubscriptions: ["*"], autoApprovedSubscriptions: ["*"] }),
      'subscription "*"',
    ],
    [
      "allows a link that admits the management cluster",
      { subscriptions: [tenants] },
      links({ allowedSubscriptions: [own], autoApprovedSubscriptions: [own.toUpperCase()] }),
      undefined,
    ],
  ])("%s", (_name, rules, spec, expected) => {
    const policy = tenantPolicy([{ namespace: "org", ...rules }]);
    const refusal = refusalIn({
      cluster: cluster("org/wc", spec as Record<string, unknown>),
      policy,
    });
    if (expected === undefined) expect(refusal).toBeUndefined();
    else {
      expect(refusal).toMatch(/^NotAllowedByPolicy: .* · .* · .*--tenant-policy/);
      expect(refusal).toContain(expected);
      expect(refusal).toContain("namespace org");
    }
  });

  test("a namespace that the policy does not know gets nothing", () => {
    const policy = tenantPolicy([{ namespace: "org" }]);
    expect(refusalIn({ cluster: cluster("evil/wc"), policy })).toContain("NotAllowedByPolicy");
  });

  test("the management cluster is whoever runs the operator, and needs no entry", () => {
    expect(refusalIn({ cluster: mc, policy: tenantPolicy([]) })).toBeUndefined();
  });
});

describe("the resource group of another namespace", () => {
  const victim = cluster("org/wc", { at: "2026-01-01T00:00:00Z" });

  test("attack: a newer cluster that names it is refused, in any case, and the older is not", () => {
    const thief = cluster("evil/x", { resourceGroup: "WC" });
    const neighbours = [thief, victim];
    const refusal = refusalIn({ cluster: thief, neighbours });
    expect(refusal).toMatch(/^ResourceGroupTaken: .*another namespace/);
    expect(refusal).not.toContain("org/wc");
    expect(refusalIn({ cluster: victim, neighbours })).toBeUndefined();
  });

  test("attack: of two of one age the order of namespaces decides, and never both", () => {
    const thief = cluster("evil/x", { at: "2026-01-01T00:00:00Z" });
    const neighbours = [victim, thief];
    expect(refusalIn({ cluster: thief, neighbours })).toBeUndefined();
    expect(refusalIn({ cluster: victim, neighbours })).toContain("ResourceGroupTaken");
  });

  test("attack: a cluster older than the management cluster does not get its group", () => {
    const thief = cluster("evil/x", {
      at: "2020-01-01T00:00:00Z",
      subscriptionID: own,
      resourceGroup: "mc",
    });
    expect(refusalIn({ cluster: thief, neighbours: [thief, mc] })).toContain("ResourceGroupTaken");
  });

  test("attack: an older cluster to which the policy gives no such group blocks nobody", () => {
    const squatter = cluster("evil/x", { at: "2020-01-01T00:00:00Z" });
    const policy = tenantPolicy([
      { namespace: "org" },
      { namespace: "evil", resourceGroups: [groupOf("evil")] },
    ]);
    const neighbours = [squatter, victim];
    expect(refusalIn({ cluster: victim, neighbours, policy })).toBeUndefined();
    expect(refusalIn({ cluster: squatter, neighbours, policy })).toContain("NotAllowedByPolicy");
  });

  test("two namespaces share one where the policy lists it for both", () => {
    const policy = tenantPolicy([{ namespace: "org*", resourceGroups: [groupOf("wc")] }]);
    const other = cluster("org-other/x");
    for (const one of [other, victim])
      expect(refusalIn({ cluster: one, neighbours: [other, victim], policy })).toBeUndefined();
  });

  test("clusters of one namespace share one", () => {
    const other = cluster("org/x");
    for (const one of [other, victim])
      expect(refusalIn({ cluster: one, neighbours: [other, victim] })).toBeUndefined();
  });
});

describe("what is in the resource group of another namespace", () => {
  const victim = cluster("org/wc", {
    at: "2026-01-01T00:00:00Z",
    networkSpec: { vnet: { name: "v", resourceGroup: "nets" } },
  });
  const thief = (networkSpec: object, more: object = {}) =>
    cluster("evil/x", { resourceGroup: "x", networkSpec, ...more });
  const link = (group: string, name = "api") =>
    `${group}/providers/Microsoft.Network/privateLinkServices/${name}`;
  const endpoint = (over: object) => ({
    subnets: [null, { name: "nodes", privateEndpoints: [null, { name: "spy", ...over }] }],
  });
  const connection = (...ids: unknown[]) =>
    endpoint({
      privateLinkServiceConnections: ids.map((privateLinkServiceID) => ({ privateLinkServiceID })),
    });
  const vnet = (over: object) => ({ vnet: { name: "v", ...over } });
  const networkIn = (group: string) => `${group}/providers/Microsoft.Network/virtualNetworks/v`;

  const attacks: [string, AzureCluster][] = [
    ["a private endpoint connects to it", thief(connection(link(groupOf("wc"))))],
    ["in another case", thief(connection(link(groupOf("WC").toUpperCase())))],
    ["behind one of its own", thief(connection(link(groupOf("x")), link(groupOf("wc"))))],
    ["to what is in the group of its network", thief(connection(link(groupOf("nets"))))],
    [
      "to be approved by hand",
      thief(
        endpoint({
          manualApproval: true,
          privateLinkServiceConnections: [{ privateLinkServiceID: link(groupOf("wc")) }],
        }),
      ),
    ],
    [
      "a private endpoint is in an application security group",
      thief(
        endpoint({
          applicationSecurityGroups: [
            `${groupOf("wc")}/providers/Microsoft.Network/applicationSecurityGroups/a`,
          ],
        }),
      ),
    ],
    ["the network is in it, by its resource group", thief(vnet({ resourceGroup: "wc" }))],
    ["the network is in it, by its id", thief(vnet({ id: networkIn(groupOf("wc")) }))],
    ["the network is that of another's network", thief(vnet({ resourceGroup: "nets" }))],
    [
      "an id that cannot be read hides the resource group of the network",
      thief(vnet({ id: `${groupOf("x")}/nowhere`, resourceGroup: "wc" })),
    ],
    [
      "the resource group hides the id of the network",
      thief(vnet({ id: networkIn(groupOf("wc")), resourceGroup: "x" })),
    ],
    [
      "the private zone is in it",
      thief({ privateDNSZoneName: "z", privateDNSZoneResourceGroup: "wc" }),
    ],
  ];
  test.each(attacks)("attack: %s", (_name, attacker) => {
    const neighbours = [victim];
    expect(refusalIn({ cluster: attacker, neighbours })).toMatch(/^ResourceGroupOfAnother: /);
    expect(refusalIn({ cluster: victim, neighbours: [attacker] })).toBeUndefined();
    const policy = tenantPolicy([
      { namespace: "org" },
      { namespace: "evil", resourceGroups: [groupOf("x")] },
    ]);
    expect(refusalIn({ cluster: attacker, neighbours, policy })).toMatch(/^NotAllowedByPolicy: /);
    const pattern = tenantPolicy([{ namespace: "*", resourceGroups: [groupOf("*")] }]);
    expect(refusalIn({ cluster: attacker, neighbours, policy: pattern })).toMatch(/OfAnother: /);
    const shared = tenantPolicy([
      { namespace: "*", resourceGroups: ["x", "wc", "nets"].map((each) => groupOf(each)) },
    ]);
    expect(refusalIn({ cluster: attacker, neighbours, policy: shared })).toBeUndefined();
  });

  test("attack: an older cluster that only connects to a group does not take it from its cluster", () => {
    const squatter = thief(connection(link(groupOf("wc"))), { at: "2020-01-01T00:00:00Z" });
    expect(refusalIn({ cluster: victim, neighbours: [squatter] })).toBeUndefined();
  });

  test("attack: the network of the management cluster", () => {
    const attacker = thief(vnet({ id: networkIn(groupOf("mc", own)) }), {
      at: "2020-01-01T00:00:00Z",
    });
    expect(refusalIn({ cluster: attacker })).toMatch(/^ResourceGroupOfAnother: /);
  });

  test("attack: another link of the management cluster than those for everybody", () => {
    const attacker = thief(connection(link(groupOf("mc", own), "mc-api-privatelink")));
    expect(refusalIn({ cluster: attacker })).toMatch(/^ResourceGroupOfAnother: /);
  });

  test("attack: a subscription that the policy does not list", () => {
    const policy = tenantPolicy([{ namespace: "evil", subscriptions: [tenants] }]);
    for (const spec of [
      connection(link(groupOf("z", elsewhere))),
      vnet({ id: networkIn(groupOf("z", elsewhere)) }),
    ])
      expect(refusalIn({ cluster: thief(spec), policy })).toContain(elsewhere);
  });

  test("attack: so many connections that each look costs everybody time", () => {
    const many = Array.from({ length: 51 }, (_, n) => link(groupOf(`g${n}`)));
    expect(refusalIn({ cluster: thief(connection(...many)) })).toContain("more than 50");
    const same = Array.from({ length: 1_001 }, () => link(groupOf("x")));
    expect(refusalIn({ cluster: thief(connection(...same)) })).toContain("more than 50");
  });

  test("the links by which the management cluster is reached are for everybody", () => {
    const policy = tenantPolicy([
      { namespace: "org", subscriptions: [tenants], resourceGroups: [groupOf("wc")] },
    ]);
    const service = link(groupOf("mc", own), "mc-gateway-privatelink");
    const one = cluster("org/wc", { networkSpec: connection(service, link(groupOf("wc"))) });
    for (const each of [policy, defaultPolicy])
      expect(refusalIn({ cluster: one, policy: each })).toBeUndefined();
  });

  test("a link that the management cluster requests is for everybody, in a group that is not named like it", () => {
    const requested = { name: "mc-gateway-privatelink", lbFrontendIPConfigNames: ["front"] };
    const management = cluster("org-mc/mc", {
      subscriptionID: own,
      resourceGroup: "platform",
      networkSpec: { apiServerLB: { type: "Internal", privateLinks: [requested] } },
    });
    const to = (name: string) =>
      cluster("org/wc", { networkSpec: connection(link(groupOf("platform", own), name)) });
    const neighbours = [management];
    expect(
      refusalIn({ cluster: to("mc-gateway-privatelink"), management, neighbours }),
    ).toBeUndefined();
    expect(refusalIn({ cluster: to("mc-api-privatelink"), management, neighbours })).toMatch(
      /^ResourceGroupOfAnother: /,
    );
  });

  test("what is nobody's cluster is open without a list", () => {
    expect(refusalIn({ cluster: thief(connection(link(groupOf("registry", elsewhere)), 7)) })).toBe(
      undefined,
    );
  });
});

test("attack: a cluster is in the group that the policy lists for another, before that one comes", () => {
  const policy = tenantPolicy([
    { namespace: "blue", resourceGroups: [groupOf("wc")] },
    { namespace: "*" },
  ]);
  expect(refusalIn({ cluster: cluster("evil/x"), policy })).toMatch(/^ResourceGroupTaken: /);
  expect(refusalIn({ cluster: cluster("blue/x"), policy })).toBeUndefined();
});

test("attack: a pattern of the policy also matches the group of another namespace", () => {
  const blue = cluster("blue/one", { resourceGroup: "blueprint", at: "2020-01-01T00:00:00Z" });
  const print = cluster("print/one", { resourceGroup: "blueprint" });
  const policy = tenantPolicy([
    { namespace: "blue", resourceGroups: [groupOf("blue*")] },
    { namespace: "print", resourceGroups: [groupOf("blueprint")] },
  ]);
  const neighbours = [blue, print];
  expect(refusalIn({ cluster: blue, neighbours, policy })).toMatch(/^ResourceGroupTaken: /);
  expect(refusalIn({ cluster: print, neighbours, policy })).toBeUndefined();
});
