import { type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import type { ClusterPage } from "@postern/core/dashboard/cluster-page.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { expect, onTestFinished, test } from "vitest";
import { link, oneWorld } from "../../../../test/cli/one-world.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { conditions } from "../hosted/names.ts";
import { KubeClient } from "../kube/client.ts";
import type { Step } from "../kube/feature.ts";
import { Journal } from "../kube/journal.ts";
import { makeLog, silentLog } from "../kube/log.ts";
import { type MakeFeature, Runtime } from "../kube/runtime.ts";
import { Access } from "../kube/serving/access.ts";
import { ServingCertificate } from "../kube/serving/certificate.ts";
import type { StepPolicy } from "../kube/step-policy.ts";
import type { World } from "../view/world.ts";
import { type DashboardOptions, serveDashboard } from "./dashboard.ts";

const nothing: World = {
  kube: { hostedClusters: [], controlPlanes: [], links: [], azureClusters: [] },
  azure: {
    networks: [],
    loadBalancers: [],
    linkServices: [],
    endpoints: [],
    interfaces: [],
    zones: [],
  },
  unread: [],
};

const oneCluster: World = {
  ...nothing,
  kube: {
    ...nothing.kube,
    hostedClusters: [
      {
        metadata: { namespace: "clusters", name: "one", uid: "1" },
        spec: { platform: { type: "Azure" } },
      },
    ],
  },
};

/** A dashboard over a world; Kubernetes shows its events to nobody. */
async function dashboard(
  gather: () => Promise<World> = async () => nothing,
  over: Partial<DashboardOptions> = {},
) {
  const { url: kubernetes } = await serve((_, response) =>
    json(response, 403, { kind: "Status", reason: "Forbidden", message: "no" }),
  );
  const proof = async () => ({});
  const at = { server: new URL(kubernetes), namespace: "default", source: "the test", proof };
  const kube = new KubeClient(at);
  const journal = new Journal();
  const lines: string[] = [];
  const made = await serveDashboard({
    listen: { host: "127.0.0.1", port: 0 },
    mode: "local",
    version: "0",
    log: makeLog({ write: (line) => lines.push(line) }),
    source: {
      kube: () => kube,
      runtime: () => undefined,
      journal: () => journal,
      budgets: () => [],
      gather,
    },
    ...over,
  });
  onTestFinished(async () => {
    await made.close();
    kube.close();
  });
  const { port } = new URL(made.url);
  /** Ask as a browser or anyone else might; `fetch` would choose the headers itself. */
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET", body = "") =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  return { ...made, ask, journal, lines, port };
}

/** A runtime that leads, over an API server with one object. */
async function running(
  object: KubeObject | undefined,
  features: readonly MakeFeature[],
  policy?: StepPolicy,
) {
  const { url } = await serve(({ url: path }, response) => {
    if (path.includes("sendInitialEvents")) return json(response, 400, { kind: "Status" });
    // A watch on which nothing happens.
    if (path.includes("watch=")) return void response.writeHead(200).flushHeaders();
    json(response, 200, { metadata: { resourceVersion: "1" }, items: [object] });
  });
  const proof = async () => ({});
  const client = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const runtime = new Runtime({ client, log: silentLog, features, policy });
  const stop = new AbortController();
  const ran = runtime.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ran;
    client.close();
  });
  await Promise.all(runtime.caches.all().map(({ filled }) => filled));
  await expect.poll(() => runtime.leading).toBe(true);
  return { runtime, client };
}

const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;

test("only those who call it by the name of this machine are answered", async () => {
  const { ask, port } = await dashboard();
  const own = `localhost:${port}`;
  const about = (headers: Record<string, string>) => statusOf(ask("/api/about", headers));
  expect(await about({ host: own })).toBe(200);
  expect(await about({ host: `[::1]:${port}` })).toBe(200);
  expect(await about({ host: own, origin: `http://${own}` })).toBe(200);
  expect(await about({ host: "rebound.example" })).toBe(403);
  expect(await about({ host: `127.0.0.1.example:${port}` })).toBe(403);
  expect(await about({ host: own, origin: "http://evil.example" })).toBe(403);
  expect(await about({ host: own, origin: "http://localhost:1" })).toBe(403);
  expect(await about({ host: own, origin: "null" })).toBe(403);
});

test("a page of another site gets no data, but may link to the dashboard", async () => {
  const { ask } = await dashboard();
  const foreign = { "sec-fetch-site": "cross-site" };
  expect(await statusOf(ask("/api/overview", foreign))).toBe(403);
  expect(await statusOf(ask("/", foreign))).not.toBe(403);
  expect(await statusOf(ask("/api/overview", { "sec-fetch-site": "same-origin" }))).toBe(200);
});

