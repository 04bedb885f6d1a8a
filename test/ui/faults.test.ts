import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startLocalUntil, untilAvailable } from "../local/running.ts";
import { seed } from "../setup/random.ts";
import {
  brokenWords,
  describeInBrowser,
  inject,
  keepPicture,
  keepsPictures,
  untilAllHealthy,
  watchAgreement,
  watchDelay,
} from "./browser.ts";

const healthy = { timeout: 90_000 };
/** A storm of less is no storm. */
const leastFaults = 5;
/** Azure is throttled for twenty seconds, and an endpoint is recreated in fewer. */
const patience = { timeout: 40_000, interval: 1_000 };

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
    const delayOf = await watchDelay(page);
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
    // From the answer that carries the observation to what a person reads.
    expect(await delayOf("Unavailable")).toBeLessThan(2_000);
  }, 240_000);

  test("a rejected connection is Unavailable with its remedy, until the endpoint is deleted", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    const delayOf = await watchDelay(page);
    await inject(page, "Reject its connection");
    const cause = headline(page, "Unavailable").locator(".cause").first();
    await cause.filter({ hasText: "rejected the connection of private endpoint" }).waitFor();
    expect(await page.locator(".headline .remedy").first().textContent()).toContain(
      "delete the private endpoint; Postern recreates it",
    );
    await expect.poll(() => page.title()).toBe("✗ clusters/green Unavailable · Postern");
    expect(await delayOf("Unavailable")).toBeLessThan(2_000);
    expect(await page.getByText("No changes.", { exact: true }).count()).toBe(0);
    await inject(page, "Delete the private endpoint");
    await headline(page, "Healthy").waitFor(healthy);
  }, 240_000);

  test("a removed role names the action that is missing, above everything else", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    await inject(page, "Remove the operator's role");
    const cause = headline(page, "Degraded").locator(".cause").first();
    await cause
      .filter({ hasText: /authorization|Microsoft\.Network\/\S+\/(read|write)/ })
      .waitFor(healthy);
    await headline(page, "Healthy").waitFor(healthy);
  }, 240_000);

  test("throttled, a cluster without its endpoint is not called Healthy, shows what its plan would change, and recovers", async () => {
    const { page } = await green();
    await headline(page, "Healthy").waitFor(healthy);
    await inject(page, "Throttle Azure");
    await page.locator(".headline:not(.Healthy)").waitFor();
    // Nothing can be written for a while: what the plan would write can be read.
    const change = page.locator(".plans li", { hasText: "private-router-pe does not exist" });
    await change.locator("summary").click(healthy);
    await change.locator("ins", { hasText: "+ properties.subnet.id: /subscriptions/" }).waitFor();
    expect(await change.locator("del").count()).toBe(0);
    await page.setViewportSize({ width: 1240, height: 740 });
    expect(await brokenWords(page)).toEqual([]);
    if (keepsPictures) {
      await page.getByRole("button", { name: "Close faults" }).click();
      await change.locator("summary").click();
      await page.evaluate("scrollTo(0, 0)");
      await keepPicture(page, "cluster-light");
    }
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
    console.log(`the storm plays POSTERN_SEED=${seed}`);
    let next = seed;
    const random = <T>(all: readonly T[]) => {
      next = (next * 1_103_515_245 + 12_345) % 2_147_483_648;
      // The low bits of such a sequence repeat soon.
      return all[Math.floor((next / 2_147_483_648) * all.length)] as T;
    };
    // The role is lost once in each storm, at any place of it.
    const storm = Array.from({ length: 5 }, () => random(faults));
    storm.splice(random([0, 1, 2, 3, 4, 5]), 0, "Remove the operator's role");
    const refused: string[] = [];
    const isInjected = (fault: string, target: string) =>
      inject(overview, fault, target).then(
        () => true,
        (error: Error) => {
          refused.push(`${fault}, ${target}: ${error.message}`);
          return false;
        },
      );
    const happened: string[] = [];
    for (const fault of storm) {
      const target = random(clusters);
      // While Azure is throttled the person is too; and what is being deleted cannot be rejected.
      const trying = expect.poll(() => isInjected(fault, target), patience).toBe(true);
      await trying.then(
        () => happened.push(fault),
        () => undefined,
      );
    }
    const told = `POSTERN_SEED=${seed}\n${refused.join("\n")}`;
    expect(happened.length, told).toBeGreaterThanOrEqual(leastFaults);
    expect(happened, told).toContain("Remove the operator's role");
    // What was rejected stays so until it is deleted.
    for (const target of clusters)
      await expect
        .poll(() => isInjected("Delete the private endpoint", target), patience)
        .toBe(true);
    await untilAllHealthy(overview, 4);
    await headline(cluster, "Healthy").waitFor(healthy);
    for (const disagreements of agreements)
      expect(await disagreements(), `POSTERN_SEED=${seed}`).toEqual([]);
  }, 480_000);
});
