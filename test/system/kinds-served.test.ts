import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf, type Kind } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { nodePool } from "@postern/core/kinds/node-pool.ts";
import { beforeAll, expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";
import { managed, onAzure, published } from "./kinds/hosted-spec.ts";
import { installKinds } from "./kinds/install.ts";
import { linkSpec } from "./kinds/link-spec-rows.ts";
import { type Over, subnet, uuid } from "./kinds/row.ts";
import { withStrangers } from "./kinds/strangers.ts";
import { asTable } from "./kinds/table.ts";

describeOnCluster("the real API server, serving our kinds", (cluster) => {
  let namespace = "";
  const path = (kind: Kind) => `/apis/${apiVersionOf(kind)}/namespaces/${namespace}/${kind.plural}`;
  const create = async (kind: Kind, name: string, spec: unknown) => {
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name }, spec };
    const { status, body } = await cluster.request<Stored>("POST", path(kind), object);
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };

  beforeAll(async () => {
    await installKinds(cluster);
    namespace = await cluster.namespace();
  });

  test.each(definitions.map((definition) => [definition.kind, definition] as const))(
    "finds nothing wrong with the schema of %s",
    async (_kind, { plural, group }) => {
      const { body } = await cluster.request<{ status: { conditions: Condition[] } }>(
        "GET",
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`,
      );
      const states = body.status.conditions.map(({ type, status }) => `${type}=${status}`);
      expect(states).toContain("Established=True");
      expect(states).not.toContain("NonStructuralSchema=True");
    },
  );

  test("knows the short names", async () => {
    const { body } = await cluster.request<{ resources: { name: string; shortNames: string[] }[] }>(
      "GET",
      `/apis/${apiVersionOf(azurePrivateLinkService)}`,
    );
    const short = Object.fromEntries(body.resources.map((one) => [one.name, one.shortNames]));
    expect(short).toMatchObject({
      azureprivatelinkservices: ["azpls"],
      hostedclusters: ["hc", "hcs"],
      hostedcontrolplanes: ["hcp", "hcps"],
      nodepools: ["np", "nps"],
    });
  });

  test("shows a link in the columns that users know", async () => {
    await create(azurePrivateLinkService, "columns", linkSpec());
    const alias = "pls-x.5e1.westeurope.azure.privatelinkservice";
    await cluster.request("PATCH", `${path(azurePrivateLinkService)}/columns/status`, {
      status: {
        privateLinkServiceAlias: alias,
        privateEndpointIP: "10.1.0.4",
        conditions: [condition("AzurePrivateLinkServiceAvailable")],
      },
    });
    const table = await asTable(cluster, `${path(azurePrivateLinkService)}/columns`);
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual([
      "Name",
      "PLS Alias",
      "Endpoint IP",
      "Available",
      "Age",
    ]);
    expect(table.rows[0]?.cells.slice(0, 4)).toEqual(["columns", alias, "10.1.0.4", "True"]);
  });

  test("gives a cluster without a cloud the public one", async () => {
    const { spec } = await create(hostedCluster, "cloud", onAzure());
    expect(spec).toHaveProperty("platform.azure.cloud", "AzurePublicCloud");
  });

  const link = { natSubnetID: subnet, additionalAllowedSubscriptions: [uuid] };
  const services = [
    published("APIServer", "Route", { route: { hostname: "api.x" } }),
    published("OAuthServer", "LoadBalancer", { loadBalancer: { hostname: "oauth.x" } }),
    published("OIDC", "NodePort", { nodePort: { address: "node.x", port: 30_000 } }),
  ];
  const networking = { apiServer: { port: 6443, allowedCIDRBlocks: ["10.0.0.0/8"] } };
  const linked = onAzure(
    {
      cloud: "AzurePublicCloud",
      topology: "Private",
      private: { type: "PrivateLink", privateLink: link },
    },
    { dns: { baseDomain: "example.com" }, services, networking },
  );
  const withSwift = onAzure({
    cloud: "AzurePublicCloud",
    azureAuthenticationConfig: managed,
    topology: "Private",
    private: { type: "Swift", swift: { podNetworkInstance: "x" } },
  });
  const withAccess = onAzure({
    cloud: "AzurePublicCloud",
    endpointAccess: { type: "Private", private: link },
  });
  const withConnectivity = onAzure({
    cloud: "AzurePublicCloud",
    endpointAccess: { type: "Private" },
    privateConnectivity: link,
  });
  const pool = { clusterName: "x", platform: { type: "Azure", azure: { subnetID: subnet } } };

  test.each([
    ["cluster", hostedCluster, linked],
    ["cluster with Swift", hostedCluster, withSwift],
    ["cluster with endpointAccess", hostedCluster, withAccess],
    ["cluster with privateConnectivity", hostedCluster, withConnectivity],
    ["control plane", hostedControlPlane, linked],
    ["pool", nodePool, pool],
  ] as const)("keeps what is not ours in every part of a %s", async (what, kind, spec) => {
    const name = what.toLowerCase().replaceAll(" ", "-");
    const given = withStrangers(spec);
    await create(kind, name, given);
    const status = withStrangers({ controlPlaneEndpoint: { host: "api.x", port: 443 } });
    await cluster.request("PATCH", `${path(kind)}/${name}/status`, { status });
    const { body } = await cluster.request<Stored>("GET", `${path(kind)}/${name}`);
    expect(body.spec).toEqual(given);
    expect(body.status).toEqual(status);
  });

  test("drops a field of a link that nobody knows", async () => {
    const { spec } = await create(azurePrivateLinkService, "pruned", linkSpec({ colour: "blue" }));
    expect(spec).toEqual(linkSpec());
  });

  test.each([
    ["link", azurePrivateLinkService, linkSpec()],
    ["cluster", hostedCluster, onAzure()],
  ] as const)("lets two writers each keep their condition on a %s", async (what, kind, spec) => {
    const name = `two-writers-${what}`;
    await create(kind, name, spec);
    const apply = (type: string, over: Over = {}) =>
      cluster.request<Stored>(
        "PATCH",
        `${path(kind)}/${name}/status?fieldManager=${type}&force=true`,
        {
          apiVersion: apiVersionOf(kind),
          kind: kind.kind,
          metadata: { name },
          status: { conditions: [{ ...condition(type), ...over }] },
        },
        { contentType: "application/apply-patch+yaml" },
      );
    await apply("First");
    await apply("Second");
    const { body } = await apply("First", { status: "False" });
    const found = body.status?.conditions?.map(({ type, status }) => [type, status]);
    expect(found).toEqual([
      ["First", "False"],
      ["Second", "True"],
    ]);
  });
});

interface Stored {
  spec: unknown;
  status?: { conditions?: Condition[] };
}

function condition(type: string): Condition {
  const lastTransitionTime = "2026-08-22T12:00:00Z";
  return { type, status: "True", reason: "Tested", message: "", lastTransitionTime };
}