test.each([
  ["an address that cannot be read", "GET", "/%", 400],
  ["a name that cannot be read", "GET", "/api/clusters/%E0/one", 400],
  ["a cluster that is not there", "GET", "/api/clusters/clusters/none", 404],
  ["a page that is not there", "GET", "/api/none", 404],
  ["a write where there is only something to read", "POST", "/api/overview", 405],
  ["an action where there are none", "POST", "/api/actions/throttle", 404],
  ["the head of a stream", "HEAD", "/api/stream", 404],
  ["a file outside of its folder", "GET", "/..%2f..%2fpackage.json", 404],
])("%s is answered and does no harm", async (_what, method, path, status) => {
  const { ask } = await dashboard();
  const answer = await ask(path, {}, method);
  // Whatever is no file of the dashboard begins with its page, where it is built.
  if (path.includes("package")) expect(answer.text).not.toContain('"name": "postern');
  else expect(answer.status).toBe(status);
});

test("an action is done for our own page, with a body that can be read, and by nobody else", async () => {
  const done: string[] = [];
  const action = {
    name: "break",
    label: "Break it",
    about: "",
    isDestructive: false,
    do: async (target: string) => `broke ${done.push(target)}`,
  };
  const { ask } = await dashboard(undefined, { actions: [action] });
  const act = (headers: Record<string, string>, body: string) =>
    ask("/api/actions/break", headers, "POST", body);
  expect(await statusOf(act({}, '{"target":"a"}'))).toBe(403);
  expect(await statusOf(act({ "x-postern": "1" }, "null"))).toBe(400);
  expect(await statusOf(act({ "x-postern": "1" }, "{"))).toBe(400);
  expect(done).toEqual([]);
  expect(await act({ "x-postern": "1" }, '{"target":"a"}')).toMatchObject({
    status: 200,
    text: '{"message":"broke 1"}',
  });
});

test("an action whose target is none is an error of whoever asked", async () => {
  const action = {
    name: "break",
    label: "Break it",
    about: "",
    isDestructive: false,
    do: () => Promise.reject(new UsageError("target: zz is no endpoint")),
  };
  const { ask } = await dashboard(undefined, { actions: [action] });
  expect(
    await ask("/api/actions/break", { "x-postern": "1" }, "POST", '{"target":"zz"}'),
  ).toMatchObject({ status: 400, text: expect.stringContaining("zz is no endpoint") });
});

