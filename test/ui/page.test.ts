import { get } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startLocalUntil, untilAvailable } from "../local/running.ts";
import { describeInBrowser } from "./browser.ts";

/** How many bytes a file is on its way, as a browser asks for it. */
function sizeOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip" } }, (response) => {
      expect(response.headers["content-encoding"]).toBe("gzip");
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
      });
      response.on("end", () => resolve(size));
    }).on("error", reject);
  });
}

/** Listen as a page does, until nothing but pulses has come from one to the next. */
async function untilQuiet(url: string): Promise<void> {
  const hearing = new AbortController();
  const { body } = await fetch(`${url}/api/stream`, { signal: hearing.signal });
  let heard: string[] = [];
  for await (const chunk of body ?? []) {
    heard.push(
      ...Array.from(
        Buffer.from(chunk)
          .toString()
          .matchAll(/^event: (\w+)/gm),
        ([line]) => line,
      ),
    );
    const last = heard.slice(-2);
    if (last.length === 2 && last.every((each) => each === "event: pulse")) break;
    heard = last;
  }
  hearing.abort();
}

describeInBrowser("the page", (open) => {
  const undo: (() => void)[] = [];
  let local: Running;
  beforeAll(async () => {
    local = await startLocalUntil((each) => undo.push(each), "--speed", "100");
    await untilAvailable(local);
  }, 180_000);
  afterAll(() => {
    for (const each of undo) each();
  });

  test("asks nobody but its own server, and lets nothing else in", async () => {
    const { url } = local.ready.dashboard;
    const { page, hosts } = await open(url);
    await page.locator("svg[data-drawn]").waitFor();
    await page.locator(".tile").first().click();
    await page.getByRole("heading", { name: "Events" }).waitFor();
    expect([...hosts]).toEqual([new URL(url).host]);
    const policy = (await fetch(url)).headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  test("is no wider than a narrow window", async () => {
    const viewport = { width: 400, height: 900 };
    for (const place of ["", "/#/clusters/org/amber"]) {
      const { page } = await open(`${local.ready.dashboard.url}${place}`, { viewport });
      await page.locator("svg[data-drawn]").waitFor();
      const width = () => page.evaluate<number>("document.documentElement.scrollWidth");
      expect(await width(), place).toBe(viewport.width);
    }
  });

  test("has at most 300 kilobytes of script", async () => {
    const { url } = local.ready.dashboard;
    const sizes = await Promise.all(
      ["app.js", "layout-worker.js"].map((file) => sizeOf(`${url}/${file}`)),
    );
    const whole = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`the scripts of the dashboard are ${whole} bytes on their way`);
    expect(whole).toBeLessThanOrEqual(300 * 1024);
  });

  test("shows what changes in Azure alone, which no event tells of", async () => {
    const { page } = await open(local.ready.dashboard.url);
    await page.locator(".node.appliance").first().waitFor();
    const { resourceManagerHttp = "", identities = [] } = local.ready.azure ?? {};
    const you = identities.find(({ name }) => name === "you");
    const network =
      "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups/appliances/providers/Microsoft.Network";
    const place = `${resourceManagerHttp}${network}/loadBalancers`;
    const headers = {
      authorization: `Bearer ${you?.token}`,
      "content-type": "application/json",
    };
    const ask = async (name: string, init: RequestInit = {}) => {
      const answer = await fetch(`${place}/${name}?api-version=2025-05-01`, { headers, ...init });
      expect(answer.status, name).toBeLessThan(300);
      return (await answer.json()) as {
        name: string;
        location: string;
        sku: object;
        value: { name: string }[];
        properties: { frontendIPConfigurations: { properties: { subnet: object } }[] };
      };
    };
    const [first] = (await ask("")).value;
    const { location, sku, properties } = await ask(first?.name ?? "");
    await untilQuiet(local.ready.dashboard.url);
    const subnet = properties.frontendIPConfigurations[0]?.properties.subnet;
    const front = { name: "front", properties: { subnet } };
    await ask("another", {
      method: "PUT",
      body: JSON.stringify({ location, sku, properties: { frontendIPConfigurations: [front] } }),
    });
    await page.locator(".node.load-balancer", { hasText: "another" }).waitFor({ timeout: 60_000 });
  }, 180_000);
});
