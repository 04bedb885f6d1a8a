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
  metrics.forget("org/wc1");
  expect((await lines()).filter((line) => line.includes("example.com"))).toEqual([]);
});

test("what another cluster shows too stays until that one goes", async () => {
  const { metrics, lines } = started();
  const azure = new PaperDns().zone(zoneIds.toManagement, ourClaim);
  metrics.show("org/wc1", azure.observed(observed()));
  metrics.show("org/wc10", azure.observed(observed()));
  metrics.forget("org/wc1");
  expect((await lines()).filter((line) => line.includes("mc.example.com"))).toHaveLength(2);
  metrics.forget("org/wc10");
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

test("requests are counted, and failures apart; what is absent is no failure", async () => {
  const { metrics, lines } = started();
  const failing = (code: string, status: number) =>
    metrics
      .countRequest("GET", Promise.reject(new AzureError({ code, what: "read it", status })))
      .catch(() => {});
  await metrics.countRequest("PUT", Promise.resolve());
  await failing("ResourceNotFound", 404);
  await failing("AuthorizationFailed", 403);
  const shown = await lines();
  expect(shown).toContain(`dns_operator_azure_api_request_total{${labels},method="PUT"} 1`);
  expect(shown).toContain(`dns_operator_azure_api_request_total{${labels},method="GET"} 2`);
  expect(shown).toContain('dns_operator_azure_api_request_errors_total{method="GET"} 1');
});