test("pages that ask together cost one look, and those who come while it is under way the next", async () => {
  const requests: (() => void)[] = [];
  const { ask } = await dashboard(
    () => new Promise((resolve) => requests.push(() => resolve(nothing))),
  );
  const first = ask("/api/overview");
  await expect.poll(() => requests.length).toBe(1);
  const late = [ask("/api/overview"), ask("/api/overview"), ask("/api/overview")];
  // They have arrived when a page that is answered at once is.
  await ask("/api/about");
  requests[0]?.();
  await first;
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.();
  expect((await Promise.all(late)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(requests).toHaveLength(2);
});

test("a side that does not answer in time is named as that, and not as a bug", async () => {
  const late = await dashboard(async () => {
    throw new DOMException("timed out", "TimeoutError");
  });
  expect(await late.ask("/api/overview")).toMatchObject({
    status: 504,
    text: expect.stringContaining("did not respond in time"),
  });
  expect(late.lines).toEqual([]);
});

test("a bug is reported in the log, and to the page only that there was one", async () => {
  const { ask, lines } = await dashboard(async () => {
    throw new TypeError("x is undefined");
  });
  const { status, text } = await ask("/api/overview");
  expect([status, text.includes("x is undefined")]).toEqual([500, false]);
  expect(lines.join("")).toContain("x is undefined");
});

test("a page is there although its events may not be read, and says what is missing", async () => {
  const { ask } = await dashboard(async () => oneCluster);
  const { status, text } = await ask("/api/clusters/clusters/one");
  expect(status).toBe(200);
  const { picture } = JSON.parse(text) as { picture: { unread: { what: string }[] } };
  expect(picture.unread.map(({ what }) => what)).toEqual(["events"]);
});

test("a look that contradicts the conditions of a cluster has its objects reconciled with fresh reads", async () => {
  const world = oneWorld({
    azure: { endpoints: [] },
    kube: {
      links: [
        link({
          status: { conditions: [{ type: conditions.endpoint, status: "True", reason: "Done" }] },
        }),
      ],
    },
  });
  const [object] = world.kube.hostedClusters;
  const reconciles: boolean[] = [];
  const observing: MakeFeature = () => ({
    feature: {
      ...{ name: "observing", kind: hostedCluster, conditions: [] },
      observe: async (_, { requestedAt }) => {
        reconciles.push(requestedAt !== undefined);
        return { observed: undefined, context: undefined };
      },
      plan: () => ({ steps: [], conditions: [], requeue: "drift" }),
      apply: () => Promise.reject(new Error("nothing is applied")),
    },
  });
  const { runtime, client } = await running(object, [observing]);
  await expect.poll(() => reconciles.length).toBeGreaterThan(0);
  expect(reconciles).not.toContain(true);
  const source = {
    ...{ kube: () => client, runtime: () => runtime, journal: () => new Journal() },
    ...{ budgets: () => [], gather: async () => world },
  };
  const { ask } = await dashboard(undefined, { source });
  expect((await ask("/api/overview")).status).toBe(200);
  await expect.poll(() => reconciles).toContain(true);
});

test("the page of a cluster shows which steps the operator's policy withholds, as `postern plan` does", async () => {
  const world = oneWorld({});
  const [object] = world.kube.hostedClusters;
  const removal = {
    verb: "delete",
    do: "delete private endpoint",
    name: "pe",
    why: "it is obsolete",
  };
  const removing: MakeFeature = () => ({
    feature: {
      ...{ name: "removing", kind: hostedCluster, conditions: [] },
      observe: async () => ({ observed: undefined, context: undefined }),
      plan: () => ({ steps: [removal as Step], conditions: [], requeue: "drift" }),
      apply: () => Promise.reject(new Error("nothing is applied")),
    },
  });
  const { runtime, client } = await running(object, [removing], "upsert-only");
  const source = {
    ...{ kube: () => client, runtime: () => runtime, journal: () => new Journal() },
    ...{ budgets: () => [], gather: async () => world },
  };
  const { ask } = await dashboard(undefined, { source });
  const { text } = await ask(`/api/clusters/${keyOf(object as KubeObject)}`);
  const { plans } = JSON.parse(text) as ClusterPage;
  expect(plans).toMatchObject([{ steps: [], withheld: [{ name: "pe", why: "it is obsolete" }] }]);
});

test("a cluster whose conditions have neither reason nor message, as Cluster API writes them, has its page", async () => {
  const conditions = [{ type: "PrivateLinksReady", status: "True" }];
  const world = {
    ...nothing,
    kube: {
      ...nothing.kube,
      azureClusters: [
        {
          metadata: { namespace: "org", name: "one", uid: "1" },
          spec: { networkSpec: { apiServerLB: { type: "Internal" } } },
          status: { conditions },
        },
      ],
    },
  } as unknown as World;
  const { ask } = await dashboard(async () => world);
  const { status, text } = await ask("/api/clusters/org/one");
  expect([status, text]).toEqual([200, expect.anything()]);
  const page = JSON.parse(text) as { conditions: { conditions: { message: string }[] }[] };
  expect(page.conditions.flatMap((each) => each.conditions)).toMatchObject([
    { type: "PrivateLinksReady", message: "" },
  ]);
});

test("steps are streamed as they happen, also after the runtime was replaced", async () => {
  const { url, renew, journal } = await dashboard();
  const { body } = await fetch(`${url}/api/stream`);
  const words = body?.pipeThrough(new TextDecoderStream()).getReader();
  let heard = "";
  const hear = async (wanted: string) => {
    while (!heard.includes(wanted)) {
      const { value, done } = (await words?.read()) ?? { done: true };
      if (done) return false;
      heard += value;
    }
    return true;
  };
  expect(await hear("event: change")).toBe(true);
  const step = {
    controller: "link",
    kind: "Link",
    key: "n/a",
    do: "create link service",
    name: "pls-a",
    why: "it is missing",
  };
  journal.begin("pass", { ...step, at: "2026-01-01T00:00:00.000Z" });
  expect(await hear('"name":"pls-a"')).toBe(true);
  heard = "";
  renew();
  expect(await hear("event: change")).toBe(true);
  journal.begin("next", { ...step, name: "pls-b", at: "2026-01-01T00:00:01.000Z" });
  expect(await hear('"name":"pls-b"')).toBe(true);
});

test("attack: a page that stays open after its user has lost the permission hears nothing more", async () => {
  let isAllowed = true;
  const { url } = await serve(({ url: path }, response) => {
    const user = { authenticated: true, user: { username: "reader" } };
    json(response, 201, { status: path.endsWith("/tokenreviews") ? user : { allowed: isAllowed } });
  });
  const proof = async () => ({});
  const client = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const clock = new ManualClock();
  const access = new Access({ client, clock, log: silentLog });
  const certificate = await ServingCertificate.start({ files: undefined, clock, log: silentLog });
  onTestFinished(() => {
    certificate.close();
    access.close();
    client.close();
  });
  const source = {
    ...{ kube: () => client, runtime: () => undefined, journal: () => new Journal(), clock },
    ...{ budgets: () => [], gather: async () => nothing },
  };
  const { url: page } = await dashboard(undefined, {
    source,
    protection: { access, certificate },
  });
  const headers = { authorization: "Bearer a-token" };
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { rejectUnauthorized: false, headers };
    requestTls(`${page}/api/stream`, options, resolve).on("error", reject).end();
  });
  let heard = "";
  stream.on("data", (chunk) => {
    heard += chunk;
  });
  const pulse = async (wanted: number) => {
    await clock.move(15_000);
    await expect.poll(() => heard.split("event: pulse").length - 1).toBe(wanted);
  };
  await pulse(1);
  await pulse(2);
  await pulse(3);
  expect(stream.readableEnded).toBe(false);
  isAllowed = false;
  await clock.move(45_000);
  await expect.poll(() => stream.readableEnded).toBe(true);
});
