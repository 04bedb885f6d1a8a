import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { startLocal } from "./local/start.ts";
import { atMost, makeReport, median, publish, told } from "./report.ts";

// The dashboard: how long it draws 200 clusters, and 1,000 beside that. See README.md.
const { values } = parseArgs({
  options: { json: { type: "string" }, rounds: { type: "string", default: "7" } },
});
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.POSTERN_BROWSER ?? places.find((path) => existsSync(path));
if (executablePath === undefined)
  throw new Error("there is no Chromium; name one with POSTERN_BROWSER");

interface Overview {
  picture: { clusters: { key: string }[] };
}

/** The milliseconds in which a page draws so many clusters for the first time. */
async function drawn(browser: Browser, url: string, data: Overview, count: number) {
  const page = await browser.newPage();
  const { clusters } = data.picture;
  const many = Array.from({ length: count }, (_, at) => ({
    ...clusters[at % clusters.length],
    key: `clusters/number-${at}`,
  }));
  const json = { ...data, picture: { ...data.picture, clusters: many } };
  await page.route("**/api/overview", (route) => route.fulfill({ json }));
  await page.goto(url);
  const html = page.locator(`html[data-drawn-clusters="${count}"]`);
  await html.waitFor();
  const ms = Number(await html.getAttribute("data-drawn-ms"));
  await page.close();
  return ms;
}

const folder = mkdtempSync(join(tmpdir(), "postern-bench-dashboard-"));
const { child, ready } = await startLocal(folder, "--speed", "100");
const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  const { url } = ready.dashboard;
  const data = (await (await fetch(`${url}/api/overview`)).json()) as Overview;
  const took: Record<number, number[]> = { 200: [], 1000: [] };
  for (let round = 0; round < Number(values.rounds); round++)
    for (const count of [200, 1_000]) took[count]?.push(await drawn(browser, url, data, count));
  const [few, many] = [median(took[200] ?? []), median(took[1_000] ?? [])];
  const rows = [
    told("200 clusters drawn", few, "ms"),
    told("1,000 clusters drawn", many, "ms"),
    atMost("1,000 clusters beside 200", many / few, "x", 5),
  ];
  publish(makeReport("dashboard", rows), values.json);
} finally {
  await browser.close();
  child.kill("SIGINT");
  await once(child, "exit");
  rmSync(folder, { recursive: true, force: true });
}
