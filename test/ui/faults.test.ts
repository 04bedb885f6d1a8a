import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startLocalUntil, untilAvailable } from "../local/running.ts";
import { describeInBrowser, inject, untilAllHealthy, watchAgreement } from "./browser.ts";

const healthy = { timeout: 90_000 };

/** Every fault is repaired before the next one. It runs slowly enough for a page to show what happens. */
describeInBrowser("faults", (open) => {
  const undo: (() => void)[] = [];
  let local: Running;
  const green = () => open(`${local.ready.dashboard.url}/#/clusters/clusters/green`);
  const headline = (page: Page, health: string) => page.locator(`.headline.${health}`);
  beforeAll(async () => {
    local = await startLocalUntil((each) => undo.push(each), "--speed", "10");
    await untilAvailable(local);
  }, 180_000);
  afterAll(() => {
    for (const each of undo) each();
  });

  test("a deleted endpoint makes its cluster Unavailable everywhere, and the timeline tells the rest", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    // Every second use did nothing once.
    for (const _ of [1, 2]) {
      await inject(page, "Delete the private endpoint");
      const cause = headline(page, "Unavailable").locator(".cause").first();
      await cause
        .filter({ hasText: /private-router-pe (is being deleted|does not exist)/ })
        .waitFor();
      expect(await page.locator(".headline.Unavailable .remedy").count()).toBeLessThanOrEqual(1);
      await headline(page, "Healthy").waitFor(healthy);
      const story = page.locator(".story");
      await story.getByText("Healthy again").waitFor();
      expect(await story.textContent()).toMatch(
        /Unavailable: .*Detected by the operator.*Healthy again/,
      );
    }
  }, 240_000);

  test("a rejected connection is Unavailable with its remedy, until the endpoint is deleted", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    await inject(page, "Reject its connection");
    const cause = headline(page, "Unavailable").locator(".cause").first();
    await cause.filter({ hasText: "rejected the connection of private endpoint" }).waitFor();
    expect(await page.locator(".headline .remedy").first().textContent()).toContain(
      "delete the private endpoint; Postern recreates it",
    );
    await expect.poll(() => page.title()).toBe("✗ clusters/green Unavailable · Postern");
    expect(await page.getByText("No changes.", { exact: true }).count()).toBe(0);
    await inject(page, "Delete the private endpoint");
    await headline(page, "Healthy").waitFor(healthy);
  }, 240_000);

  test("a removed role names the action that is missing, above everything else", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    await inject(page, "Remove the operator's role");
    const cause = page.locator(".headline:not(.Healthy) .cause").first();
    await cause
      .filter({ hasText: /authorization|Microsoft\.Network\/\S+\/(read|write)/ })
      .waitFor(healthy);
    await headline(page, "Healthy").waitFor(healthy);
  }, 240_000);

  test("throttled, a cluster without its endpoint is not called Healthy, and recovers", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    await inject(page, "Throttle Azure");
    await page.locator(".headline:not(.Healthy)").waitFor();
    await headline(page, "Healthy").waitFor(healthy);
  }, 240_000);

  test("without an operator the page is grey and every health Unknown or worse, until another one runs", async () => {
    const { page } = await open(local.ready.dashboard.url);
    await untilAllHealthy(page, 4);
    await inject(page, "Kill the operator", "clusters/green");
    await page.getByRole("alert").filter({ hasText: "No operator is running" }).waitFor();
    await page.locator("html.stale").waitFor();
    expect(await page.locator(".tile.Healthy").count()).toBe(0);
    expect(await page.locator(".tile.Unknown").count()).toBeGreaterThanOrEqual(3);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await untilAllHealthy(page, 4);
  }, 240_000);

  test("in a random storm no two places of a page disagree about a cluster's health", async () => {
    const pages = await Promise.all([open(local.ready.dashboard.url), green()]);
    const [overview, cluster] = pages.map(({ page }) => page) as [Page, Page];
    await untilAllHealthy(overview, 4);
    const agreements = await Promise.all([watchAgreement(overview), watchAgreement(cluster)]);
    const clusters = ["clusters/blue", "clusters/green", "org/amber"];
    const faults = ["Delete the private endpoint", "Reject its connection", "Throttle", "Kill"];
    // The seed is in the name of the failure, so that it can be played again.
    let seed = 7;
    const random = (count: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % count;
    };
    for (let deed = 0; deed < 8; deed++) {
      const fault = faults[random(faults.length)] ?? "";
      const target = clusters[random(clusters.length)] ?? "";
      // What is being deleted can be neither rejected nor found; then the storm goes on with the next.
      await inject(overview, fault, target).catch(() => undefined);
    }
    // What was rejected stays so until it is deleted.
    for (const target of clusters)
      await expect
        .poll(
          () =>
            inject(overview, "Delete the private endpoint", target).then(
              () => true,
              () => false,
            ),
          {
            timeout: 60_000,
            interval: 1_000,
          },
        )
        .toBe(true);
    await untilAllHealthy(overview, 4);
    await headline(cluster, "Healthy").waitFor(healthy);
    for (const disagreements of agreements) expect(await disagreements()).toEqual([]);
  }, 300_000);
});
