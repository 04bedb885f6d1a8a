import type { Explained } from "@postern/core/failure.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { KubeError } from "postern/kube/errors.ts";
import type { Feature, Step } from "postern/kube/feature.ts";
import { servePages } from "postern/kube/health.ts";
import { makeLog, silentLog } from "postern/kube/log.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import { Runtime, type WatchedKind, whereServed } from "postern/kube/runtime.ts";
import { whenChanged } from "postern/kube/when-changed.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../manual-clock.ts";
import { type Cluster, describeOnCluster } from "../setup/cluster.ts";
import { testOnReal } from "../setup/differences.ts";
import { installWidgets, type Widget, widgetFeature, widgetKind } from "./widget.ts";

describeOnCluster("the runtime on a real API server", (cluster) => {
  beforeAll(() => installWidgets(cluster));

  /** A runtime in a namespace of its own, stopped when the test ends. */
  async function runtimeWith(
    features: Feature<Widget, Widget>[],
    options: {
      watches?: WatchedKind[];
      namespace?: string;
      clock?: ManualClock;
      log?: typeof silentLog;
    } = {},
  ) {
    const namespace = options.namespace ?? (await cluster.namespace());
    const clock = options.clock ?? new ManualClock(Date.now());
    const userAgent = `postern-test/${namespace}`;
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig), { userAgent });
    const reconciles: string[] = [];
    const runtime = new Runtime({
      client,
      namespace,
      clock,
      log: options.log ?? silentLog,
      features: features.map((feature) => () => ({
        feature: {
          ...feature,
          observe: (widget: Widget, reconcile: Reconcile) => {
            reconciles.push(`${feature.name} ${widget.metadata.name}`);
            return feature.observe(widget, reconcile);
          },
        },
        ...(options.watches && { watches: options.watches }),
      })),
    });
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    const end = async () => {
      stop.abort();
      await running;
      client.close();
    };
    onTestFinished(end);
    await Promise.all(runtime.caches.all().map((cache) => cache.filled));
    const world = at(cluster, namespace);
    const writes = () =>
      cluster.audit(
        (entry) => entry.userAgent === userAgent && !["get", "list", "watch"].includes(entry.verb),
      );
    /** Wait until nobody has anything left to do. */
    const quiet = () =>
      expect
        .poll(async () => {
          await settle();
          return runtime.controllers.every(
            ({ queue }) => queue.counts().queued + queue.counts().running === 0,
          );
        })
        .toBe(true);
    return { runtime, namespace, clock, client, reconciles, writes, quiet, end, ...world };
  }

  test("writes each status once, is not woken by its own write, and at rest writes nothing", async () => {
    const { make, get, reconciles, writes, clock, quiet } = await runtimeWith([widgetFeature()]);
    const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
    await Promise.all(names.map((name) => make(name, { size: 7 })));
    for (const name of names) await expect.poll(async () => (await get(name)).status?.size).toBe(7);
    await quiet();
    expect(reconciles.length).toBe(20);
    expect((await writes()).length).toBe(20);

    // Two drift checks of each.
    await clock.move(11 * 60_000);
    await quiet();
    expect(reconciles.length).toBeGreaterThanOrEqual(40);
    expect((await writes()).length).toBe(20);
    const { conditions } = (await get("w3")).status ?? {};
    expect(conditions).toMatchObject([
      { type: "Ready", status: "True", reason: "AsWanted", observedGeneration: 1 },
    ]);
  });

  test("a change of the object is acted on, and a field that is no longer wanted is removed", async () => {
    const { make, get, patch } = await runtimeWith([widgetFeature()]);
    await make("a", { size: 1 });
    await expect.poll(async () => (await get("a")).status?.size).toBe(1);
    await patch("a", { spec: { size: null } });
    await expect
      .poll(async () => (await get("a")).status?.conditions?.[0]?.observedGeneration)
      .toBe(2);
    expect((await get("a")).status).not.toHaveProperty("size");
  });

  test("two controllers on one object never lose each other's conditions or fields", async () => {
    const other = widgetFeature({
      name: "painter",
      conditions: ["Painted"],
      statusFields: ["colour"],
      wanted: ({ spec }) => ({
        conditions: [
          { type: "Painted", status: "True", reason: "Done", message: `Size ${spec?.size}.` },
        ],
        status: { colour: "red" },
      }),
    });
    const { make, get, patch } = await runtimeWith([widgetFeature(), other]);
    const names = Array.from({ length: 25 }, (_, i) => `w${i}`);
    await Promise.all(names.map((name) => make(name, { size: 1 })));
    await Promise.all(names.map((name) => patch(name, { spec: { size: 2 } })));
    for (const name of names) {
      await expect
        .poll(async () =>
          (await get(name)).status?.conditions
            ?.map((each) => `${each.type} ${each.observedGeneration}`)
            .sort(),
        )
        .toEqual(["Painted 2", "Ready 2"]);
      expect((await get(name)).status).toMatchObject({ size: 2, colour: "red" });
    }
  });

  test("what another writes into the status wakes it, and is left alone", async () => {
    const { make, get, reconciles, namespace, quiet } = await runtimeWith([widgetFeature()]);
    await make("a", { size: 1 });
    await expect.poll(async () => (await get("a")).status?.size).toBe(1);
    await quiet();
    const mine = {
      apiVersion: "test.postern.io/v1",
      kind: "Widget",
      metadata: { name: "a" },
      status: { colour: "green" },
    };
    const path = `/apis/test.postern.io/v1/namespaces/${namespace}/widgets/a/status?fieldManager=somebody&force=true`;
    await cluster.request("PATCH", path, mine, { contentType: "application/apply-patch+yaml" });
    await expect.poll(() => reconciles.length).toBe(2);
    await quiet();
    expect((await get("a")).status).toMatchObject({ colour: "green", size: 1 });
  });

  test("the finalizer is on before the first step and off after the last, and another's stays", async () => {
    const finalizer = "test.postern.io/widget";
    const done: string[] = [];
    const feature: Feature<Widget, Widget> = widgetFeature({
      finalizer,
      wanted: ({ metadata }) => {
        if (!metadata.deletionTimestamp)
          return {
            finalizer: "add",
            steps: done.includes("made")
              ? []
              : [{ do: "create widget", name: "a", why: "absent", event: true }],
          };
        const steps: Step[] = done.includes("unmade")
          ? []
          : [{ do: "delete widget", name: "a", why: "the object is being deleted", event: true }];
        return { finalizer: "remove", steps, requeue: { afterMs: 1 } };
      },
      apply: async (step) => {
        const held = (await get("a")).metadata.finalizers ?? [];
        expect(held).toContain(finalizer);
        done.push(step.do === "create widget" ? "made" : "unmade");
        return { state: "done" };
      },
    });
    const { make, get, remove, clock, events } = await runtimeWith([feature]);
    await make("a", { size: 1 }, { finalizers: ["somebody.io/else"] });
    await expect.poll(async () => (await get("a")).status?.size).toBe(1);
    await remove("a");
    await expect
      .poll(async () => {
        await clock.move(10);
        return (await get("a")).metadata.finalizers;
      })
      .toEqual(["somebody.io/else"]);
    expect(done).toEqual(["made", "unmade"]);
    await expect
      .poll(async () =>
        (await events()).map((event) => `${event.type} ${event.reason}: ${event.note}`).sort(),
      )
      .toEqual([
        "Normal Created: Created widget a: absent.",
        "Normal Deleted: Deleted widget a: the object is being deleted.",
      ]);
  });

  test("of two steps that fail for one condition, the first of the plan is in it, whoever was answered last", async () => {
    let answered = 0;
    const feature = widgetFeature({
      wanted: () => ({
        steps: [
          { do: "create widget", name: "first", why: "absent" },
          { do: "create widget", name: "second", why: "absent" },
        ],
      }),
      apply: async ({ name: step }) => {
        if (step === "second") await expect.poll(() => answered).toBeGreaterThan(0);
        answered++;
        throw new KubeError(step === "first" ? "FirstFailed" : "SecondFailed", `${step} failed`);
      },
    });
    const { make, get } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect
      .poll(async () => (await get("a")).status?.conditions?.map(({ reason }) => reason))
      .toEqual(["FirstFailed"]);
  });

  test("a feature may report on another object: what its steps could not do is said there at once, and what it does not decide stays", async () => {
    let refuses = true;
    let decides = true;
    const written: string[] = [];
    const feature: Feature<Widget, Widget, Step, Widget | undefined> = {
      ...widgetFeature({ statusFields: [] }),
      observe: async (widget) => ({
        observed: widget,
        context: widget.metadata.name === "a" ? await get("b") : undefined,
      }),
      reportsOn: (object) => object && { kind: widgetKind, object, wrote: (v) => written.push(v) },
      plan: ({ metadata }) => ({
        steps:
          metadata.name === "a" && decides
            ? [{ do: "create widget", name: "a", why: "absent", remedy: "do it by hand" }]
            : [],
        conditions: decides
          ? [{ type: "Ready", status: "False", reason: "Creating", message: "it comes" }]
          : [],
        ...(!decides && { retainsStatus: true }),
        requeue: { afterMs: 1_000 },
      }),
      apply: async () => {
        if (refuses) throw new KubeError("Forbidden", "not allowed");
        return { state: "running", retryAfterMs: 1_000 };
      },
    };
    const { make, get, clock, writes } = await runtimeWith([feature as Feature<Widget, Widget>]);
    await make("b", {});
    await make("a", {});
    const readyOn = async (name: string) => {
      const { status } = await get(name);
      return status?.conditions?.map(({ reason, message }) => `${reason}: ${message}`);
    };
    await expect
      .poll(() => readyOn("b"))
      .toEqual([expect.stringMatching(/^Forbidden: Not allowed\..* Do it by hand\.$/)]);
    expect(await readyOn("a")).toBeUndefined();
    expect(written).toEqual([(await get("b")).metadata.resourceVersion]);
    refuses = false;
    await clock.move(60_000);
    await expect.poll(() => readyOn("b")).toEqual(["Creating: It comes."]);
    decides = false;
    const before = (await writes()).length;
    await clock.move(60_000);
    expect(await readyOn("b")).toEqual(["Creating: It comes."]);
    expect((await writes()).length).toBe(before);
  });

  test("where reads may be stale, a finalizer is removed by what is read that long after it was first to go", async () => {
    const finalizer = "test.postern.io/widget";
    const hasFinalizer = ({ metadata }: Widget) =>
      metadata.finalizers?.includes(finalizer) === true;
    const isFresh: boolean[] = [];
    const feature: Feature<Widget, Widget> = widgetFeature({
      finalizer,
      staleReadsMs: 60_000,
      observe: async (widget, reconcile) => {
        const gives = widget.spec?.size === 0 || widget.metadata.deletionTimestamp !== undefined;
        if (gives && hasFinalizer(widget)) isFresh.push(reconcile.freshSince !== undefined);
        return widget;
      },
      wanted: ({ metadata, spec }) =>
        metadata.deletionTimestamp || spec?.size === 0
          ? { finalizer: "remove", conditions: [], requeue: "never" }
          : { finalizer: "add" },
    });
    const { make, get, patch, remove, clock, quiet } = await runtimeWith([feature]);
    const givenUp = async (act: () => Promise<unknown>) => {
      isFresh.length = 0;
      await act();
      await quiet();
      await expect.poll(() => isFresh.length).toBeGreaterThan(0);
      await clock.move(59_000);
      await quiet();
      const widget = await get("a");
      expect(hasFinalizer(widget)).toBe(true);
      // What it said before is still what it says.
      expect(widget.status?.conditions?.map(({ type }) => type)).toEqual(["Ready"]);
      expect(isFresh).not.toContain(true);
      await clock.move(1_000);
      await quiet();
      expect(isFresh.at(-1)).toBe(true);
    };
    const hold = () => expect.poll(async () => hasFinalizer(await get("a"))).toBe(true);

    await make("a", { size: 1 }, { finalizers: ["somebody.io/else"] });
    await hold();
    await expect.poll(async () => (await get("a")).status?.size).toBe(1);
    // While the object lives on, twice: the second time is confirmed anew.
    for (const size of [2, 3]) {
      await givenUp(() => patch("a", { spec: { size: 0 } }));
      await expect.poll(async () => hasFinalizer(await get("a"))).toBe(false);
      await patch("a", { spec: { size } });
      await hold();
      await expect.poll(async () => (await get("a")).status?.size).toBe(size);
      await quiet();
    }
    await givenUp(() => remove("a"));
    await expect
      .poll(async () => (await get("a")).metadata.finalizers)
      .toEqual(["somebody.io/else"]);
  });

  test("what is thrown becomes one condition and one event, other conditions stay, and it is tried again in time", async () => {
    let broken = true;
    const feature = widgetFeature({
      observe: async (widget) => {
        if (broken)
          throw explained({
            reason: "OutOfPaint",
            message: "painting failed · there is no paint · buy some",
            requeueAfterMs: 60_000,
          });
        return widget;
      },
    });
    const { make, get, clock, reconciles, writes, events, quiet } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect
      .poll(async () => (await get("a")).status?.conditions)
      .toMatchObject([
        {
          type: "Ready",
          status: "False",
          reason: "OutOfPaint",
          message: "Painting failed. There is no paint. Buy some.",
          observedGeneration: 1,
        },
      ]);
    for (let i = 0; i < 3; i++) {
      await clock.move(60_000);
      await quiet();
    }
    expect(reconciles.length).toBe(4);
    const written = new Set((await writes()).map((entry) => entry.objectRef?.resource));
    expect(written).toEqual(new Set(["events", "widgets"]));
    expect((await writes()).length).toBe(2);
    expect(await events()).toMatchObject([
      {
        type: "Warning",
        reason: "OutOfPaint",
        note: "Painting failed. There is no paint. Buy some.",
        regarding: { kind: "Widget", name: "a" },
      },
    ]);
    broken = false;
    await clock.move(60_000);
    await expect.poll(async () => (await get("a")).status?.conditions?.[0]?.status).toBe("True");
  });

  test("a failure leaves the other conditions and the fields of the same controller as they were", async () => {
    let broken = false;
    const both = (["Ready", "Painted"] as const).map((type) => ({
      type,
      status: "True" as const,
      reason: "Done",
      message: "it is",
    }));
    const feature = widgetFeature({
      conditions: ["Ready", "Painted"],
      wanted: () => ({ conditions: both }),
      observe: async (widget) => {
        if (broken) throw explained({ reason: "OutOfPaint", message: "no paint" });
        return widget;
      },
    });
    const { make, get, clock } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect.poll(async () => (await get("a")).status?.conditions?.length).toBe(2);
    broken = true;
    await clock.move(6 * 60_000);
    await expect
      .poll(async () => (await get("a")).status)
      .toMatchObject({
        size: 1,
        conditions: [
          { type: "Ready", reason: "OutOfPaint" },
          { type: "Painted", reason: "Done" },
        ],
      });
  });

  test("a condition that is another's on one object is left alone there, also where the pass fails", async () => {
    const feature = widgetFeature({
      conditions: ["Ready", "Painted"],
      conditionsOn: ({ spec }) => (spec?.note === "theirs" ? ["Painted"] : ["Ready", "Painted"]),
      failsAs: "NotPainted",
      observe: async () => {
        throw explained({ reason: "OutOfPaint", message: "no paint" });
      },
    });
    const { make, get } = await runtimeWith([feature]);
    await make("ours", { size: 1 });
    await make("theirs", { size: 1, note: "theirs" });
    for (const [name, type] of [
      ["ours", "Ready"],
      ["theirs", "Painted"],
    ] as const)
      await expect
        .poll(async () => (await get(name)).status?.conditions)
        .toMatchObject([{ type, reason: "NotPainted", message: "No paint." }]);
  });

  test("a bug in a feature is one condition without its text, and the other objects go on", async () => {
    const feature = widgetFeature({
      observe: async (widget) => {
        if (widget.metadata.name === "bad")
          throw new TypeError("cannot read token=abc of undefined");
        return widget;
      },
    });
    const { make, get } = await runtimeWith([feature]);
    await make("bad", { size: 1 });
    await make("good", { size: 1 });
    await expect.poll(async () => (await get("good")).status?.size).toBe(1);
    await expect
      .poll(async () => (await get("bad")).status?.conditions?.[0])
      .toMatchObject({ reason: "InternalError", status: "False" });
    expect((await get("bad")).status?.conditions?.[0]?.message).not.toContain("token");
  });

  test("a bug counts as a panic, and an internal error of the API server does not", async () => {
    const thrown: Record<string, Error> = {
      bug: new Error("a bug"),
      server: new KubeError("InternalError", "GET /x failed · etcd", { status: 500 }),
    };
    const feature = widgetFeature({
      observe: async ({ metadata }) => {
        throw thrown[metadata.name];
      },
    });
    const { runtime, make, get } = await runtimeWith([feature]);
    const count = async (metric: string) => {
      const { values = [] } = (await runtime.metrics.registry.getSingleMetric(metric)?.get()) ?? {};
      return values.map(({ value }) => value);
    };
    for (const [errors, name] of [
      [1, "server"],
      [2, "bug"],
    ] as const) {
      await make(name, {});
      const reason = async () => (await get(name)).status?.conditions?.[0]?.reason;
      await expect.poll(reason).toBe("InternalError");
      const failed = "controller_runtime_reconcile_errors_total";
      await expect.poll(() => count(failed)).toEqual([errors]);
      const panics = await count("controller_runtime_reconcile_panics_total");
      expect(panics, name).toEqual([name === "bug" ? 1 : 0]);
    }
  });

  test("a pass that hangs is ended after two minutes, reported, and tried again; the others go on", async () => {
    let hanging = true;
    const feature = widgetFeature({
      concurrency: 2,
      observe: async (widget, reconcile) => {
        if (widget.metadata.name !== "stuck" || !hanging) return widget;
        await new Promise((_, reject) =>
          reconcile.signal.addEventListener("abort", () => reject(new Error("aborted"))),
        );
        return widget;
      },
    });
    const { make, get, clock, reconciles } = await runtimeWith([feature]);
    await make("stuck", { size: 1 });
    await make("free", { size: 2 });
    await expect.poll(async () => (await get("free")).status?.size).toBe(2);
    await expect.poll(() => reconciles.includes("widget stuck")).toBe(true);
    await clock.move(2 * 60_000);
    await expect
      .poll(async () => (await get("stuck")).status?.conditions?.[0])
      .toMatchObject({ status: "False", reason: "PassTimedOut" });
    hanging = false;
    await clock.move(3_000);
    await expect.poll(async () => (await get("stuck")).status?.size).toBe(1);
  });

  test("a failure that only a change can help is not tried again until there is one", async () => {
    const feature = widgetFeature({
      observe: async (widget) => {
        if (widget.spec?.size === 13)
          throw explained({ reason: "Unlucky", message: "no", terminal: true });
        return widget;
      },
    });
    const { make, get, patch, clock, reconciles, quiet } = await runtimeWith([feature]);
    await make("a", { size: 13 });
    await expect.poll(async () => (await get("a")).status?.conditions?.[0]?.reason).toBe("Unlucky");
    await clock.move(3_600_000);
    await quiet();
    expect(reconciles.length).toBe(1);
    await patch("a", { spec: { size: 14 } });
    await expect
      .poll(async () => (await get("a")).status?.conditions?.[0]?.reason)
      .toBe("AsWanted");
  });

  test("all steps begin at once, a long one is looked at again when it said, and holds nobody up", async () => {
    const begun: string[] = [];
    const feature = widgetFeature({
      concurrency: 1,
      wanted: ({ metadata }) => ({
        steps:
          metadata.name === "long" && begun.length < 2
            ? ["one", "two"].map((name): Step => ({ do: "create widget", name, why: "absent" }))
            : [],
      }),
      apply: async (step) => {
        begun.push(step.name);
        return { state: "running", retryAfterMs: step.name === "one" ? 30_000 : 10_000 };
      },
    });
    const { make, get, clock, reconciles, quiet } = await runtimeWith([feature]);
    await make("long", { size: 1 });
    await expect.poll(() => begun).toEqual(["one", "two"]);
    await make("short", { size: 2 });
    await expect.poll(async () => (await get("short")).status?.size).toBe(2);
    await quiet();
    const looks = () => reconciles.filter((each) => each === "widget long").length;
    expect(looks()).toBe(1);
    await clock.move(9_999);
    await quiet();
    expect(looks()).toBe(1);
    await clock.move(1);
    await quiet();
    expect(looks()).toBe(2);
  });

  test("what was begun earlier does not wait for what is begun last", async () => {
    const begun: string[] = [];
    const feature = widgetFeature({
      wanted: () => ({
        steps: begun.length < 1 ? [{ do: "create widget", name: "last", why: "absent" }] : [],
        requeue: { afterMs: 4_000 },
      }),
      apply: async (step) => {
        begun.push(step.name);
        return { state: "running", retryAfterMs: 30_000 };
      },
    });
    const { make, clock, reconciles, quiet } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect.poll(() => begun).toEqual(["last"]);
    await quiet();
    const before = reconciles.length;
    await clock.move(4_000);
    await quiet();
    expect(reconciles.length).toBe(before + 1);
  });

  test("a change of another kind wakes the objects that it concerns, by its names only", async () => {
    const configMaps: Kind<KubeObject & { data?: unknown }> = {
      group: "",
      version: "v1",
      kind: "ConfigMap",
      plural: "configmaps",
      namespaced: true,
    };
    const seen: unknown[] = [];
    const watched: WatchedKind<KubeObject & { data?: unknown }> = {
      kind: configMaps,
      metadataOnly: true,
      keys: (map) => {
        seen.push(map.data);
        return map.metadata.labels?.widget
          ? [`${map.metadata.namespace}/${map.metadata.labels.widget}`]
          : [];
      },
    };
    const { make, reconciles, namespace, quiet } = await runtimeWith([widgetFeature()], {
      watches: [watched as WatchedKind],
    });
    await make("a", { size: 1 });
    await make("b", { size: 1 });
    await expect.poll(() => reconciles.length).toBe(2);
    await quiet();
    await cluster.request("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: "m", labels: { widget: "b" } },
      data: { a: "1" },
    });
    await expect.poll(() => reconciles).toEqual(["widget a", "widget b", "widget b"]);
    expect(seen).toEqual([undefined]);
  });

  test("the end of an object of another kind wakes too, though nothing held it and nothing else of it changed", async () => {
    const configMap = {
      group: "",
      version: "v1",
      kind: "ConfigMap",
      plural: "configmaps",
      namespaced: true,
    };
    const keys = whenChanged(
      ({ metadata }) => (metadata.name === "m" ? [`${metadata.namespace}/a`] : []),
      ({ metadata }) => metadata.labels,
    );
    const { make, reconciles, namespace, quiet } = await runtimeWith([widgetFeature()], {
      watches: [{ kind: configMap, keys }],
    });
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await make("a", { size: 1 });
    await cluster.request("POST", maps, { metadata: { name: "m" } });
    await expect.poll(() => reconciles.length).toBeGreaterThan(1);
    await quiet();
    const before = reconciles.length;
    await cluster.request("DELETE", `${maps}/m`);
    await expect.poll(() => reconciles.length).toBe(before + 1);
  });

  test("an object that is deleted between the look and the write is no failure", async () => {
    const lines: string[] = [];
    const feature = widgetFeature({
      observe: async (widget) => {
        await remove(widget.metadata.name);
        return widget;
      },
    });
    const log = makeLog({ write: (line) => lines.push(line) });
    const { make, remove, quiet, reconciles, events, clock } = await runtimeWith([feature], {
      log,
    });
    await make("a", { size: 1 });
    await expect.poll(() => reconciles.length).toBeGreaterThan(0);
    await quiet();
    await clock.move(60_000);
    await quiet();
    expect((await events()).map(({ note }) => note)).toEqual([]);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test("two controllers that put their finalizers on one object meet no one else's eyes", async () => {
    const holder = (name: string, condition: string) =>
      widgetFeature({
        name,
        finalizer: `test.postern.io/${name}`,
        conditions: [condition],
        statusFields: [],
        wanted: () => ({
          finalizer: "add",
          status: {},
          conditions: [{ type: condition, status: "True", reason: "Held", message: "it is" }],
        }),
      });
    const { runtime, make, get, events, clock, quiet } = await runtimeWith([
      holder("one", "One"),
      holder("two", "Two"),
    ]);
    const names = Array.from({ length: 10 }, (_, i) => `w${i}`);
    await Promise.all(names.map((name) => make(name, { size: 1 })));
    // A conflict is tried again after a second: time passes only when the watch has brought what the other wrote.
    const cached = () => runtime.caches.all().flatMap((cache) => cache.list());
    const versions = (objects: readonly KubeObject[]) =>
      new Set(objects.map(({ metadata }) => metadata.resourceVersion));
    await expect
      .poll(async () => {
        await quiet();
        const widgets = await Promise.all(names.map(get));
        const brought = versions(cached());
        if ([...versions(widgets)].every((version) => brought.has(version)))
          await clock.move(1_000);
        return widgets.every(({ metadata }) => metadata.finalizers?.length === 2);
      })
      .toBe(true);
    await quiet();
    expect((await events()).map(({ note }) => note)).toEqual([]);
    for (const name of names)
      expect((await get(name)).status?.conditions?.map((each) => each.status)).toEqual([
        "True",
        "True",
      ]);
  });

  test("a finalizer and a status in one pass wake nobody", async () => {
    const feature = widgetFeature({
      finalizer: "test.postern.io/widget",
      wanted: () => ({ finalizer: "add" }),
    });
    const { make, get, reconciles, quiet } = await runtimeWith([feature]);
    const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
    await Promise.all(names.map((name) => make(name, { size: 1 })));
    for (const name of names) await expect.poll(async () => (await get(name)).status?.size).toBe(1);
    await quiet();
    expect(reconciles.length).toBe(20);
  });

  test("a status that the schema refuses is reported by a condition and an event, and tried again slowly", async () => {
    const feature = widgetFeature({ wanted: () => ({ status: { size: 5000 } }) });
    const { make, get, events, clock, reconciles, quiet } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect
      .poll(async () => (await get("a")).status?.conditions?.[0])
      .toMatchObject({ status: "False", reason: "Invalid" });
    await expect
      .poll(async () => (await events()).map((event) => event.reason))
      .toEqual(["Invalid"]);
    await clock.move(5 * 60_000);
    await quiet();
    expect(reconciles.length).toBe(2);
  });

  test("a feature without a status tells its news once, and again when it is other news", async () => {
    const feature = widgetFeature({
      conditions: [],
      statusFields: [],
      wanted: ({ spec }) => ({
        conditions: [],
        status: {},
        steps: spec?.note === "fail" ? [{ do: "create widget", name: "a", why: "asked to" }] : [],
        ...(spec?.size && {
          events: [{ type: "Warning", reason: "Odd", note: `size ${spec.size}` }],
        }),
      }),
      apply: async () => {
        const explain = () => ({ reason: "Broken", message: "it broke", requeueAfterMs: 600_000 });
        throw Object.assign(new Error("it broke"), { explain });
      },
    });
    const { make, patch, events, clock, reconciles, quiet } = await runtimeWith([feature]);
    const told = async () => (await events()).map(({ reason, note }) => `${reason} ${note}`).sort();
    await make("a", { size: 1 });
    await expect.poll(told).toEqual(["Odd Size 1."]);
    for (let i = 0; i < 4; i++) await clock.move(7 * 60_000);
    await quiet();
    expect(reconciles.length).toBeGreaterThanOrEqual(4);
    expect(await told()).toEqual(["Odd Size 1."]);

    await patch("a", { spec: { size: 2, note: "fail" } });
    await expect.poll(told).toEqual(["Broken It broke.", "Odd Size 1.", "Odd Size 2."]);
  });

  test("what another manager left in our part of the status is taken away, once", async () => {
    const namespace = await cluster.namespace();
    const world = at(cluster, namespace);
    await world.make("a", { note: "no size" });
    const old = {
      status: {
        size: 4,
        colour: "green",
        conditions: [
          {
            type: "Old",
            status: "True",
            reason: "R",
            message: "m",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    };
    await cluster.request(
      "PATCH",
      `/apis/test.postern.io/v1/namespaces/${namespace}/widgets/a/status`,
      old,
      { contentType: "application/merge-patch+json" },
    );
    const feature = widgetFeature({ conditions: ["Ready", "Old"] });
    const { get, writes, clock, quiet } = await runtimeWith([feature], { namespace });
    await expect
      .poll(async () => (await get("a")).status?.conditions?.map((each) => each.type))
      .toEqual(["Ready"]);
    expect((await get("a")).status).toMatchObject({ colour: "green" });
    expect((await get("a")).status).not.toHaveProperty("size");
    const before = (await writes()).length;
    await clock.move(30 * 60_000);
    await quiet();
    expect((await writes()).length).toBe(before);
  });

  test("a failed step is reported in its own condition, the others go on, and what runs is looked at in time", async () => {
    let broken = true;
    const applied: string[] = [];
    const feature = widgetFeature({
      conditions: ["Ready", "Painted"],
      wanted: () => ({
        steps:
          applied.includes("build") && !broken
            ? []
            : [
                { do: "create widget", name: "paint", why: "absent", condition: "Painted" },
                { do: "create widget", name: "build", why: "absent", event: true },
              ],
        conditions: ["Ready", "Painted"].map((type) => ({
          type,
          status: "Unknown" as const,
          reason: "Working",
          message: "in work",
        })),
        status: {},
      }),
      apply: async (step) => {
        if (step.name === "paint" && broken)
          throw explained({ reason: "OutOfPaint", message: "no paint", terminal: true });
        applied.push(step.name);
        return step.name === "build"
          ? { state: "running", retryAfterMs: 7_000 }
          : { state: "done" };
      },
    });
    const { make, get, clock, quiet, reconciles } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect
      .poll(async () => (await get("a")).status?.conditions)
      .toMatchObject([
        { type: "Ready", reason: "Working" },
        { type: "Painted", status: "False", reason: "OutOfPaint" },
      ]);
    // The reconcile sets its timer after it has written the status.
    await quiet();
    expect(applied).toEqual(["build"]);
    const before = reconciles.length;
    broken = false;
    await clock.move(7_000);
    await expect.poll(() => reconciles.length).toBeGreaterThan(before);
  });

  test("a step that fails for a moment does not wait for one that fails for long", async () => {
    let tries = 0;
    const feature = widgetFeature({
      wanted: () => ({
        steps: [
          { do: "create widget", name: "paint", why: "absent" },
          { do: "create widget", name: "build", why: "absent" },
        ],
      }),
      apply: async (step) => {
        if (step.name === "build") tries++;
        throw explained(
          step.name === "build"
            ? { reason: "Conflict", message: "somebody was faster", passing: true }
            : { reason: "NoRight", message: "no right", requeueAfterMs: 600_000 },
        );
      },
    });
    const { make, clock, quiet } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect.poll(() => tries).toBe(1);
    await quiet();
    await clock.move(31_000);
    await expect.poll(() => tries).toBeGreaterThan(1);
  });

  test("a write that another was faster than is tried again after a second, and is an error only if that goes on", async () => {
    let conflicts = 2;
    const feature = widgetFeature({
      wanted: () => ({
        steps: conflicts >= 0 ? [{ do: "create widget", name: "build", why: "absent" }] : [],
      }),
      apply: async () => {
        if (conflicts-- > 0)
          throw new KubeError("Conflict", "the object has been modified", { status: 409 });
        return { state: "done" };
      },
    });
    const { make, get, clock, quiet, runtime } = await runtimeWith([feature]);
    const results = async () => {
      const metric = "controller_runtime_reconcile_total";
      const { values = [] } = (await runtime.metrics.registry.getSingleMetric(metric)?.get()) ?? {};
      return Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]));
    };
    await make("a", { size: 1 });
    await expect.poll(() => conflicts).toBe(1);
    await quiet();
    await clock.move(1_000);
    await expect.poll(() => conflicts).toBe(0);
    await quiet();
    await clock.move(1_000);
    await expect.poll(() => conflicts).toBe(-1);
    await quiet();
    expect(await results()).toMatchObject({ error: 0 });
    const ready = (await get("a")).status?.conditions?.[0];
    expect(ready?.reason).not.toBe("Conflict");

    conflicts = 100;
    runtime.controllers[0]?.wake(`${(await get("a")).metadata.namespace}/a`);
    for (const left of [99, 98, 97]) {
      await expect.poll(() => conflicts).toBe(left);
      await quiet();
      await clock.move(1_000);
    }
    await expect.poll(results).toMatchObject({ error: 1 });
    expect((await get("a")).status?.conditions?.[0]).toMatchObject({ reason: "Conflict" });
  });

  test("steps that are done are followed up at once, not at the next look", async () => {
    const done: string[] = [];
    const feature = widgetFeature({
      wanted: () => ({
        steps:
          done.length < 3 ? [{ do: "create widget", name: `${done.length}`, why: "absent" }] : [],
        requeue: "soon",
      }),
      apply: async (step) => {
        done.push(step.name);
        return { state: "done" };
      },
    });
    const { make } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect.poll(() => done).toEqual(["0", "1", "2"]);
  });

  test("a plan that never comes to rest is no hot loop", async () => {
    let steps = 0;
    const feature = widgetFeature({
      wanted: () => ({ steps: [{ do: "create widget", name: "again", why: "for ever" }] }),
      apply: async () => {
        steps++;
        return { state: "done" };
      },
    });
    const { make, quiet } = await runtimeWith([feature]);
    await make("a", { size: 1 });
    await expect.poll(() => steps).toBeGreaterThan(5);
    await quiet();
    expect(steps).toBeLessThanOrEqual(25);
  });

  test("a kind that is not installed holds up only the controller that needs it", async () => {
    const missing: Kind = {
      group: "test.postern.io",
      version: "v1",
      kind: "Gadget",
      plural: "gadgets",
      namespaced: true,
    };
    const namespace = await cluster.namespace();
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig));
    const runtime = new Runtime({
      client,
      namespace,
      log: silentLog,
      features: [
        () => ({ feature: widgetFeature() }),
        ({ caches }) => {
          caches.of(missing);
          return { feature: widgetFeature({ name: "other", conditions: ["Other"] }) };
        },
        ({ caches }) => {
          // Another watch, of which it is said that work can begin without it.
          caches.of(missing, { labelSelector: "a=b", optional: true });
          const third = {
            type: "Third",
            status: "True",
            reason: "Seen",
            message: "it is",
          } as const;
          const wanted = () => ({ conditions: [third] });
          return {
            feature: widgetFeature({ name: "third", conditions: ["Third"], wanted }),
          };
        },
        // This one needs it, and the process is of use without this one.
        whereServed(({ caches }) => {
          caches.of(missing, { labelSelector: "c=d" });
          return { feature: widgetFeature({ name: "fourth", conditions: ["Fourth"] }) };
        }),
      ],
    });
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      client.close();
    });
    const world = at(cluster, namespace);
    await world.make("a", { size: 5 });
    await expect
      .poll(async () => (await world.get("a")).status?.conditions?.map((each) => each.type).sort())
      .toEqual(["Ready", "Third"]);
    const ready = runtime.readyChecks().filter(({ name }) => name === "cache-gadgets");
    const told = await Promise.all(ready.map(async ({ check }) => check()));
    expect(told.map(({ ok }) => ok)).toEqual([false, true, true]);
    expect(told.map(({ note }) => note)).toEqual([
      "not served",
      "not served, waiting for its CRD",
      "not served, waiting for its CRD",
    ]);
    expect(() => runtime.caches.of({ ...missing, plural: "later" })).toThrow(
      /after the caches were started/,
    );
  });

  test("health, readiness and metrics are reported as kube-apiserver and controller-runtime tell them", async () => {
    const { runtime, make, get } = await runtimeWith([widgetFeature()]);
    await make("a", { size: 1 });
    await expect.poll(async () => (await get("a")).status?.size).toBe(1);
    const pages = await servePages({
      listen: { host: "127.0.0.1", port: 0 },
      health: {
        alive: () => runtime.healthChecks(),
        ready: () => [
          ...runtime.readyChecks(),
          { name: "arm", check: () => ({ ok: false, note: "Bearer abcdefghijkl is refused" }) },
        ],
        details: true,
      },
      metrics: runtime.metrics.registry,
    });
    onTestFinished(() => pages.close());
    const page = async (path: string) => {
      const response = await fetch(pages.url + path);
      return { status: response.status, text: await response.text() };
    };
    expect(await page("/healthz")).toEqual({ status: 200, text: "ok" });
    expect(await page("/healthz?verbose")).toEqual({
      status: 200,
      text: "[+]watch-widgets ok\nhealthz check passed\n",
    });
    const ready = await page("/readyz");
    expect(ready.status).toBe(503);
    expect(ready.text).toBe(
      "[+]cache-widgets ok: 1 objects\n[+]leader ok: alone\n[-]arm failed: Bearer [redacted] is refused\nreadyz check failed\n",
    );
    const { text } = await page("/metrics");
    expect(text).toContain(
      'controller_runtime_reconcile_total{controller="widget",result="requeue_after"} 1',
    );
    expect(text).toContain(
      'controller_runtime_reconcile_total{controller="widget",result="error"} 0',
    );
    expect(text).toContain('workqueue_depth{name="widget",controller="widget",priority="drift"} 0');
    expect(text).toContain('leader_election_master_status{name="alone"} 1');
    expect(text).toMatch(
      /workqueue_unfinished_work_seconds\{name="widget",controller="widget"\} 0/,
    );
  });

  testOnReal(
    "no-rbac",
    "a user without rights is told which one is missing, and goes on when it is granted",
    async () => {
      const namespace = await cluster.namespace();
      const connection = await fromKubeconfig(cluster.kubeconfig);
      const client = new KubeClient({
        ...connection,
        proof: async () => ({ authorization: `Bearer ${cluster.tokens.alice}` }),
      });
      const clock = new ManualClock(Date.now());
      const runtime = new Runtime({
        client,
        namespace,
        clock,
        log: silentLog,
        features: [() => ({ feature: widgetFeature() })],
      });
      const stop = new AbortController();
      const running = runtime.run(stop.signal);
      onTestFinished(async () => {
        stop.abort();
        await running;
      });
      const note = async () => (await runtime.readyChecks()[0]?.check())?.note;
      await expect.poll(note).toMatch(/User "alice" cannot watch resource "widgets"/);
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      await cluster.request("POST", `${rbac}/roles`, {
        metadata: { name: "r" },
        rules: [
          { apiGroups: ["test.postern.io"], resources: ["widgets"], verbs: ["list", "watch"] },
        ],
      });
      await cluster.request("POST", `${rbac}/rolebindings`, {
        metadata: { name: "r" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
      });
      await expect
        .poll(async () => {
          await clock.move(30_000);
          return note();
        })
        .toBe("0 objects");
    },
  );

  test("nothing secret reaches the log", async () => {
    const lines: string[] = [];
    const log = makeLog({ level: "debug", write: (line) => lines.push(line) });
    const feature = widgetFeature({
      observe: async (_widget, reconcile) => {
        reconcile.log.info({ token: "abc", nested: { clientSecret: "def" } }, "looking");
        throw new Error("refused: Bearer ghijklmnop, client_secret=qrstuv&x=1");
      },
    });
    const { make } = await runtimeWith([feature], { log });
    await make("a", { size: 1 });
    await expect.poll(() => lines.some((line) => line.includes("reconcile failed"))).toBe(true);
    const text = lines.join("");
    expect(text).toContain('"msg":"looking"');
    for (const secret of ['abc"', "def", "ghijklmnop", "qrstuv"])
      expect(text).not.toContain(secret);
  });
});

function explained(failure: ReturnType<Explained["explain"]>): Explained {
  return Object.assign(new Error(failure.message), { explain: () => failure });
}

/** The widgets and events of one namespace, as a person with kubectl sees and changes them. */
function at(cluster: Cluster, namespace: string) {
  const path = (name = "") =>
    `/apis/test.postern.io/v1/namespaces/${namespace}/widgets${name && `/${name}`}`;
  return {
    make: (name: string, spec: Widget["spec"], metadata: Partial<Widget["metadata"]> = {}) =>
      cluster.request("POST", path(), {
        apiVersion: "test.postern.io/v1",
        kind: "Widget",
        metadata: { name, ...metadata },
        spec,
      }),
    get: async (name: string) => (await cluster.request<Widget>("GET", path(name))).body,
    patch: (name: string, change: unknown) =>
      cluster.request("PATCH", path(name), change, { contentType: "application/merge-patch+json" }),
    remove: (name: string) => cluster.request("DELETE", path(name)),
    events: async () =>
      (
        await cluster.request<{
          items: { type: string; reason: string; note: string; regarding: object }[];
        }>("GET", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
      ).body.items,
  };
}
