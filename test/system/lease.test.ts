import { randomBytes } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { Lease } from "postern/kube/lease.ts";
import { silentLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock, settle } from "../manual-clock.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { type SlowApi, slowApi } from "../setup/slow-api.ts";

describeOnCluster("leader election on a real API server", (cluster) => {
  // Requests go over real sockets while the clock is moved by hand: it stands still while one is under way.
  let underWay = 0;

  /** One process that wants to lead. Its network can be cut, or swallow everything. */
  async function candidate(
    namespace: string,
    clock: ManualClock,
    identity = randomBytes(4).toString("hex"),
    slow?: SlowApi,
  ) {
    const network = await wire(cluster.url);
    const connection = await fromKubeconfig(cluster.kubeconfig);
    const client = new KubeClient({ ...connection, server: new URL(slow?.url ?? network.url) });
    const send = client.request.bind(client);
    client.request = async (...asked) => {
      // What is swallowed is not waited for.
      const counted = network.state !== "silent";
      if (counted) underWay++;
      try {
        return await send(...asked);
      } finally {
        if (counted) underWay--;
      }
    };
    const lease = new Lease({
      client,
      namespace,
      name: "postern",
      identity,
      clock,
      log: silentLog,
    });
    const said: string[] = [];
    const stop = new AbortController();
    const running = lease.run(stop.signal, {
      begin: () => said.push("begin"),
      end: async () => void said.push("end"),
    });
    const end = async () => {
      stop.abort();
      await running;
      client.close();
    };
    onTestFinished(end);
    return { lease, said, end, network };
  }

  /** Move the clock a little and let all requests be answered, but those that are delayed by that clock. */
  async function tick(clock: ManualClock, slow: readonly SlowApi[] = []): Promise<void> {
    await clock.move(250);
    const delayed = () => slow.reduce((sum, each) => sum + each.underWay, 0);
    while (underWay > delayed()) await settle();
    await settle();
  }

  /** Move the clock by small steps until something is so, and give how long it took. */
  async function moveUntil(
    clock: ManualClock,
    claim: () => boolean,
    limitMs = 60_000,
  ): Promise<number> {
    const start = clock.now();
    while (!claim()) {
      if (clock.now() - start >= limitMs) throw new Error(`not so after ${limitMs} ms`);
      await tick(clock);
    }
    return clock.now() - start;
  }

  test("of three that want to lead one does, and the Lease names it", async () => {
    const namespace = await cluster.namespace();
    const clock = new ManualClock(Date.now());
    const all = await Promise.all(["a", "b", "c"].map((name) => candidate(namespace, clock, name)));
    await moveUntil(clock, () => all.some((each) => each.lease.mayWrite()));
    for (let i = 0; i < 80; i++) {
      await tick(clock);
      expect(all.filter((each) => each.lease.mayWrite()).length).toBeLessThanOrEqual(1);
    }
    const leader = all.findIndex((each) => each.said.length > 0);
    expect(all.filter((each) => each.said.length > 0).length).toBe(1);
    const { body } = await cluster.request<{ spec: Record<string, unknown> }>(
      "GET",
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/postern`,
    );
    expect(body.spec).toMatchObject({
      holderIdentity: ["a", "b", "c"][leader],
      leaseDurationSeconds: 15,
    });
  });

  test("a process is told each time that it comes to lead, so that it forgets what it saw before", async () => {
    const namespace = await cluster.namespace();
    const clock = new ManualClock(Date.now());
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig));
    let terms = 0;
    const runtime = new Runtime({
      client,
      clock,
      log: silentLog,
      features: [],
      lease: { namespace, name: "postern", identity: "first" },
      onElected: () => terms++,
    });
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      client.close();
    });
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/postern`;
    // Its requests are answered in their own time: one of ours is a good while to wait.
    const until = async (claim: () => boolean) => {
      for (let tries = 0; !claim(); tries++) {
        if (tries > 500) throw new Error("not so after 500 steps");
        await clock.move(250);
        await cluster.request("GET", path);
      }
    };
    await until(() => runtime.leading);
    expect(terms).toBe(1);
    const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "another", renewTime, leaseDurationSeconds: 15 };
    await cluster.request("PATCH", path, { spec }, { contentType: "application/merge-patch+json" });
    await until(() => !runtime.leading);
    await until(() => runtime.leading);
    expect(terms).toBe(2);
  });

  test("a leader that stops lets go, and the next one leads within its next tries", async () => {
    const namespace = await cluster.namespace();
    const clock = new ManualClock(Date.now());
    const first = await candidate(namespace, clock);
    await moveUntil(clock, () => first.lease.mayWrite());
    const second = await candidate(namespace, clock);
    await clock.move(100);
    await first.end();
    expect(first.said).toEqual(["begin", "end"]);
    const tookMs = await moveUntil(clock, () => second.lease.mayWrite());
    expect(tookMs).toBeLessThan(10_000);
  });

  test("a leader that is cut off writes no more after 10 s, before another leads after 15 s", async () => {
    const namespace = await cluster.namespace();
    const clock = new ManualClock(Date.now());
    const first = await candidate(namespace, clock);
    await moveUntil(clock, () => first.lease.mayWrite());
    const second = await candidate(namespace, clock);
    await moveUntil(clock, () => second.lease.holder !== undefined);
    first.network.set("cut");
    let both = false;
    const fencedMs = await moveUntil(clock, () => {
      both ||= first.lease.mayWrite() && second.lease.mayWrite();
      return !first.lease.mayWrite();
    });
    expect(fencedMs).toBeLessThanOrEqual(10_000);
    expect(second.lease.mayWrite()).toBe(false);
    await moveUntil(clock, () => {
      both ||= first.lease.mayWrite() && second.lease.mayWrite();
      return second.lease.mayWrite();
    });
    expect(both).toBe(false);
    expect(first.said).toEqual(["begin", "end"]);

    // Back on the network it follows, and leads again only when the other has gone.
    first.network.set("up");
    await moveUntil(clock, () => first.lease.holder !== undefined);
    await second.end();
    await moveUntil(clock, () => first.lease.mayWrite());
    expect(first.said).toEqual(["begin", "end", "begin"]);
  });

  test.each([2, 5])(
    "a leader keeps its lease and may always write where each request takes %d s",
    async (seconds) => {
      const namespace = await cluster.namespace();
      const clock = new ManualClock(Date.now());
      const slow = await slowApi(cluster, clock, () => seconds * 1000);
      const all = [
        await candidate(namespace, clock, "a", slow),
        await candidate(namespace, clock, "b", slow),
      ];
      const leader = () => all.find((each) => each.lease.mayWrite());
      while (leader() === undefined) await tick(clock, [slow]);
      const first = leader();
      const end = clock.now() + 5 * 60_000;
      while (clock.now() < end) {
        await tick(clock, [slow]);
        expect(leader()).toBe(first);
      }
      expect(first?.said).toEqual(["begin"]);
      // Its last request is delayed too.
      let ended = false;
      void Promise.all(all.map((each) => each.end())).then(() => {
        ended = true;
      });
      while (!ended) await clock.move(250);
    },
  );

  test("a leader whose requests are swallowed writes no more after 10 s and is told to end", async () => {
    const clock = new ManualClock(Date.now());
    const first = await candidate(await cluster.namespace(), clock);
    await moveUntil(clock, () => first.lease.mayWrite());
    first.network.set("silent");
    expect(await moveUntil(clock, () => !first.lease.mayWrite())).toBeLessThanOrEqual(10_000);
    expect(await moveUntil(clock, () => first.said.includes("end"))).toBeLessThanOrEqual(500);
    expect(first.lease.failure).toBe("the API server did not answer in time");
    expect(first.lease.holder).toBeUndefined();
  });
});

/** A wire to the API server that can be cut, or left connected and carry nothing. */
async function wire(to: string) {
  const far = new URL(to);
  const sockets = new Set<Socket>();
  let state: "up" | "cut" | "silent" = "up";
  const server = createServer((near) => {
    if (state === "cut") return near.destroy();
    const onward = connect(Number(far.port), far.hostname);
    for (const [from, into] of [
      [near, onward],
      [onward, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => {
        if (state === "up") into.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        into.destroy();
      });
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cutAll();
    server.close();
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get state() {
      return state;
    },
    set(to: typeof state) {
      state = to;
      if (to === "cut") cutAll();
    },
  };
}
