import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, type Running, startLocal, untilAvailable } from "../local/running.ts";
import { root } from "../package/run-bin.ts";
import { describeInBrowser, keepPicture, seriousBarriers, untilAllWork } from "./browser.ts";

/** A fresh local mode for each test: a test breaks things. */
const start = (...args: string[]): Promise<Running> => startLocal("--speed", "100", ...args);

/** The demo, where nobody approves a connection unasked. */
function withoutApproval(): string {
  const demo = readFileSync(join(root, "examples/local/demo.yaml"), "utf8");
  const scenario = join(folder(), "waiting.yaml");
  writeFileSync(scenario, demo.replaceAll(/^ *autoApprovedSubscriptions: .*\n/gm, ""));
  return scenario;
}

describeInBrowser("the dashboard", (open) => {
  test("the demo comes up in the picture, in both themes, with no barrier", async () => {
    const local = await start();
    const { page, problems } = await open(local.ready.dashboard.url);
    await untilAllWork(page, 4);
    await expect.poll(() => page.locator("svg[data-drawn] .node.endpoint.ok").count()).toBe(4);
    await expect.poll(() => page.locator("svg[data-drawn] .node.appliance.ok").count()).toBe(3);
    expect(await seriousBarriers(page)).toEqual([]);
    await keepPicture(page, "dashboard-light");

    await page.getByLabel("Theme").selectOption("dark");
    expect(await seriousBarriers(page)).toEqual([]);
    await keepPicture(page, "dashboard-dark");

    await page.locator(".tile", { hasText: "clusters/blue" }).click();
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
    await expect.poll(() => page.locator("svg[data-drawn] .node.record.ok").count()).toBe(4);
    expect(await page.getByText("nothing: everything is as it should be").count()).toBe(1);
    expect(await page.locator(".steps .request", { hasText: "request " }).count()).toBeGreaterThan(
      0,
    );
    expect(await seriousBarriers(page)).toEqual([]);
    await keepPicture(page, "cluster-dark");
    expect(problems).toEqual([]);
  }, 180_000);

  test("an endpoint that is deleted behind its back breaks in the picture, and heals", async () => {
    const local = await start();
    await untilAvailable(local);
    const { page } = await open(`${local.ready.dashboard.url}/#/clusters/clusters/blue`);
    const endpoint = page.locator(".node.endpoint");
    await page.locator(".node.endpoint.ok").waitFor();
    await endpoint.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete it in Azure" }).click();
    await page.locator(".node.endpoint:not(.ok)").waitFor();
    await page.locator(".line:not(.ok)").first().waitFor();
    await page.locator(".node.endpoint.ok").waitFor({ timeout: 90_000 });
    await expect.poll(() => page.locator(".line:not(.ok)").count(), { timeout: 60_000 }).toBe(0);
  }, 240_000);

  test("a connection that waits is approved from the picture", async () => {
    const local = await start("--scenario", withoutApproval());
    const { page } = await open(`${local.ready.dashboard.url}/#/clusters/org/amber`);
    await page.locator(".node.endpoint.pending").waitFor({ timeout: 90_000 });
    await page.locator(".line.pending").waitFor();
    await page.locator(".node.endpoint.pending").click();
    await page.getByRole("button", { name: "Approve its connection" }).click();
    await page.locator(".node.endpoint.ok").waitFor({ timeout: 90_000 });
  }, 240_000);

  test("two hundred clusters are drawn, searched and opened", async () => {
    const local = await start("--clusters", "200");
    const { page } = await open(local.ready.dashboard.url);
    await expect.poll(() => page.locator(".tile").count(), { timeout: 60_000 }).toBe(204);
    await page.locator('html[data-drawn-clusters="204"]').waitFor();
    const ms = await page.locator("html").getAttribute("data-drawn-ms");
    console.log(`204 clusters were drawn ${ms} ms after their data`);
    // A picture of them all would be too large; that of the gateway and its appliances is not.
    await expect.poll(() => page.locator("svg[data-drawn] .node.appliance").count()).toBe(3);
    expect(await page.locator("svg[data-drawn] .node.pool").count()).toBe(1);
    expect(await page.locator("svg[data-drawn] .node.cluster").count()).toBe(0);
    await page.getByRole("searchbox", { name: "Search clusters" }).fill("blue");
    await expect.poll(() => page.locator(".tile").count()).toBe(1);
    await page.locator(".tile").click();
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
  }, 240_000);

  test("a filter whose last cluster has changed can be let go", async () => {
    const local = await start("--scenario", withoutApproval());
    const { page } = await open(local.ready.dashboard.url);
    await page.locator(".node.endpoint.pending").waitFor({ timeout: 90_000 });
    // The others work by then, and this one waits for whoever approves it.
    await expect.poll(() => page.locator(".tile.ok").count(), { timeout: 90_000 }).toBe(3);
    const filter = page.locator(".filters button:not(.ok)");
    await filter.click();
    await expect.poll(() => page.locator(".tile").count()).toBe(1);
    await page.locator(".node.endpoint.pending").click();
    await page.getByRole("button", { name: "Approve its connection" }).click();
    await expect.poll(() => page.locator(".tile").count(), { timeout: 90_000 }).toBe(0);
    await page.locator('.filters button[aria-pressed="true"]').click();
    await expect.poll(() => page.locator(".tile").count()).toBe(4);
  }, 240_000);

  test("a cluster is skipped to, left and not found, and the page says where one is", async () => {
    const local = await start();
    await untilAvailable(local);
    const { page, problems } = await open(`${local.ready.dashboard.url}/#/clusters/clusters/blue`);
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
    expect(await page.title()).toBe("clusters/blue · Postern");
    await page.getByRole("button", { name: "Skip to the content" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("main:focus").waitFor();
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.locator(".tile").first().waitFor();
    expect(await page.title()).toBe("Postern");
    expect(problems).toEqual([]);
    for (const place of ["clusters/none", "%"]) {
      await page.goto(`${local.ready.dashboard.url}/#/clusters/${place}`);
      await page.getByRole("alert").waitFor();
    }
  }, 120_000);

  test("a page that loses the server says so and comes back", async () => {
    // Below the ports that the kernel gives away, so that nothing takes one in between.
    const port = String(20_000 + (process.pid % 1_000) * 10);
    const first = await startLocal("--speed", "100", "--port-base", port);
    await untilAvailable(first);
    const { page } = await open(first.ready.dashboard.url);
    await page.locator(".tile").first().waitFor();
    await first.end();
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await startLocal("--speed", "100", "--port-base", port);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.locator(".tile").first().waitFor();
  }, 180_000);
});
