import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { makeLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { surviveUnhandledRejections } from "postern/kube/unhandled-rejections.ts";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../manual-clock.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { installWidgets, type Widget, widgetFeature } from "./widget.ts";

describeOnCluster("a promise that is rejected without a handler", (cluster) => {
  beforeAll(() => installWidgets(cluster));

  // The runner takes every unhandled rejection for a failure of the test.
  beforeEach(() => {
    const runner = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    onTestFinished(() => {
      for (const listener of runner) process.on("unhandledRejection", listener);
    });
  });

  /** A controller of widgets, of which `see` does this too. */
  async function start(also: (widget: Widget, nth: number) => Promise<void>) {
    const namespace = await cluster.namespace();
    const clock = new ManualClock(Date.now());
    const lines: Record<string, unknown>[] = [];
    const log = makeLog({ write: (line) => lines.push(JSON.parse(line)) });
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig), {});
    const reconciles: string[] = [];
    const feature = widgetFeature({
      observe: async (widget) => {
        const { name } = widget.metadata;
        reconciles.push(name);
        await also(widget, reconciles.filter((each) => each === name).length);
        return widget;
      },
    });
    const runtime = new Runtime({ client, namespace, clock, log, features: [() => ({ feature })] });
    onTestFinished(surviveUnhandledRejections({ log, metrics: () => runtime.metrics }));
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      client.close();
    });
    const path = `/apis/test.postern.io/v1/namespaces/${namespace}/widgets`;
    const make = (name: string) =>
      cluster.request("POST", path, {
        apiVersion: "test.postern.io/v1",
        kind: "Widget",
        metadata: { name },
        spec: { size: 1 },
      });
    const sizeOf = async (name: string) =>
      (await cluster.request<Widget>("GET", `${path}/${name}`)).body.status?.size;
    const count = async (metric: string) => {
      const { values } = (await runtime.metrics.registry.getSingleMetric(metric)?.get()) ?? {};
      return Object.fromEntries(
        (values ?? []).map(({ labels, value }) => [Object.values(labels).join(" "), value]),
      );
    };
    /** How often it was reconciled, once that is over. */
    const passesOf = (name: string) => {
      const [{ running = 1 } = {}] = runtime.controllers.map(({ queue }) => queue.counts());
      return running > 0 ? "running" : reconciles.filter((each) => each === name).length;
    };
    const unhandled = () => lines.filter(({ msg }) => msg === "unhandled rejection");
    return { namespace, clock, make, sizeOf, count, passesOf, unhandled };
  }

  test("fails the reconcile in which it happens, with back-off, and no other", async () => {
    const { namespace, clock, make, sizeOf, count, passesOf, unhandled } = await start(
      async ({ metadata }, nth) => {
        if (metadata.name !== "bad" || nth > 3) return;
        void Promise.reject(new Error("too early"));
        await settle();
      },
    );
    for (const name of ["bad", "good"]) await make(name);
    for (const name of ["bad", "good"]) await expect.poll(() => sizeOf(name)).toBe(1);
    await expect.poll(() => unhandled().length).toBe(1);
    expect(unhandled()[0]).toMatchObject({
      level: "error",
      controller: "widget",
      key: `${namespace}/bad`,
      reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      err: { message: "too early" },
    });
    // Tried again after 3 and then after 6 seconds, until it is good.
    for (const [ms, times] of [
      [2_900, 1],
      [200, 2],
      [5_900, 2],
      [200, 3],
      [12_100, 4],
      [60_000, 4],
    ] as const) {
      await clock.move(ms);
      await expect.poll(() => passesOf("bad")).toBe(times);
    }
    expect(passesOf("good")).toBe(1);
    expect(await count("postern_unhandled_rejections_total")).toEqual({ unknown: 0, widget: 3 });
    expect(await count("controller_runtime_reconcile_errors_total")).toEqual({ widget: 3 });
  });

  test("is not forgotten where it happens after the reconcile has ended", async () => {
    let reject: (() => void) | undefined;
    const { clock, make, sizeOf, count, passesOf, unhandled } = await start(
      async (_widget, nth) => {
        if (nth > 1) return;
        const late = new Promise<void>((resolve) => {
          reject = resolve;
        });
        void late.then(() => {
          throw new Error("too late");
        });
      },
    );
    await make("bad");
    await expect.poll(() => sizeOf("bad")).toBe(1);
    expect(unhandled()).toEqual([]);
    reject?.();
    await expect.poll(() => unhandled().length).toBe(1);
    expect(unhandled()[0]).toMatchObject({ controller: "widget", err: { message: "too late" } });
    await clock.move(3_100);
    await expect.poll(() => passesOf("bad")).toBe(2);
    expect(await count("postern_unhandled_rejections_total")).toEqual({ unknown: 0, widget: 1 });
  });

  test("is logged and counted where it happens in no reconcile", async () => {
    const { count, unhandled } = await start(async () => {});
    void Promise.reject(new Error("somewhere"));
    await expect.poll(() => unhandled().length).toBe(1);
    expect(unhandled()[0]).not.toHaveProperty("controller");
    expect(await count("postern_unhandled_rejections_total")).toEqual({ unknown: 1, widget: 0 });
  });
});
