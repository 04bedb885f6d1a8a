import { standInLabel } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf, type Kind } from "@postern/core/kind.ts";
import {
  azureAsoManagedCluster,
  azureAsoManagedControlPlane,
} from "@postern/core/kinds/azure-aso-managed.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { azureManagedControlPlane } from "@postern/core/kinds/azure-managed-control-plane.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { CapiCondition } from "@postern/core/kinds/capi-condition.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { providerConfig } from "@postern/core/kinds/provider-config.ts";
import { beforeAll, expect, test } from "vitest";
import { describeOnCluster } from "../setup/cluster.ts";
import {
  azureClusterSpec,
  controlPlane,
  endpoint,
  internal,
  link,
  nodes,
} from "./kinds/azure-cluster-spec.ts";
import { installKinds } from "./kinds/install.ts";
import { uuid } from "./kinds/row.ts";
import { withStrangers } from "./kinds/strangers.ts";
import { asTable } from "./kinds/table.ts";

describeOnCluster("the real API server, serving the kinds of Cluster API", (cluster) => {
  let namespace = "";
  const path = (kind: Kind) =>
    `/apis/${apiVersionOf(kind)}/${kind.namespaced ? `namespaces/${namespace}/` : ""}${kind.plural}`;
  const create = async <T>(kind: Kind, name: string, spec: unknown) => {
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name }, spec };
    const { status, body } = await cluster.request<T>("POST", path(kind), object);
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  const apply = (name: string, manager: string, over: object, part = "") =>
    cluster.request<AzureCluster>(
      "PATCH",
      `${path(azureCluster)}/${name}${part}?fieldManager=${manager}&force=true`,
      { apiVersion: apiVersionOf(azureCluster), kind: "AzureCluster", metadata: { name }, ...over },
      { contentType: "application/apply-patch+yaml" },
    );

  beforeAll(async () => {
    await installKinds(cluster);
    namespace = await cluster.namespace();
  });

  test("tells each kind that only stands in by its label", async () => {
    for (const { plural, group, standIn } of definitions) {
      const { body } = await cluster.request<{ metadata: { labels?: Record<string, string> } }>(
        "GET",
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`,
      );
      expect(body.metadata.labels?.[standInLabel], plural).toBe(standIn ? "true" : undefined);
    }
  });

  const reference = {
    apiGroup: "infrastructure.cluster.x-k8s.io",
    kind: "AzureCluster",
    name: "x",
  };
  const network = {
    subnets: [controlPlane(), nodes({ privateEndpoints: [endpoint()] })],
    apiServerLB: internal({ privateLinks: [link()] }),
  };
  const known = { ready: true };

  test.each([
    ["AzureCluster", azureCluster, azureClusterSpec(network), known],
    [
      "AzureClusterIdentity",
      azureClusterIdentity,
      {
        type: "ManualServicePrincipal",
        clientID: uuid,
        tenantID: uuid,
        clientSecret: { name: "x", namespace: "y" },
        allowedNamespaces: { list: ["x"] },
      },
      known,
    ],
    ["AzureASOManagedCluster", azureAsoManagedCluster, { resources: [{ kind: "x" }] }, known],
    [
      "AzureASOManagedControlPlane",
      azureAsoManagedControlPlane,
      { resources: [{ kind: "x", metadata: { annotations: { a: "b" } } }] },
      { controlPlaneEndpoint: { host: "x", port: 443 } },
    ],
    [
      "AzureManagedControlPlane",
      azureManagedControlPlane,
      { location: "westeurope", identityRef: { kind: "AzureClusterIdentity", name: "x" } },
      known,
    ],
    [
      "Cluster",
      capiCluster,
      {
        infrastructureRef: reference,
        controlPlaneRef: reference,
        controlPlaneEndpoint: { host: "x", port: 6443 },
      },
      { phase: "Provisioned" },
    ],
    [
      "KubeadmControlPlane",
      kubeadmControlPlane,
      { replicas: 3 },
      { initialization: { controlPlaneInitialized: true } },
    ],
    ["ProviderConfig", providerConfig, { credentials: { source: "None" } }, { users: 1 }],
  ] as const)("keeps what is not ours in every part of %s", async (_kind, kind, spec, status) => {
    const name = `${namespace.slice(-30)}-kept`;
    const given = { spec: withStrangers(spec), status: withStrangers(status) };
    await create(kind, name, given.spec);
    await cluster.request("PATCH", `${path(kind)}/${name}/status`, { status: given.status });
    const { body } = await cluster.request<object>("GET", `${path(kind)}/${name}`);
    expect(body).toMatchObject(given);
  });

  test("shows an AzureCluster in the columns that users know", async () => {
    const labels = { "cluster.x-k8s.io/cluster-name": "wc1" };
    await create(azureCluster, "columns", azureClusterSpec());
    await cluster.request("PATCH", `${path(azureCluster)}/columns`, { metadata: { labels } });
    await cluster.request("PATCH", `${path(azureCluster)}/columns/status`, {
      status: { conditions: [{ ...condition("Ready"), status: "False", reason: "Failed" }] },
    });
    const table = await asTable(cluster, `${path(azureCluster)}/columns`);
    const shown = table.columnDefinitions.map(({ name }, at) => [name, table.rows[0]?.cells[at]]);
    expect(Object.fromEntries(shown)).toMatchObject({
      Name: "columns",
      Cluster: "wc1",
      Ready: "False",
      Reason: "Failed",
      "Resource Group": "wc1",
      SubscriptionID: uuid,
      Location: "westeurope",
    });
  });

  test("gives a load balancer without a type the public one", async () => {
    const { spec } = await create<AzureCluster>(
      azureCluster,
      "no-type",
      azureClusterSpec({ apiServerLB: {} }),
    );
    expect(spec.networkSpec?.apiServerLB?.type).toBe("Public");
  });

  const condition = (type: string): CapiCondition => ({
    type,
    status: "True",
    lastTransitionTime: "2026-08-22T12:00:00Z",
  });

  test("drops the generation of a condition of an AzureCluster", async () => {
    await create(azureCluster, "generation", azureClusterSpec());
    const { body } = await cluster.request<AzureCluster>(
      "PATCH",
      `${path(azureCluster)}/generation/status`,
      { status: { conditions: [{ ...condition("Ready"), observedGeneration: 1 }] } },
    );
    expect(body.status?.conditions).toEqual([condition("Ready")]);
  });

  test("lets an applied condition of an AzureCluster take the place of all others", async () => {
    await create(azureCluster, "atomic", azureClusterSpec());
    const conditions = (...types: string[]) => ({ status: { conditions: types.map(condition) } });
    await apply("atomic", "capz", conditions("Ready", "PrivateLinksReady"), "/status");
    const { body } = await apply("atomic", "ours", conditions("GSPrivateLinksReady"), "/status");
    expect(body.status?.conditions?.map(({ type }) => type)).toEqual(["GSPrivateLinksReady"]);
  });

  test("lets two writers each keep their endpoints in one subnet of another's", async () => {
    await create(
      azureCluster,
      "endpoints",
      azureClusterSpec({
        subnets: [
          controlPlane(),
          nodes({
            routeTable: { name: "routes" },
            privateEndpoints: [endpoint({ name: "users" })],
          }),
        ],
      }),
    );
    const ours = (...names: string[]) => ({
      spec: {
        networkSpec: {
          subnets: [
            { name: "node-subnet", privateEndpoints: names.map((name) => endpoint({ name })) },
          ],
        },
      },
    });
    await apply("endpoints", "first", ours("first", "going"));
    await apply("endpoints", "second", ours("second"));
    const { status, body } = await apply("endpoints", "first", ours("first"));
    expect(status, JSON.stringify(body)).toBe(200);
    const found = body.spec.networkSpec?.subnets?.[1];
    expect(found).toMatchObject({ role: "node", routeTable: { name: "routes" } });
    const named: PrivateEndpointSpec[] = found?.privateEndpoints ?? [];
    expect(named.map(({ name }) => name).sort()).toEqual(["first", "second", "users"]);
  });
});
