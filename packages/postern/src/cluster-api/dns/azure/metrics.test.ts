import { Registry } from "@prometheus-io/client";
import { expect, test } from "vitest";
import {
  observed,
  ourClaim,
  PaperDns,
  settle,
  zoneIds,
} from "../../../../../../test/cluster-api/paper-dns.ts";
import { AzureError } from "../../../azure/errors.ts";
import { DnsMetrics } from "./metrics.ts";
import { methodOf } from "./request-methods.ts";

function started() {
  const registry = new Registry();
  return {
    metrics: new DnsMetrics(registry),
    lines: async () => (await registry.metrics()).split("\n"),
  };
}

const labels = 'controller="dns-operator-azure"';

test("zones and addresses are shown under the names of the operator before us", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns();
  const tenants = { cluster: "tenant-wc", management: "tenant-mc" };
  metrics.show("org/wc1", azure.observed(settle(azure, observed()).world), tenants);
  const shown = await lines();
  expect(shown).toContain(
    `dns_operator_azure_zone_info{${labels},zone="wc1.example.com",type="public",resource_group="wc1",tenant_id="tenant-wc",subscription_id="33333333-3333-4333-8333-333333333333"} 1`,
  );
  expect(shown).toContain(
    `dns_operator_azure_zone_info{${labels},zone="wc1.example.com",type="private",resource_group="mc",tenant_id="tenant-mc",subscription_id="11111111-1111-4111-8111-111111111111"} 1`,
  );
  expect(shown).toContain(
    `dns_operator_azure_zone_records_sum{${labels},zone="wc1.example.com",type="public"} 2`,
  );
  expect(shown).toContain(
    `dns_operator_azure_record_set_info{${labels},zone="mc.example.com",type="private",fqdn="ingress.mc.example.com",ip="10.1.0.8",ttl="300"} 1`,
  );
});

test("what a cluster showed goes with it, the zone of the management cluster too", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns();
  metrics.show("org/wc1", azure.observed(settle(azure, observed()).world));
  metrics.delete("org/wc1");
  expect((await lines()).filter((line) => line.includes("example.com"))).toEqual([]);
});

test("what another cluster shows too stays until that one goes", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns().zone(zoneIds.toManagement, ourClaim);
  metrics.show("org/wc1", azure.observed(observed()));
  metrics.show("org/wc10", azure.observed(observed()));
  metrics.delete("org/wc1");
  expect((await lines()).filter((line) => line.includes("mc.example.com"))).toHaveLength(2);
  metrics.delete("org/wc10");
  expect((await lines()).filter((line) => line.includes("mc.example.com"))).toEqual([]);
});

test("an address that has changed is shown once", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns();
  const { world } = settle(azure, observed());
  metrics.show("org/wc1", azure.observed(world));
  settle(azure, { ...world, api: { state: "known", values: ["10.1.0.101"] } });
  metrics.show("org/wc1", azure.observed(world));
  const shown = (await lines()).filter((line) => line.includes('fqdn="api.wc1.example.com"'));
  expect(shown.map((line) => /ip="([^"]+)"/.exec(line)?.[1]).sort()).toEqual([
    "10.0.0.7",
    "10.1.0.101",
  ]);
});

test("the base domain is shown with its own count of record sets, until the last cluster is deleted", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns();
  const world = azure.observed(observed());
  const zones = world.zones.map((zone) =>
    zone.role === "base" && zone.observation.state === "exists"
      ? {
          ...zone,
          observation: {
            ...zone.observation,
            resource: { ...zone.observation.resource, recordSets: 41 },
          },
        }
      : zone,
  );
  metrics.show("org/wc1", { ...world, zones });
  const base = `${labels},zone="example.com",type="public"`;
  const shown = await lines();
  expect(shown).toContain(`dns_operator_azure_zone_records_sum{${base}} 41`);
  expect(shown.join("\n")).toContain(`dns_operator_azure_zone_info{${base},resource_group="base",`);
  metrics.delete("org/wc1");
  expect((await lines()).join("\n")).not.toContain(base);
});

const group = "/subscriptions/s/resourceGroups/wc1";
const network = `${group}/providers/Microsoft.Network`;

test("requests are counted by the methods of the operator before us, and failures apart; what is absent is no failure", async () => {
  const { metrics, lines } = started();
  const failing = (code: string, status: number) =>
    metrics
      .countRequest(
        "GET",
        `${network}/dnsZones/wc1.example.com?api-version=2018-05-01`,
        Promise.reject(new AzureError({ code, what: "read it", status })),
      )
      .catch(() => {});
  const record = `${network}/dnsZones/wc1.example.com/A/api`;
  await metrics.countRequest("PUT", record, Promise.resolve());
  await failing("ResourceNotFound", 404);
  await failing("AuthorizationFailed", 403);
  const shown = await lines();
  const total = "dns_operator_azure_api_request_total";
  expect(shown).toContain(`${total}{${labels},method="recordSets.CreateOrUpdate"} 1`);
  expect(shown).toContain(`${total}{${labels},method="zones.Get"} 2`);
  expect(shown).toContain('dns_operator_azure_api_request_errors_total{method="zones.Get"} 1');
});

const privateZone = `${network}/privateDnsZones/wc1.example.com`;

test.each([
  ["PUT", `${network}/dnsZones/wc1.example.com`, "zones.CreateOrUpdate"],
  ["DELETE", `${network}/dnsZones/wc1.example.com`, "zones.BeginDelete"],
  ["GET", `${network}/dnsZones/wc1.example.com/recordsets`, "recordSets.NewListByDNSZonePager"],
  ["DELETE", `${network}/dnsZones/example.com/NS/wc1`, "recordSets.Delete"],
  ["PUT", privateZone, "privateZones.BeginCreateOrUpdate"],
  ["GET", privateZone, "privateZones.Get"],
  ["DELETE", privateZone, "privateZones.BeginDelete"],
  ["GET", `${privateZone}/ALL`, "privateRecordSets.NewListPager"],
  ["PUT", `${privateZone}/A/apiserver`, "privateRecordSets.CreateOrUpdate"],
  ["GET", `${privateZone}/virtualNetworkLinks`, "virtualNetworkLinkClient.NewListPager"],
  ["PUT", `${privateZone}/virtualNetworkLinks/x`, "virtualNetworkLinkClient.BeginCreateOrUpdate"],
  ["DELETE", `${privateZone}/virtualNetworkLinks/x`, "virtualNetworkLinkClient.BeginDelete"],
  ["GET", group, "resourceGroups.Get"],
  ["PUT", group, "resourceGroups.CreateOrUpdate"],
  ["GET", `${network}/publicIPAddresses/api`, "GET"],
  ["GET", `${network}/privateDnsOperationStatuses/1`, "poller.PollUntilDone"],
])("the method of %s %s is %s", (verb, path, method) => {
  expect(methodOf(verb, path)).toBe(method);
});
