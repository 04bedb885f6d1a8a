import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { root } from "../package/run-bin.ts";
import { describeWhere } from "../setup/needs.ts";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executable = process.env.POSTERN_BROWSER ?? places.find((path) => existsSync(path));

/** A suite in a real browser. Without one it is skipped, never in CI. */
export function describeInBrowser(name: string, suite: (open: Open) => void): void {
  const missing = executable
    ? undefined
    : "there is no Chromium on this machine; install it, or name one with POSTERN_BROWSER";
  describeWhere(missing, name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: executable ?? "",
        // Root in a container has no sandbox.
        args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
      });
    }, 60_000);
    afterAll(() => browser?.close());
    suite(async (url, options = {}) => {
      if (browser === undefined) throw new Error("the browser did not start");
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
      // One that stays open reads everything again and again while the next tests run.
      onTestFinished(() => page.close());
      page.setDefaultTimeout(30_000);
      const problems: string[] = [];
      const hosts = new Set<string>();
      page.on("request", (request) => void hosts.add(new URL(request.url()).host));
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("console", (message) => {
        // That the server is away is told by the browser too.
        const text = message.text();
        if (message.type() === "error" && !/ERR_|Failed to load/.test(text)) problems.push(text);
      });
      await page.goto(url);
      return { page, problems, hosts };
    });
  });
}

export type Open = (
  url: string,
  options?: { colorScheme?: "light" | "dark"; viewport?: { width: number; height: number } },
) => Promise<{
  page: Page;
  problems: string[];
  /** Whom the browser has asked for anything. */
  hosts: Set<string>;
}>;

const delay = readFileSync(new URL("delay.js", import.meta.url), "utf8");
const words = readFileSync(new URL("words.js", import.meta.url), "utf8");
const agreement = readFileSync(new URL("agreement.js", import.meta.url), "utf8");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What an axe check finds that is serious. */
export async function seriousBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: {
        run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await checker.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  });
}

/** Whether somebody asks for the pictures of the documentation. */
export const keepsPictures = process.env.POSTERN_PICTURES === "1";

/** Keep a picture for the documentation, where somebody asks for it. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!keepsPictures) return;
  await page.screenshot({ path: join(root, "docs/images", `${name}.png`) });
}

/** Wait until every cluster of the overview is healthy. */
export async function untilAllHealthy(page: Page, count: number): Promise<void> {
  const filter = page.locator(`.filters .health.Healthy[data-count="${count}"]`);
  await filter.waitFor({ timeout: 120_000 });
}

/** Inject a fault at a cluster's private endpoint. */
export async function inject(page: Page, fault: string, cluster?: string): Promise<void> {
  const drawer = page.getByRole("button", { name: "Inject a fault" });
  if ((await drawer.count()) > 0) await drawer.click();
  if (cluster !== undefined) {
    const option = page.locator(".faults option", { hasText: cluster }).first();
    await option.waitFor({ state: "attached", timeout: 5_000 });
    await page.locator(".faults select").selectOption((await option.getAttribute("value")) ?? "");
  }
  const answer = page.waitForResponse(/\/api\/actions\//, { timeout: 60_000 });
  await page.locator(".faults li button", { hasText: fault }).click();
  const { status, text } = await answer.then(async (each) => ({
    status: each.status(),
    text: await each.text(),
  }));
  expect([status, text], fault).toEqual([200, expect.anything()]);
}

/**
 * From now on look at the page many times a second, and remember where two places disagree about a cluster's health: headline,
 * tile, row, filter, title and path.
 */
export async function watchAgreement(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(agreement);
  return () => page.evaluate<string[]>("disagreements()");
}

/**
 * From now on remember when an answer of the server first carries a health of the cluster, and when the headline first shows it;
 * the answer is the milliseconds between the two, by the clock of the page.
 */
export async function watchDelay(page: Page): Promise<(health: string) => Promise<number>> {
  await page.evaluate(delay);
  return (health) => page.evaluate<number>(`delayOf(${JSON.stringify(health)})`);
}

/** The words that are broken over two lines, and the names that are cut off and have no title. */
export async function brokenWords(page: Page): Promise<string[]> {
  await page.evaluate(words);
  return page.evaluate<string[]>("brokenWords()");
}
