import { UsageError } from "@postern/core/process/usage-error.ts";
import { describe, expect, test } from "vitest";
import { type ClusterApiFlags, clusterApiSettings } from "./cluster-api.ts";
import { listIn } from "./plan-options.ts";

const given = { managementClusterName: "mc", managementClusterNamespace: "org-mc" };
const env = { AZURE_SUBSCRIPTION_ID: "11111111-1111-4111-8111-111111111111" };
const read = (flags: ClusterApiFlags, role = "all", namespace?: string, environment = env) =>
  clusterApiSettings(flags, { role, ...(namespace && { namespace }) }, environment);

describe("the flags of Cluster API", () => {
  test("are nothing without a management cluster", async () => {
    expect(await read({})).toBeUndefined();
    expect(await read({ baseDomain: "", azureClusterGates: [], azureIdentityRefName: "" })).toBe(
      undefined,
    );
  });

  test("are few where there is one", async () => {
    expect(await read(given)).toEqual({
      managementCluster: { namespace: "org-mc", name: "mc" },
      gates: [],
      managementLinks: ["gateway"],
      others: {},
    });
  });

  test("say all there is to know", async () => {
    const flags: ClusterApiFlags = {
      ...given,
      azureClusterGates: ["A"],
      managementLink: "both",
      baseDomain: "Example.com.",
      baseDomainResourceGroup: "dns",
      azureIdentityRefName: "one",
      azureIdentityRefNamespace: "org",
      allowCrossNamespaceSecrets: true,
      certificateDirectory: "/certs",
    };
    const others = {
      CLUSTER_AZURE_SUBSCRIPTION_ID: "22222222-2222-4222-8222-222222222222",
      CLUSTER_AZURE_LOCATION: "westeurope",
      CLUSTER_AZURE_TENANT_ID: "t",
      CLUSTER_AZURE_CLIENT_ID: "c",
    };
    expect(await read(flags, "cluster-api", undefined, { ...env, ...others })).toEqual({
      managementCluster: { namespace: "org-mc", name: "mc" },
      gates: ["A"],
      managementLinks: ["gateway", "ingress"],
      dns: {
        baseDomain: "example.com",
        baseZoneGroup: `/subscriptions/${env.AZURE_SUBSCRIPTION_ID}/resourceGroups/dns`,
      },
      identityRef: { namespace: "org", name: "one" },
      acrossNamespaces: true,
      certificateDirectory: "/certs",
      others: {
        subscription: "22222222-2222-4222-8222-222222222222",
        location: "westeurope",
        tenant: "t",
        client: "c",
      },
    });
  });

  test.each<[string, ClusterApiFlags, string, string | undefined, object, RegExp]>([
    [
      "the role without the name",
      {},
      "cluster-api",
      undefined,
      env,
      /requires --management-cluster-name and --management-cluster-namespace/,
    ],
    [
      "a flag that means nothing without the name",
      { baseDomain: "example.com" },
      "all",
      undefined,
      env,
      /^--base-domain requires --management-cluster-name/,
    ],
    [
      "the name without the namespace",
      { managementClusterName: "mc" },
      "all",
      undefined,
      env,
      /requires --management-cluster-namespace/,
    ],
    [
      "a role that has none of it",
      given,
      "control-plane",
      undefined,
      env,
      /not --role control-plane/,
    ],
    ["one namespace only", given, "all", "org", env, /omit --namespace/],
    [
      "a domain without its group",
      { ...given, baseDomain: "example.com" },
      "all",
      undefined,
      env,
      /set --base-domain and --base-domain-resource-group/,
    ],
    [
      "a domain without a subscription",
      { ...given, baseDomain: "example.com", baseDomainResourceGroup: "dns" },
      "all",
      undefined,
      {},
      /set AZURE_SUBSCRIPTION_ID/,
    ],
    [
      "half an identity",
      { ...given, azureIdentityRefName: "one" },
      "all",
      undefined,
      env,
      /set --azure-identity-ref-name and --azure-identity-ref-namespace/,
    ],
  ])("refuse %s", async (_name, flags, role, namespace, environment, line) => {
    const refused = read(flags, role, namespace, environment as typeof env);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(line);
  });
});

test.each<[string, string[]]>([
  ["", []],
  ["GSPrivateLinksReady", ["GSPrivateLinksReady"]],
  [",A,,B, C ,", ["A", "B", "C"]],
  [",,", []],
])("a list is read from %j", (text, wanted) => {
  expect(listIn(text)).toEqual(wanted);
});
