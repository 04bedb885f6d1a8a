import { expect, test } from "vitest";
import { applianceContext } from "./context.ts";
import { setMetricsCollector } from "./metrics.ts";
import { agentMetrics, agentSeries } from "./metrics-text.ts";

test("the text has every series with its kind, and counts what happened", () => {
  const metrics = agentMetrics();
  metrics.registered(true);
  metrics.registeredAfter(1.25);
  metrics.retried("register", "PreconditionFailed");
  metrics.retried("register", "PreconditionFailed");
  metrics.retried("deregister", 'odd"\\code\n');
  metrics.missing();
  metrics.repaired();
  metrics.imdsFailed("410");
  metrics.probed(200);
  metrics.probed(200);
  metrics.tunnelPackets("gwlb-internal", "received", 7);
  metrics.unhandledRejection();
  const lines = metrics.text().split("\n");
  for (const [name, { type, help }] of Object.entries(agentSeries)) {
    expect(lines).toContain(`# TYPE ${name} ${type}`);
    expect(lines).toContain(`# HELP ${name} ${help}`);
  }
  expect(lines.filter((line) => !line.startsWith("#"))).toEqual([
    "postern_agent_registered 1",
    "postern_agent_registration_seconds 1.25",
    "postern_agent_registrations_total 1",
    'postern_agent_retries_total{what="register",code="PreconditionFailed"} 2',
    'postern_agent_retries_total{what="deregister",code="odd\\"\\\\code\\n"} 1',
    "postern_agent_registrations_lost_total 1",
    "postern_agent_registrations_repaired_total 1",
    'postern_agent_imds_errors_total{status="410"} 1',
    'postern_agent_probes_total{status="200"} 2',
    'postern_agent_tunnel_packets_total{link="gwlb-internal",direction="received"} 7',
    "postern_agent_unhandled_rejections_total 1",
    "",
  ]);
});

test("the collector of the process is told where a context names no other", () => {
  const shared = agentMetrics();
  const own = agentMetrics();
  const early = applianceContext();
  setMetricsCollector(shared);
  early.metrics.missing();
  applianceContext({ metrics: own }).metrics.missing();
  setMetricsCollector(undefined);
  early.metrics.missing();
  for (const each of [shared, own])
    expect(each.text()).toContain("postern_agent_registrations_lost_total 1\n");
});
