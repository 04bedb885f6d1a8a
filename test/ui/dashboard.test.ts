import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, startLocal, untilAvailable } from "../local/running.ts";
import { root } from "../package/run-bin.ts";
import { describeInBrowser, inject, seriousBarriers } from "./browser.ts";

/** The demo, where nobody approves a connection by rule. */
function withoutApproval(): string {
  const demo = readFileSync(join(root, "examples/local/demo.yaml"), "utf8");
  const scenario = join(folder(), "waiting.yaml");
  writeFileSync(scenario, demo.replaceAll(/^ *autoApprovedSubscriptions: .*\n/gm, ""));
  return scenario;
}

describeInBrowser("the dashboard", (open) => {
  test("a cluster that is created is Progressing and never called anything worse, and one filter can be released", async () => {
    const local = await startLocal("--speed", "30", "--scenario", withoutApproval());
    const { page } = await open(local.ready.dashboard.url);
    const worse = new Set<string>();
    const waiting = page.locator(".tile.Progressing", { hasText: "waits for approval" });
    await expect
      .poll(
        async () => {
          for (const text of await page.locator(".tile.Unavailable").allTextContents())
            worse.add(text);
          return (await page.locator(".tile.Healthy").count()) + (await waiting.count());
        },
        { timeout: 90_000, interval: 100 },
      )
      .toBe(4);
    expect([...worse].join("\n")).toBe("");
    await page.locator(".filters .Progressing").click();
    await expect.poll(() => page.locator(".tile").count()).toBe(1);
    expect(page.url()).toContain("health=Progressing");
    await inject(page, "Approve its connection", "org/amber");
    await expect.poll(() => page.locator(".tile").count(), { timeout: 90_000 }).toBe(0);
    await page.locator('.filters button[aria-pressed="true"]').click();
    await expect.poll(() => page.locator(".tile.Healthy").count()).toBe(4);
  }, 240_000);

  test("two hundred clusters are rows, drawn, sorted, filtered, searched and opened", async () => {
    const local = await startLocal("--speed", "100", "--clusters", "200");
    const { page } = await open(local.ready.dashboard.url);
    await page.locator('html[data-drawn-clusters="204"]').waitFor({ timeout: 60_000 });
    const ms = await page.locator("html").getAttribute("data-drawn-ms");
    console.log(`204 clusters were drawn ${ms} ms after their data`);
    await expect.poll(() => page.locator(".clusters tbody tr").count()).toBe(200);
    await page.getByRole("button", { name: "Show 4 more" }).click();
    await expect.poll(() => page.locator(".clusters tbody tr").count()).toBe(204);
    const first = () => page.locator(".clusters tbody th").first().textContent();
    const byName = page.getByRole("columnheader", { name: "Cluster", exact: true });
    await byName.getByRole("button").click();
    // The arrow is for the eye; assistive technology is told by aria-sort.
    await expect.poll(() => byName.getAttribute("aria-sort")).toBe("ascending");
    await byName.getByRole("button").click();
    await expect.poll(first).toBe("org/amber");
    expect(page.url()).toContain("sort=-name");
    expect(await page.locator('th[aria-sort="descending"]').count()).toBe(1);
    expect(await seriousBarriers(page)).toEqual([]);
    await page.getByRole("searchbox", { name: "Search clusters" }).fill("clusters/blue");
    await expect.poll(() => page.locator(".clusters tbody tr").count()).toBe(1);
    await page.locator(".clusters a").click();
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
  }, 240_000);

  test("a page that loses the server is grey and knows no health, and comes back", async () => {
    // Below the ports that the kernel gives away, so that nothing takes one in between.
    const port = String(20_000 + (process.pid % 1_000) * 10);
    const first = await startLocal("--speed", "100", "--port-base", port);
    await untilAvailable(first);
    const { page } = await open(first.ready.dashboard.url);
    await page.locator(".tile.Healthy").first().waitFor();
    await first.end();
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await page.locator("html.stale").waitFor();
    expect(await page.locator(".tile.Unknown").count()).toBe(4);
    expect(await page.title()).toBe("– 4 Unknown · Postern");
    await startLocal("--speed", "100", "--port-base", port);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.locator(".tile.Healthy").first().waitFor();
  }, 180_000);
});
