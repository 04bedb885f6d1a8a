import { get } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startLocalUntil, untilAvailable } from "../local/running.ts";
import {
  brokenWords,
  describeInBrowser,
  keepPicture,
  seriousBarriers,
  untilAllHealthy,
} from "./browser.ts";

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

/** Nothing here breaks anything, so one local mode is enough for all. */
describeInBrowser("the page", (open) => {
  const undo: (() => void)[] = [];
  let local: Running;
  let url: string;
  beforeAll(async () => {
    local = await startLocalUntil((each) => undo.push(each), "--speed", "100");
    ({ url } = local.ready.dashboard);
    await untilAvailable(local);
  }, 180_000);
  afterAll(() => {
    for (const each of undo) each();
  });

  test("the overview shows every cluster's health, in both themes, with no barrier", async () => {
    const { page, problems, hosts } = await open(url);
    await untilAllHealthy(page, 4);
    expect(await page.title()).toBe("✓ 4 Healthy · Postern");
    expect(await page.locator("[data-gateway] .member").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/inspector-\d+ 10\.9\.0\.\d+/)]),
    );
    expect(await seriousBarriers(page)).toEqual([]);
    await page.getByLabel("Theme").selectOption("dark");
    expect(await seriousBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 1240, height: 600 });
    await keepPicture(page, "dashboard-dark");
    // The budget of each identity has a name that tells it from the others.
    await page.locator(".budget summary").click();
    const names = await page.locator(".budget tbody td:first-child").allTextContents();
    const titles = await page
      .locator(".budget tbody td:first-child")
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("title")));
    expect(new Set(names).size).toBe(new Set(titles).size);
    // By the names of the scenario: the operator, clusters, and the AzureClusterIdentities.
    for (const name of names)
      expect(name).toMatch(
        /^(operator( \(by client id\))?|clusters\/(blue|green) \w+|(org|org-mc)\/azure)$/,
      );
    expect([...hosts]).toEqual([new URL(url).host]);
    expect(problems).toEqual([]);
  });

  test("a cluster shows the path of its traffic, and a resource what is known of it", async () => {
    const { page, problems } = await open(`${url}/#/clusters/clusters/blue`);
    await page.getByRole("heading", { name: "clusters/blue", level: 1 }).waitFor();
    const hops = () =>
      page
        .locator(".path .hop")
        .evaluateAll((all) => all.map((each) => `${each.dataset.hop}: ${each.dataset.state}`));
    const path = ["clients in", "DNS names", "private endpoint", "link service", "load balancer"];
    await expect.poll(hops).toEqual([...path, "backends"].map((hop) => `${hop}: ok`));
    expect(await page.getByText("No changes.").count()).toBe(1);
    expect(await seriousBarriers(page)).toEqual([]);

    // By the keyboard: open, read, close, and be where one was.
    const endpoint = page.locator('[data-hop="private endpoint"] button');
    await endpoint.focus();
    await page.keyboard.press("Enter");
    await page.locator(".panel h3:focus").waitFor();
    const panel = await page.locator(".panel").textContent();
    expect(panel).toMatch(/az network private-endpoint show --ids \/subscriptions/);
    expect(panel).toMatch(
      /kubectl describe azureprivatelinkservice private-router -n clusters-blue/,
    );
    expect(panel).toMatch(/ownerclusters\/blue/);
    expect(panel).toMatch(/PUT → 20[01].*request [0-9a-f-]+/);
    // No portal shows what the simulator has.
    expect(await page.getByRole("link", { name: "Open in the Azure portal" }).count()).toBe(0);
    expect(await seriousBarriers(page)).toEqual([]);
    // The address names the panel: whoever opens it sees the same.
    const shared = await open(page.url());
    await shared.page.locator(".panel h3", { hasText: "private-router-pe" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator('[data-hop="private endpoint"] button:focus').waitFor();
    expect(await page.locator(".panel").count()).toBe(0);

    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator(".yaml", { hasText: "HostedCluster clusters/blue" }).click();
    await page.locator(".yaml pre", { hasText: "kind: HostedCluster" }).waitFor();
    await page.getByLabel("Theme").selectOption("dark");
    expect(await seriousBarriers(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("a search over names, hosts, addresses and ids is in the address of the page", async () => {
    const { page } = await open(url);
    await untilAllHealthy(page, 4);
    const search = page.getByRole("searchbox", { name: "Search clusters" });
    const found = () => page.locator(".tile strong").allTextContents();
    for (const [text, cluster] of [
      ["AMBER", "org/amber"],
      ["api-green.example.com", "clusters/green"],
      ["resourcegroups/blue", "clusters/blue"],
      ["mc-gateway-privatelink", "org-mc/mc"],
    ] as const) {
      await search.fill(text);
      await expect.poll(found, { timeout: 10_000 }).toContain(cluster);
    }
    await search.fill("no such thing");
    await page.getByText("No cluster matches.").waitFor();
    await search.fill("blue");
    await expect.poll(() => page.url()).toContain("q=blue");
    const shared = await open(page.url());
    await expect
      .poll(() => shared.page.locator(".tile strong").count(), { timeout: 10_000 })
      .toBe(1);
    expect(await shared.page.getByRole("searchbox").inputValue()).toBe("blue");
  });

  test("whoever skips, leaves or loses the way knows where they are", async () => {
    const { page, problems } = await open(`${url}/#/clusters/clusters/blue`);
    await expect.poll(() => page.title()).toBe("✓ clusters/blue Healthy · Postern");
    await page.getByRole("button", { name: "Skip to the content" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("main:focus").waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.locator(".tile").first().waitFor();
    expect(problems).toEqual([]);
    for (const place of ["clusters/none", "%"]) {
      await page.goto(`${url}/#/clusters/${place}`);
      await page.getByRole("alert").waitFor();
    }
  });

  test("a page that reads nothing twice in a row is grey and knows no health, until it can read again", async () => {
    const { page } = await open(url);
    await untilAllHealthy(page, 4);
    const error = "Azure did not respond in time · the dashboard retries";
    await page.route("**/api/overview", (route) => route.fulfill({ status: 504, json: { error } }));
    await page.locator("html.stale").waitFor();
    await page.getByRole("alert").filter({ hasText: "Azure did not respond in time" }).waitFor();
    expect(await page.locator(".tile.Unknown").count()).toBe(4);
    expect(await page.locator(".filters [data-count]").allTextContents()).toEqual(["– 4 Unknown"]);
    expect(await page.title()).toBe("– 4 Unknown · Postern");
    await page.unroute("**/api/overview");
    await untilAllHealthy(page, 4);
    expect(await page.locator("html.stale").count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("asks nobody but its own server, and lets nothing else in", async () => {
    const policy = (await fetch(url)).headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  test("is no wider than a telephone, light and dark, and its faults cover nothing", async () => {
    const viewport = { width: 390, height: 844 };
    for (const colorScheme of ["light", "dark"] as const)
      for (const place of ["", "/#/clusters/org/amber"]) {
        const { page } = await open(`${url}${place}`, { viewport, colorScheme });
        await page.locator("[data-health]").first().waitFor();
        await page.getByRole("button", { name: "Inject a fault" }).click();
        const width = () => page.evaluate<number>("document.documentElement.scrollWidth");
        expect(await width(), place).toBe(viewport.width);
        expect(await seriousBarriers(page)).toEqual([]);
        // Whatever is last on the page can be scrolled to a place above the drawer.
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        const bottom = await page.locator("main > :last-child").last().boundingBox();
        const drawer = await page.locator(".faults").boundingBox();
        expect((bottom?.y ?? 0) + (bottom?.height ?? 0)).toBeLessThanOrEqual(drawer?.y ?? 0);
      }
  });

  test("no word is broken, and no name is cut off without its whole", async () => {
    for (const width of [1400, 1000, 390])
      for (const place of ["", "/#/clusters/clusters/blue", "/#/clusters/org/amber"]) {
        const { page } = await open(`${url}${place}`, { viewport: { width, height: 900 } });
        await page.locator("[data-health]").first().waitFor();
        const endpoint = page.locator('[data-hop="link service"] button').first();
        if (place !== "") await endpoint.click();
        expect(await brokenWords(page), `${width} ${place}`).toEqual([]);
      }
  }, 120_000);

  test("a panel and the drawer leave what they are about in sight", async () => {
    for (const width of [1400, 1000, 390]) {
      const viewport = { width, height: 844 };
      const { page } = await open(`${url}/#/clusters/clusters/blue`, { viewport });
      const box = page.locator('[data-hop="link service"] button');
      await box.click();
      await page.locator(".panel h3:focus").waitFor();
      await page.getByRole("button", { name: "Inject a fault" }).click();
      for (const subject of [box, page.locator(".headline h1")]) {
        await subject.scrollIntoViewIfNeeded();
        const at = await subject.boundingBox();
        const point = `${(at?.x ?? 0) + 8}, ${(at?.y ?? 0) + (at?.height ?? 0) / 2}`;
        const seen = `document.elementFromPoint(${point})?.closest(".box, h1")?.textContent`;
        expect(await page.evaluate(seen), String(width)).toBe(await subject.textContent());
      }
    }
  });

  test("a resource is shown in the portal of its cloud", async () => {
    const { page } = await open("about:blank");
    const about = (await (await fetch(`${url}/api/about`)).json()) as object;
    const portal = "https://portal.azure.us";
    await page.route("**/api/about", (route) => route.fulfill({ json: { ...about, portal } }));
    await page.goto(`${url}/#/clusters/clusters/blue`);
    await page.locator('[data-hop="private endpoint"] button').click();
    const link = page.getByRole("link", { name: "Open in the Azure portal" });
    expect(await link.getAttribute("href")).toMatch(
      /^https:\/\/portal\.azure\.us\/#resource\/subscriptions\/.*private-router-pe$/,
    );
    // The type of a record is part of the command.
    await page.locator('[data-hop="DNS names"] button').click();
    await page.locator(".siblings button", { hasText: "api.blue.hypershift.local" }).click();
    const commands = () => page.locator(".copyable").allTextContents();
    await expect
      .poll(commands)
      .toContainEqual(expect.stringContaining("az network private-dns record-set a show"));
  });

  test("a thousand clusters are rows that can be searched", async () => {
    const { page } = await open("about:blank");
    const data = (await (await fetch(`${url}/api/overview`)).json()) as {
      picture: { clusters: { key: string }[] };
    };
    const { clusters } = data.picture;
    const many = Array.from({ length: 1_000 }, (_, at) => ({
      ...clusters[at % clusters.length],
      key: `clusters/number-${at}`,
    }));
    const json = { ...data, picture: { ...data.picture, clusters: many } };
    await page.route("**/api/overview", (route) => route.fulfill({ json }));
    await page.goto(url);
    await page.locator('html[data-drawn-clusters="1000"]').waitFor();
    const rows = page.locator(".clusters tbody tr");
    await expect.poll(() => rows.count()).toBe(200);
    await page.getByRole("button", { name: "Show 800 more" }).click();
    await expect.poll(() => rows.count()).toBe(1_000);
    await page.getByRole("searchbox", { name: "Search clusters" }).fill("number-777");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await brokenWords(page)).toEqual([]);
  });

  test("has at most 40 kilobytes of script", async () => {
    const size = await sizeOf(`${url}/app.js`);
    console.log(`the script of the dashboard is ${size} bytes on its way`);
    expect(size).toBeLessThanOrEqual(40 * 1024);
  });

  test("shows what changes in Azure alone, which no event tells of", async () => {
    const { page } = await open(url);
    await page.locator("[data-gateway]").first().waitFor();
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
    const subnet = properties.frontendIPConfigurations[0]?.properties.subnet;
    const front = { name: "front", properties: { subnet } };
    await ask("another", {
      method: "PUT",
      body: JSON.stringify({ location, sku, properties: { frontendIPConfigurations: [front] } }),
    });
    await page.locator('[data-gateway="another"]').waitFor({ timeout: 60_000 });
  }, 120_000);
});
