import { describe, expect, test } from "vitest";
import type { AzureCluster } from "../model/kinds/azure-cluster.ts";
import { defaultPolicy, type TenantRules, tenantPolicy } from "../model/tenant-policy.ts";
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
const told = (over: Partial<TenancyFacts> & { cluster: AzureCluster }) => {
  const error = refusalOf({
    policy: defaultPolicy,
    identity: ["org/one", "client"],
    neighbours: [over.cluster],
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
  ])("%s", (_name, rules, spec, refused) => {
    const policy = tenantPolicy([{ namespace: "org", ...rules }]);
    const said = told({ cluster: cluster("org/wc", spec as Record<string, unknown>), policy });
    if (refused === undefined) expect(said).toBeUndefined();
    else {
      expect(said).toMatch(/^NotAllowedByPolicy: .* · .* · .*--tenant-policy/);
      expect(said).toContain(refused);
      expect(said).toContain("namespace org");
    }
  });

  test("a namespace that the policy does not know gets nothing", () => {
    const policy = tenantPolicy([{ namespace: "org" }]);
    expect(told({ cluster: cluster("evil/wc"), policy })).toContain("NotAllowedByPolicy");
  });

  test("the management cluster is whoever runs the operator, and needs no entry", () => {
    expect(told({ cluster: mc, policy: tenantPolicy([]) })).toBeUndefined();
  });
});

describe("the resource group of another namespace", () => {
  const victim = cluster("org/wc", { at: "2026-01-01T00:00:00Z" });

  test("attack: a newer cluster that names it is refused, in any case, and the older is not", () => {
    const thief = cluster("evil/x", { resourceGroup: "WC" });
    const neighbours = [thief, victim];
    expect(told({ cluster: thief, neighbours })).toMatch(/^ResourceGroupTaken: .*another namespace/);
    expect(told({ cluster: thief, neighbours })).not.toContain("org/");
    expect(told({ cluster: victim, neighbours })).toBeUndefined();
  });

  test("attack: of two of one age the order of namespaces decides, and never both", () => {
    const thief = cluster("evil/x", { at: "2026-01-01T00:00:00Z" });
    const neighbours = [victim, thief];
    expect(told({ cluster: thief, neighbours })).toBeUndefined();
    expect(told({ cluster: victim, neighbours })).toContain("ResourceGroupTaken");
  });

  test("attack: a cluster older than the management cluster does not get its group", () => {
    const thief = cluster("evil/x", {
      at: "2020-01-01T00:00:00Z",
      subscriptionID: own,
      resourceGroup: "mc",
    });
    expect(told({ cluster: thief, neighbours: [thief, mc] })).toContain("ResourceGroupTaken");
  });

  test("attack: an older cluster to which the policy gives no such group blocks nobody", () => {
    const squatter = cluster("evil/x", { at: "2020-01-01T00:00:00Z" });
    const policy = tenantPolicy([
      { namespace: "org" },
      { namespace: "evil", resourceGroups: [groupOf("evil")] },
    ]);
    const neighbours = [squatter, victim];
    expect(told({ cluster: victim, neighbours, policy })).toBeUndefined();
    expect(told({ cluster: squatter, neighbours, policy })).toContain("NotAllowedByPolicy");
  });

  test("two namespaces share one where the policy lists it for both", () => {
    const policy = tenantPolicy([{ namespace: "org*", resourceGroups: [groupOf("wc")] }]);
    const other = cluster("org-other/x");
    for (const one of [other, victim])
      expect(told({ cluster: one, neighbours: [other, victim], policy })).toBeUndefined();
  });

  test("clusters of one namespace share one", () => {
    const other = cluster("org/x");
    for (const one of [other, victim])
      expect(told({ cluster: one, neighbours: [other, victim] })).toBeUndefined();
  });
});
