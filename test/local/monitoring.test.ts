import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { alertRules, dashboardQueries } from "../package/monitoring-files.ts";
import { describeWhere } from "../setup/needs.ts";
import { folder, startLocal } from "./running.ts";

const missing = spawnSync("prometheus", ["--version"]).error
  ? "prometheus is not installed: Debian's package is prometheus"
  : undefined;

interface Answer {
  status: string;
  error?: string;
  data?: { result: unknown[] };
}

describeWhere(missing, "the dashboard's queries", () => {
  test("have values, and those of the alerts no error, while Prometheus reads the demo", async () => {
    const local = await startLocal("--speed", "20");
    const place = folder();
    const target = new URL(local.ready.operator.url).host;
    const config = {
      global: { scrape_interval: "1s" },
      scrape_configs: [{ job_name: "postern", static_configs: [{ targets: [target] }] }],
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
