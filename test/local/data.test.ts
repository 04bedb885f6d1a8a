import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  conditionOf,
  folder,
  hostedClusters,
  type Running,
  spawnLocal,
  startLocal,
  untilAvailable,
} from "./running.ts";

test("what is kept goes on after a kill, with what a person changed", async () => {
  const data = join(folder(), "data");
  const first = await startLocal("--speed", "100", "--data", data);
  await untilAvailable(first);
  const label = { metadata: { annotations: { note: "by hand" } } };
  await first.kube("PATCH", `${hostedClusters}/blue`, label);
  await first.kube("DELETE", `${hostedClusters}/green`);
  const green = async () => (await first.kube("GET", `${hostedClusters}/green`)).status;
  await expect.poll(green, { timeout: 90_000 }).toBe(404);
  const before = readFileSync(first.ready.kubeconfig, "utf8");
  expect(await first.end("SIGKILL")).toEqual({ exitCode: null, signal: "SIGKILL" });

  const second = await startLocal("--speed", "100", "--data", data);
  expect(existsSync(first.ready.operator.log)).toBe(true);
  const { body: blue } = await second.kube("GET", `${hostedClusters}/blue`);
  expect(blue.metadata.annotations?.note).toBe("by hand");
  expect(conditionOf(blue, "AzurePrivateLinkServiceAvailable")).toBe("True");
  expect((await second.kube("GET", `${hostedClusters}/green`)).status).toBe(404);
  await untilAvailable(second);
  // The same token is good: whoever has the kubeconfig open goes on with a new address only.
  const tokenIn = (text: string) => /"token": "([^"]+)"/.exec(text)?.[1];
  expect(tokenIn(readFileSync(second.ready.kubeconfig, "utf8"))).toBe(tokenIn(before));
}, 300_000);

test("a demo that is killed half-way is finished by the next start", async () => {
  const data = join(folder(), "data");
  const first = await startLocal("--speed", "20", "--data", data);
  await expect.poll(first.output, { timeout: 60_000 }).toContain("create link service");
  await first.end("SIGKILL");
  const second = await startLocal("--speed", "100", "--data", data);
  await untilAvailable(second);
}, 240_000);

test("a folder with a space in its name can be pasted from what is printed", async () => {
  const data = join(folder(), "it's mine");
  const local = await startLocal("--scenario", "empty", "--data", data);
  await expect.poll(local.output).toContain("npx postern tree");
  const [line = ""] = /export KUBECONFIG=.*/.exec(local.output()) ?? [];
  const said = execFileSync("sh", ["-c", `${line}; printf %s "$KUBECONFIG"`], { encoding: "utf8" });
  expect(said).toBe(local.ready.kubeconfig);
}, 120_000);

test("another scenario is not applied over one that was begun, and it is said", async () => {
  const data = join(folder(), "data");
  const first = await startLocal("--scenario", "empty", "--data", data);
  await first.end();
  const second = await startLocal("--data", data);
  expect(second.output()).toContain("was not applied");
  expect(second.output()).toContain("--reset");
  expect((await second.kube("GET", `${hostedClusters}/blue`)).status).toBe(404);
  await second.end();
  const third = await startLocal("--data", data, "--reset");
  expect((await third.kube("GET", `${hostedClusters}/blue`)).status).toBe(200);
}, 240_000);

test("a role that a button took away is given back by the next start", async () => {
  const data = join(folder(), "data");
  const group = "/subscriptions/aaaaaaaa-0000-4000-8000-000000000000/resourceGroups/management";
  const roles = async (local: Running) => {
    const assignments = `${group}/providers/Microsoft.Authorization/roleAssignments`;
    const { body } = await local.azure(assignments, "2022-04-01");
    const all = (body as unknown as { value: { properties: { principalId: string } }[] }).value;
    const { objectId } =
      local.ready.azure?.identities.find((each) => each.name === "operator") ?? {};
    return all.filter(({ properties }) => properties.principalId === objectId).length;
  };
  const first = await startLocal("--scenario", "empty", "--data", data);
  expect(await roles(first)).toBe(1);
  const url = `${first.ready.dashboard.url}/api/actions/revoke-role`;
  await fetch(url, { method: "POST", headers: { "x-postern": "1" } });
  expect(await roles(first)).toBe(0);
  await first.end();
  const second = await startLocal("--scenario", "empty", "--data", data);
  expect(await roles(second)).toBe(1);
}, 120_000);

test("what an earlier version left of our kinds is replaced", async () => {
  const data = join(folder(), "data");
  const path =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostedclusters.hypershift.openshift.io";
  interface Definition {
    spec: { versions: { additionalPrinterColumns?: object[] }[] };
  }
  const first = await startLocal("--scenario", "empty", "--data", data);
  const { body: now } = await first.kube<Definition>("GET", path);
  const versions = now.spec.versions.map(({ additionalPrinterColumns: _, ...rest }) => rest);
  const earlier = { ...now, spec: { ...now.spec, versions } };
  expect((await first.kube("PUT", path, earlier)).status).toBe(200);
  await first.end();
  const second = await startLocal("--scenario", "empty", "--data", data);
  const { body: then } = await second.kube<Definition>("GET", path);
  expect(then.spec).toEqual(now.spec);
}, 120_000);

test.each(["azure.db", "kubernetes.db", "begun.json"])(
  "a damaged %s is refused and left as it is; --reset keeps all aside, and says where",
  async (name) => {
    const data = join(folder(), "data");
    const first = await startLocal("--scenario", "empty", "--data", data);
    await first.end();
    const damage = "this is no database at all".repeat(100);
    writeFileSync(join(data, name), damage);

    const { child, output } = spawnLocal(["--port-base", "0", "--data", data]);
    await once(child, "exit");
    expect(child.exitCode).toBe(1);
    expect(output()).toMatch(/^postern: .* cannot be read\. .*--reset/);
    expect(readFileSync(join(data, name), "utf8")).toBe(damage);

    const third = await startLocal("--scenario", "empty", "--data", data, "--reset");
    for (const each of ["azure.db", "kubernetes.db", "begun.json"])
      await expect.poll(third.output).toContain(join(data, `${each}.aside\n`));
    expect(readFileSync(join(data, `${name}.aside`), "utf8")).toBe(damage);
  },
  180_000,
);
