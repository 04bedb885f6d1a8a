import { existsSync, statSync } from "node:fs";
import { apiVersions } from "postern/azure/gateways/api-versions.ts";
import { expect, test } from "vitest";
import {
  conditionOf,
  hostedClusters,
  type Resource,
  startLocal,
  untilAvailable,
} from "./running.ts";

const guests = "/subscriptions/bbbbbbbb-0000-4000-8000-000000000000/resourceGroups";
const management = "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups";
const network = "providers/Microsoft.Network";

/** The addresses of a name in a private zone. */
function addressesOf({ properties }: Resource): string[] {
  const { aRecords = [] } = properties as { aRecords?: { ipv4Address: string }[] };
  return aRecords.map(({ ipv4Address }) => ipv4Address);
}

test("the demo comes up: links are approved, names lead to endpoints, appliances are in their pool", async () => {
  const local = await startLocal("--speed", "100");
  await untilAvailable(local);

  for (const name of ["blue", "green"]) {
    const { body: cluster } = await local.kube("GET", `${hostedClusters}/${name}`);
    expect(conditionOf(cluster, "AzurePrivateLinkServiceAvailable")).toBe("True");
    const { body: link } = await local.kube(
      "GET",
      `/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-${name}/azureprivatelinkservices/private-router`,
    );
    const { privateEndpointID, privateEndpointIP } = link.status ?? {};
    const { body: endpoint } = await local.azure(String(privateEndpointID), apiVersions.network);
    const connections = [
      endpoint.properties.privateLinkServiceConnections,
      endpoint.properties.manualPrivateLinkServiceConnections,
    ].flat() as { properties: { privateLinkServiceConnectionState: { status: string } } }[];
    expect(
      connections.map(({ properties }) => properties.privateLinkServiceConnectionState.status),
    ).toEqual(["Approved"]);
    for (const record of [`${name}.hypershift.local/A/api`, `example.com/A/api-${name}`]) {
      const id = `${guests}/${name}/${network}/privateDnsZones/${record}`;
      const { body } = await local.azure(id, apiVersions.privateDns);
      expect(addressesOf(body), record).toEqual([privateEndpointIP]);
    }
  }

  const { body: amber } = await local.kube(
    "GET",
    "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org/azureclusters/amber",
  );
  expect(conditionOf(amber, "GSPrivateLinksReady")).toBe("True");
  const address =
    amber.metadata.annotations?.[
      "azure-private-endpoint-operator.giantswarm.io/private-link-apiserver-ip"
    ];
  const zone = `${management}/management/${network}/privateDnsZones/amber.example.net`;
  // The gates need the public names; the private ones follow the endpoints.
  await expect
    .poll(
      async () => {
        const { status, body } = await local.azure(`${zone}/A/apiserver`, apiVersions.privateDns);
        return status === 200 ? addressesOf(body) : [];
      },
      { timeout: 30_000 },
    )
    .toEqual([address]);

  const gateway = `${management}/appliances/${network}/loadBalancers/gateway`;
  const pool = `${gateway}/backendAddressPools/inspect`;
  const { body } = await local.azure(pool, apiVersions.network);
  expect(body.properties.loadBalancerBackendAddresses).toHaveLength(3);
}, 240_000);

test("the ready file tells every address and path while it is ready, to its owner only", async () => {
  const local = await startLocal("--scenario", "empty");
  const { ready, readyFile } = local;
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);
  for (const path of [ready.kubeconfig, ready.operator.log, ready.azure?.caFile])
    expect(existsSync(path ?? ""), path).toBe(true);
  expect(statSync(ready.kubeconfig).mode & 0o777).toBe(0o600);
  const { status } = await local.kube("GET", "/apis/hypershift.openshift.io/v1beta1");
  expect(status).toBe(200);
  await expect.poll(async () => (await fetch(`${ready.operator.url}/readyz`)).status).toBe(200);
  expect(
    (await fetch(`${ready.azure?.resourceManagerHttp}/metadata/endpoints?api-version=2022-09-01`))
      .status,
  ).toBe(200);

  expect(await local.end()).toEqual({ exitCode: 0, signal: null });
  expect(existsSync(readyFile)).toBe(false);
  expect(existsSync(ready.data)).toBe(false);
  const gone = fetch(`${ready.operator.url}/readyz`).then(
    () => "answers",
    () => "gone",
  );
  expect(await gone).toBe("gone");
}, 120_000);

test("a hosted cluster that is deleted leaves nothing in Azure", async () => {
  const local = await startLocal("--speed", "100");
  await untilAvailable(local);
  await local.kube("DELETE", `${hostedClusters}/blue`);
  const status = async () => (await local.kube("GET", `${hostedClusters}/blue`)).status;
  await expect.poll(status, { timeout: 90_000 }).toBe(404);
  const endpoints = `${guests}/blue/${network}/privateEndpoints`;
  const { body } = await local.azure(endpoints, apiVersions.network);
  expect(body).toMatchObject({ value: [] });
  const namespace = async () =>
    (await local.kube("GET", "/api/v1/namespaces/clusters-blue")).status;
  await expect.poll(namespace, { timeout: 60_000 }).toBe(404);
}, 240_000);
