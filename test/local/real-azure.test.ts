import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../package/run-bin.ts";
import { folder, startLocal, startLocalIn } from "./running.ts";

/** As `postern local` finds a real one: by the environment alone. */
test("an Azure of its own is used as the environment names it, whatever the scenario says", async () => {
  const azure = await startLocal("--scenario", "empty");
  const { environment } = azure.ready;
  const elsewhere = "dddddddd-0000-4000-8000-000000000000";
  const empty = readFileSync(join(root, "examples/local/empty.yaml"), "utf8");
  const file = join(folder(), "my.yaml");
  writeFileSync(file, empty.replaceAll("aaaaaaaa-0000-4000-8000-000000000000", elsewhere));

  const local = await startLocalIn(environment, "--azure", "real", "--scenario", file);
  expect(local.ready.azure).toBeUndefined();
  const page = async (url: string) => (await fetch(url)).text();
  const ready = () => page(`${local.ready.operator.url}/readyz?verbose`);
  await expect.poll(ready).toContain("readyz check passed");
  const { host } = new URL(azure.ready.azure?.resourceManagerHttp ?? "");
  expect(await ready()).toContain(`azure-resource-manager ok: ${host}`);
  const overview = JSON.parse(await page(`${local.ready.dashboard.url}/api/overview`)) as object;
  expect(overview).toMatchObject({ picture: { unread: [] } });
  expect(await local.end()).toEqual({ exitCode: 0, signal: null });
}, 120_000);
