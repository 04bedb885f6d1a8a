import { expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { KubeClient } from "../kube/client.ts";
import { silentLog } from "../kube/log.ts";
import { Runtime } from "../kube/runtime.ts";
import { watchPresence } from "./presence.ts";

/** A process without features. */
async function process(lease?: { namespace: string; name: string; identity: string }) {
  let stored: { metadata: object; spec: { renewTime: string } } | undefined;
  let isReachable = true;
  const { url } = await serve(({ method, body }, response) => {
    if (!isReachable) return json(response, 503, { kind: "Status", message: "no" });
    if (method === "GET" && stored === undefined)
      return json(response, 404, { kind: "Status", message: "none" });
    if (method !== "GET") stored = JSON.parse(body);
    json(response, 200, { ...stored, metadata: { ...stored?.metadata, resourceVersion: "1" } });
  });
  const proof = async () => ({});
  const client = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const clock = new ManualClock(Date.parse("2026-03-01T12:00:00Z"));
  const runtime = new Runtime({ client, clock, log: silentLog, features: [], lease });
  const stop = new AbortController();
  const ran = runtime.run(stop.signal);
  const presence = watchPresence(() => runtime);
  return {
    clock,
    presence,
    end: async () => {
      stop.abort();
      await ran;
    },
    unreachable: () => {
      isReachable = false;
    },
  };
}

test("an operator without a Lease is lost since it ended, whoever looked when", async () => {
  const { clock, presence, end } = await process();
  await expect.poll(presence).toEqual({ state: "leads", holder: "this process" });
  await clock.move(60_000);
  await end();
  await clock.move(60_000);
  expect(presence()).toEqual({ state: "lost", since: "2026-03-01T12:01:00.000Z" });
});

test("an operator whose Lease nobody renews is lost since the last renewal", async () => {
  const lease = { namespace: "postern", name: "postern-operator", identity: "pod-1" };
  const { clock, presence, end, unreachable } = await process(lease);
  await expect.poll(presence).toEqual({ state: "leads", holder: "pod-1" });
  await expect
    .poll(async () => {
      await clock.move(1_000);
      return clock.now() >= Date.parse("2026-03-01T12:00:20Z");
    })
    .toBe(true);
  const { state } = presence();
  expect(state).toBe("leads");
  unreachable();
  await expect
    .poll(async () => {
      await clock.move(1_000);
      return presence();
    })
    .toMatchObject({ state: "lost", holder: "pod-1" });
  const since = Date.parse(presence().since ?? "");
  expect(since).toBeGreaterThan(Date.parse("2026-03-01T12:00:10Z"));
  const before = presence();
  await clock.move(30_000);
  expect(presence()).toEqual(before);
  await end();
});
