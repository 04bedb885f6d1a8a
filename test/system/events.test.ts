import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { EventRecorder } from "postern/kube/events.ts";
import { makeLog, silentLog } from "postern/kube/log.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { describeOnCluster } from "../setup/cluster.ts";

interface EventItem {
  reason: string;
  note: string;
  series?: { count: number };
  regarding: { name: string };
}

const configMaps: Kind = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

describeOnCluster("events on a real API server", (cluster) => {
  async function recorder(namespace: string, log = silentLog) {
    const clock = new ManualClock(Date.now());
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig));
    const events = new EventRecorder({ client, log, instance: "me", clock });
    const object: KubeObject = {
      metadata: { name: "a", namespace, uid: "11111111-1111-1111-1111-111111111111" },
    };
    const record = async (note: string) => {
      events.record("link", configMaps, object, {
        type: "Normal",
        reason: "Made",
        action: "put",
        note,
      });
      await events.flush();
    };
    const list = async () =>
      (
        await cluster.request<{ items: EventItem[] }>(
          "GET",
          `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
        )
      ).body.items;
    return { clock, record, list, events, object };
  }

  test("the same event again raises its count, written only when it has doubled", async () => {
    const { record, list } = await recorder(await cluster.namespace());
    for (let i = 0; i < 20; i++) await record("one");
    await record("another");
    const told = (await list()).map(({ note, series }) => `${note} ${series?.count ?? 1}`).sort();
    expect(told).toEqual(["Another. 1", "One. 16"]);
  });

  test("after six quiet minutes it is a new event", async () => {
    const { record, list, clock } = await recorder(await cluster.namespace());
    await record("one");
    await clock.move(6 * 60_000 + 1);
    await record("one");
    expect((await list()).length).toBe(2);
  });

  test("a note that is too long is cut, and an event that is refused is logged and no error", async () => {
    const lines: string[] = [];
    const { record, list } = await recorder(
      await cluster.namespace(),
      makeLog({ write: (line) => lines.push(line) }),
    );
    // Two bytes each: the server counts bytes.
    await record("·".repeat(5000));
    expect((await list())[0]?.note).toBe("·".repeat(512));
    const nowhere = await recorder(
      "no-such-namespace",
      makeLog({ write: (line) => lines.push(line) }),
    );
    await nowhere.record("lost");
    expect(lines.join("")).toContain('"msg":"event not written"');
  });

  test("a flood of events is dropped beyond a thousand, and those before are written", async () => {
    const { events, object, list } = await recorder(await cluster.namespace());
    for (let i = 0; i < 1100; i++)
      events.record("link", configMaps, object, {
        type: "Normal",
        reason: "Made",
        action: "put",
        note: `${i}`,
      });
    await events.flush();
    expect((await list()).length + events.dropped).toBe(1100);
    expect(events.dropped).toBeGreaterThan(90);
  });
});
