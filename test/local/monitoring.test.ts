import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { alertRules, dashboardQueries, podMonitorEndpoint } from "../package/monitoring-files.ts";
import { describeWhere } from "../setup/needs.ts";
import { folder, type Resource, startLocal, type Thing } from "./running.ts";

const missing = spawnSync("prometheus", ["--version"]).error
  ? "prometheus is not installed: Debian's package is prometheus"
  : undefined;

interface Answer {
  status: string;
  error?: string;
  data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

describeWhere(missing, "the dashboard's queries", () => {
  test("have values, those of the alerts no error and every cluster its own namespace, while Prometheus reads the demo and what goes wrong in it", async () => {
    const local = await startLocal("--speed", "20");
    const place = folder();
    const address = new URL(local.ready.operator.url).host;
    // As the Prometheus operator configures it for the monitor: each target has the namespace and the name of its pod.
    const labels = { namespace: "postern", pod: "postern-operator-0" };
    const config = {
      global: { scrape_interval: "1s" },
      scrape_configs: [
        {
          job_name: "postern",
          honor_labels: podMonitorEndpoint().honorLabels ?? false,
          static_configs: [{ targets: [address], labels }],
        },
      ],
    };
    const file = join(place, "prometheus.yaml");
    writeFileSync(file, stringify(config));
    const port = await freePort();
    const prometheus = spawn(
      "prometheus",
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(place, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
    onTestFinished(async () => {
      if (prometheus.exitCode !== null) return;
      const closed = once(prometheus, "close");
      prometheus.kill();
      await closed;
    });
    const ask = async (query: string): Promise<Answer> => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
      try {
        return (await (await fetch(url)).json()) as Answer;
      } catch (error) {
        return { status: "no answer", error: String(error) };
      }
    };
    const empty = async () => {
      const answers = await Promise.all(
        dashboardQueries().map(async (query) => ({ query, answer: await ask(query) })),
      );
      return answers
        .filter(({ answer }) => (answer.data?.result.length ?? 0) === 0)
        .map(({ query, answer }) => `${query}: ${answer.error ?? "no series"}`);
    };
    await expect.poll(empty, { timeout: 120_000, interval: 2_000 }).toEqual([]);
    for (const { alert, expr } of alertRules())
      expect([alert, (await ask(expr)).status]).toEqual([alert, "success"]);

    const namespacesOf = async (metric: string) => {
      const { data } = await ask(`group by (namespace) (${metric})`);
      return data?.result.map((each) => each.metric.namespace).toSorted();
    };
    expect(await namespacesOf("postern_cluster_health")).toEqual(["clusters", "org", "org-mc"]);
    expect(await namespacesOf("leader_election_master_status")).toEqual(["postern"]);

    // Two things go wrong, and the counters show both: somebody changes a DNS record, and Azure throttles.
    const links = "/apis/hypershift.openshift.io/v1beta1/azureprivatelinkservices";
    const { body } = await local.kube<{ items: Thing[] }>("GET", links);
    const { privateDNSZoneID: zone, privateEndpointID: target } =
      body.items.find(({ status }) => status?.privateDNSZoneID)?.status ?? {};
    const total = async (metric: string) =>
      Number((await ask(`sum(${metric})`)).data?.result[0]?.value[1] ?? 0);
    const version = "2024-06-01";
    const records = await local.azure(`${zone}/A`, version);
    const [record] = (records.body as unknown as { value: (Resource & { id: string })[] }).value;
    const faults: Record<string, () => Promise<Response>> = {
      postern_drift_corrected_total: () =>
        fetch(`${local.ready.azure?.resourceManagerHttp}${record?.id}?api-version=${version}`, {
          method: "PUT",
          headers: {
            authorization: `Bearer ${local.ready.azure?.identities.find(({ name }) => name === "you")?.token}`,
            "content-type": "application/json",
          },
          body: JSON.stringify({
            properties: { ...record?.properties, aRecords: [{ ipv4Address: "192.0.2.1" }] },
          }),
        }),
      postern_azure_throttled_total: () =>
        fetch(`${local.ready.dashboard.url}/api/actions/throttle`, {
          method: "POST",
          headers: { "x-postern": "1" },
          body: JSON.stringify({ target }),
        }),
    };
    for (const [counter, happens] of Object.entries(faults)) {
      const before = await total(counter);
      expect([counter, (await happens()).status]).toEqual([counter, 200]);
      await expect
        .poll(() => total(counter), { timeout: 60_000, interval: 1_000, message: counter })
        .toBeGreaterThan(before);
    }
    expect(await local.end()).toEqual({ exitCode: 0, signal: null });
  }, 240_000);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
