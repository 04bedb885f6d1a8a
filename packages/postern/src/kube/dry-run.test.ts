import type { Kind } from "@postern/core/kind.ts";
import { expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { KubeClient } from "./client.ts";
import { dryRun } from "./dry-run.ts";
import { KubeError } from "./errors.ts";
import type { Feature } from "./feature.ts";
import { silentLog } from "./log.ts";
import { type MakeFeature, whereServed } from "./runtime.ts";

const kind = (plural: string): Kind => ({
  group: "example.com",
  version: "v1",
  kind: plural,
  plural,
  namespaced: true,
});

/** An API server with one thing; `missing` is not served, and `hidden` is shown to nobody. */
async function server(): Promise<{ client: KubeClient; writes: string[] }> {
  const writes: string[] = [];
  const { url } = await serve(({ method, url: path }, response) => {
    if (method !== "GET") {
      writes.push(`${method} ${path}`);
      return json(response, 201, { metadata: { name: "made" } });
    }
    const refused = path.includes("/missing") ? 404 : path.includes("/hidden") ? 403 : undefined;
    if (refused) return json(response, refused, { kind: "Status", message: "no" });
    if (path.includes("sendInitialEvents")) return json(response, 400, { kind: "Status" });
    // A watch on which nothing happens.
    if (path.includes("watch=")) return void response.writeHead(200).flushHeaders();
    const items = [{ metadata: { namespace: "ns", name: "a", resourceVersion: "1" } }];
    json(response, 200, { metadata: { resourceVersion: "1" }, items });
  });
  const proof = async () => ({});
  const at = { server: new URL(url), namespace: "default", source: "the test", proof };
  return { client: new KubeClient(at), writes };
}

/** Would make something for each object of a kind; what it sees by is up to the test. */
function feature(
  plural: string,
  observe: Feature["observe"] = async () => ({ observed: undefined, context: undefined }),
): MakeFeature {
  const plan: Feature["plan"] = () => ({
    steps: [{ do: "create record", name: "a", why: "it is missing" }],
    conditions: [],
    requeue: "drift",
  });
  const apply = () => Promise.reject(new Error("nothing is applied in a dry run"));
  return () => ({
    feature: { name: plural, kind: kind(plural), conditions: [], observe, plan, apply },
  });
}

const run = (client: KubeClient, ...features: MakeFeature[]) =>
  dryRun({ client, features, log: silentLog, signal: AbortSignal.timeout(20_000) });

test("what would be done is reported for every object, and which feature has no plan for want of a kind", async () => {
  const { client, writes } = await server();
  const { plans, unplanned } = await run(
    client,
    feature("missing"),
    whereServed(feature("missing")),
    whereServed(feature("missing"), "expected"),
    feature("things"),
  );
  expect(unplanned).toMatchObject([
    { feature: "missing", kind: { kind: "missing" } },
    { feature: "missing", kind: { kind: "missing" } },
  ]);
  expect(plans).toMatchObject([{ key: "ns/a", plan: { steps: [{ do: "create record" }] } }]);
  expect(writes).toEqual([]);
});

test("a kind that may not be listed is an error, and no wait without end", async () => {
  const { client } = await server();
  await expect(run(client, feature("hidden"))).rejects.toMatchObject({ status: 403 });
});

test("a write while it looks is refused, and afterwards the client may write as before", async () => {
  const { client, writes } = await server();
  const writing: MakeFeature = ({ kube, caches }) =>
    feature("things", async () => {
      await kube.create(kind("things"), { metadata: { namespace: "ns", name: "b" } });
      return { observed: undefined, context: undefined };
    })({ kube, caches });
  expect((await run(client, writing)).plans).toMatchObject([{ failure: { reason: "NotLeader" } }]);
  expect(writes).toEqual([]);
  await client.create(kind("things"), { metadata: { namespace: "ns", name: "b" } });
  expect(writes).toHaveLength(1);
});

test("what a failure says is reported without secrets", async () => {
  const { client } = await server();
  const refused = feature("things", async () => {
    throw new KubeError("Unauthorized", "asked with Bearer abcdefghijklmnop");
  });
  const [planned] = (await run(client, refused)).plans;
  expect(JSON.stringify(planned)).not.toContain("abcdefghijklmnop");
});
