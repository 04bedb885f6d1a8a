import { expect, test } from "vitest";
import { fakeArm } from "../../../../test/azure/fake-arm.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { KubeClient } from "../kube/client.ts";
import { gather } from "./gather.ts";

test("what was read before is as old as it is, also where it is used again", async () => {
  const clock = new ManualClock(Date.parse("2026-03-01T12:00:00Z"));
  const { arm, requests } = await fakeArm((_, response) => json(response, 200, { value: [] }), {
    clock,
  });
  const { url } = await serve((_, response) =>
    json(response, 200, { metadata: { resourceVersion: "1" }, items: [] }),
  );
  const proof = async () => ({});
  const kube = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const signal = AbortSignal.timeout(20_000);
  const observe = async () => {
    const { observedAt } = await gather({
      ...{ kube, arm, signal, clock },
      subscriptions: ["aaaaaaaa-0000-4000-8000-000000000000"],
      maxAgeMs: 30_000,
    });
    return { observedAt, requests: requests.length };
  };
  const first = await observe();
  expect(first.observedAt).toBe("2026-03-01T12:00:00.000Z");
  await clock.move(29_000);
  expect(await observe()).toEqual(first);
  await clock.move(2_000);
  expect((await observe()).observedAt).toBe("2026-03-01T12:00:31.000Z");
});
