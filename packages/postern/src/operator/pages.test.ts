import { Gauge, Registry } from "@prometheus-io/client";
import { expect, onTestFinished, test } from "vitest";
import { DnsMetrics } from "../cluster-api/dns/azure/metrics.ts";
import { type Check, isLoopback, serveHealth } from "../kube/health.ts";
import { Metrics } from "../kube/metrics.ts";
import { countRequests } from "./azure.ts";

const subscription = "bbbbbbbb-0000-4000-8000-000000000000";
const request = { resource: "zones", verb: "GET", code: "429", seconds: 1, throttled: true };

async function pagesOf(details: boolean, checks: Check[] = []) {
  const { registry } = new Metrics({ processMetrics: true });
  countRequests(registry)({ ...request, subscription, remaining: 7 } as never);
  new DnsMetrics(registry);
  const labels = { controller: "c", zone: "blue.example.com", type: "private" };
  const address = { ...labels, fqdn: "api.blue.example.com", ip: "10.9.8.7", ttl: "300" };
  const place = { resource_group: "tenant-blue", tenant_id: subscription };
  const set = (name: string, values: Record<string, string>) =>
    (registry.getSingleMetric(name) as Gauge<string>).set(values, 1);
  set("dns_operator_azure_zone_info", { ...labels, ...place, subscription_id: subscription });
  set("dns_operator_azure_zone_records_sum", labels);
  set("dns_operator_azure_record_set_info", address);
  const lines: object[] = [];
  const pages = await serveHealth({
    listen: { host: "127.0.0.1", port: 0 },
    health: () => checks,
    ready: () => checks,
    metrics: registry,
    details,
    log: { warn: (fields: object) => void lines.push(fields) } as never,
  });
  onTestFinished(() => pages.close());
  const read = async (path: string) => (await fetch(pages.url + path)).text();
  return { read, lines, registry };
}

test("/metrics shows nobody's subscription ids, DNS names and addresses to everybody", async () => {
  const { read } = await pagesOf(false);
  const text = await read("/metrics");
  for (const secret of [subscription, "blue", "10.9.8.7"]) expect(text).not.toContain(secret);
  // printf %s bbbbbbbb-0000-4000-8000-000000000000 | sha256sum | cut -c1-8
  expect(text).toContain('postern_azure_throttled_total{subscription="ce1e7166"} 1');
  expect(text).toContain('postern_azure_remaining_requests{subscription="ce1e7166",verb="GET"} 7');
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^controller_runtime_|^# TYPE controller_runtime_reconcile_total counter$/m);
});

test("/metrics has the same form with details and without", async () => {
  const registry = new Registry();
  new Gauge({ name: "one", help: "1", registers: [registry] }).set(1);
  new Gauge({ name: "two", help: "2", labelNames: ["a"], registers: [registry] }).set(
    { a: "b" },
    2,
  );
  const texts: string[] = [];
  for (const details of [true, false]) {
    const listen = { host: "127.0.0.1", port: 0 };
    const none = () => [];
    const pages = await serveHealth({
      listen,
      health: none,
      ready: none,
      metrics: registry,
      details,
    });
    onTestFinished(() => pages.close());
    texts.push(await (await fetch(`${pages.url}/metrics`)).text());
  }
  expect(texts[1]).toBe(texts[0]);
});

test("/metrics shows everything where it was asked for", async () => {
  const { read, registry } = await pagesOf(true);
  const text = await read("/metrics");
  expect(text).toContain(`postern_azure_throttled_total{subscription="${subscription}"} 1`);
  expect(text).toContain("api.blue.example.com");
  expect(registry.getMetricsAsArray().length).toBeGreaterThan(20);
});

test("a failing check does not tell everybody why, and the log has the reason once", async () => {
  const note = "the zone blue.example.com in tenant-blue is refused";
  const checks = [
    { name: "arm", check: () => ({ ok: false, note }) },
    { name: "leader", check: () => ({ ok: true, note: "following pod-of-blue" }) },
  ];
  const { read, lines } = await pagesOf(false, checks);
  for (const path of ["/readyz", "/readyz?verbose", "/healthz?verbose"])
    expect(await read(path)).toMatch(
      /^\[-\]arm failed: reason withheld\n\[\+\]leader ok\n(ready|health)z check failed\n$/,
    );
  expect(lines).toEqual([{ check: "arm", reason: note }]);
});

test.each([
  ["127.0.0.1", true],
  ["::1", true],
  ["localhost", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.example.com", false],
  ["10.0.0.1", false],
])("details are shown by default on %s: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
