import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startLocal, untilAvailable } from "../local/running.ts";
import { describeInBrowser, untilAllWork } from "./browser.ts";

/** Press a button, and wait until the page says what was done. */
async function press(page: Page, name: string, said: RegExp): Promise<void> {
  await page.getByRole("button", { name }).click();
  await expect.poll(() => page.locator(".said").textContent(), { timeout: 30_000 }).toMatch(said);
}

describeInBrowser("the buttons of the dashboard", (open) => {
  test("break the operator, and it comes back", async () => {
    const local = await startLocal("--speed", "100");
    await untilAvailable(local);
    const { page } = await open(local.ready.dashboard.url);
    await untilAllWork(page, 4);

    await press(page, "Kill the operator", /another one has begun/);
    // The stream ends with it, and the page listens anew.
    await page.getByRole("alert").waitFor({ state: "detached" });
    await untilAllWork(page, 4);

    await press(page, "Take the operator's role away", /is taken away/);
    await page.locator(".tile:not(.ok)").first().waitFor();
    await untilAllWork(page, 4);
  }, 240_000);

  test("break a connection, and it comes back", async () => {
    const local = await startLocal("--speed", "100");
    await untilAvailable(local);
    const { page } = await open(`${local.ready.dashboard.url}/#/clusters/clusters/blue`);
    const endpoint = page.locator(".node.endpoint.ok");
    await endpoint.focus();
    await page.keyboard.press("Enter");
    await page.locator(".details h3:focus").waitFor();
    await press(page, "Reject its connection", /until the endpoint is deleted/);
    await page.locator(".node.endpoint.broken").waitFor();
    await press(page, "Delete it in Azure", /is being deleted/);
    await endpoint.waitFor({ timeout: 90_000 });

    // Whoever closes the details is where he was.
    await page.getByRole("button", { name: "Close" }).focus();
    await page.keyboard.press("Escape");
    await page.locator(".node.endpoint:focus").waitFor();

    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await press(page, "Throttle Azure", /refuses writes as too many/);
    await page.locator(".tile", { hasText: "clusters/blue" }).click();
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
    await endpoint.focus();
    await page.keyboard.press("Enter");
    // At once or after a while Azure takes it. One that waits for its answer is not pressed again: it would be deleted twice.
    const remove = async () => {
      const answer = page.waitForResponse(/delete-endpoint$/, { timeout: 60_000 });
      await page.getByRole("button", { name: "Delete it in Azure" }).click();
      return (await answer).status();
    };
    await expect.poll(remove, { timeout: 120_000, interval: 1_000 }).toBe(200);
    // At this speed it may be there again before the page has looked.
    await endpoint.waitFor({ timeout: 90_000 });
    await page.getByText("nothing: everything is as it should be").waitFor({ timeout: 90_000 });
  }, 240_000);
});
