import type { ServerResponse } from "node:http";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { expect, onTestFinished, test } from "vitest";
import { json, type ReceivedRequest, serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { type Change, WatchCache } from "./cache.ts";
import { KubeClient } from "./client.ts";
import { makeLog } from "./log.ts";

interface Thing extends KubeObject {
  spec?: { colour: string };
}

const things: Kind<Thing> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

const thing = (name: string, version: number, colour = "red"): Thing => ({
  metadata: { name, namespace: "ns", resourceVersion: String(version) },
  spec: { colour },
});
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const listed = (version: number) =>
  event("BOOKMARK", {
    metadata: {
      resourceVersion: String(version),
      annotations: { "k8s.io/initial-events-end": "true" },
    },
  });

/** A cache on a server whose n-th watch is answered by the n-th of `watches`; the last one stays open. */
async function cacheOn(
  watches: ((response: ServerResponse, request: ReceivedRequest) => void)[],
  options: {
    list?: (request: ReceivedRequest, response: ServerResponse) => void;
    pagedList?: boolean;
  } = {},
) {
  const clock = new ManualClock();
  const lines: string[] = [];
  let opened = 0;
  const { url, requests } = await serve((one, response) => {
    if (!one.url.includes("watch=true")) {
      options.list?.(one, response);
      return;
    }
    const answer = watches[Math.min(opened++, watches.length - 1)];
    answer?.(response, one);
  });
  const client = new KubeClient({
    server: new URL(url),
    namespace: "default",
    source: "the test",
    proof: async () => ({}),
  });
  const cache = new WatchCache({
    client,
    kind: things,
    log: makeLog({ write: (line) => lines.push(line) }),
    clock,
    ...(options.pagedList && { pagedList: true }),
  });
  cache.index("colour", (object) => (object.spec ? [object.spec.colour] : []));
  const changes: Change<Thing>[] = [];
  cache.onChange((change) => changes.push(change));
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const notified = () =>
    changes.map(
      ({ key, before, after }) =>
        `${before ? "-" : ""}${after ? "+" : ""}${key}@${after?.metadata.resourceVersion ?? ""}`,
    );
  const urls = () => requests.map((one) => one.url);
  /** Let the pauses between tries pass until something is so. */
  const eventually = (claim: () => unknown) =>
    expect.poll(async () => {
      await clock.move(10_000);
      return claim();
    });
  return { cache, changes, notified, urls, eventually, clock, log: () => lines.join("") };
}

const open = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200).write(text);
const ends = (text: string) => (response: ServerResponse) => void response.writeHead(200).end(text);

test("is filled by a streamed list and kept in step by the events behind it", async () => {
  const { cache, notified, urls } = await cacheOn([
    open(
      event("ADDED", thing("a", 3)) +
        event("ADDED", thing("b", 2)) +
        listed(5) +
        event("MODIFIED", thing("a", 6, "blue")) +
        event("DELETED", thing("b", 7)),
    ),
  ]);
  await cache.filled;
  await expect.poll(notified).toEqual(["+ns/a@3", "+ns/b@2", "-+ns/a@6", "-ns/b@"]);
  expect(urls()[0]).toMatch(/sendInitialEvents=true&resourceVersionMatch=NotOlderThan/);
  expect(cache.list().map((each) => each.metadata.name)).toEqual(["a"]);
});

test("an object that an index cannot read is there all the same, and holds up no other", async () => {
  const broken = { ...thing("broken", 1), spec: null };
  const { cache, log } = await cacheOn([
    open(event("ADDED", broken) + event("ADDED", thing("b", 2)) + listed(2)),
  ]);
  cache.index("broken", ({ spec }) => [(spec as { colour: string }).colour]);
  await cache.filled;
  expect(cache.list()).toHaveLength(2);
  expect(cache.byIndex("broken", "red").map((one) => one.metadata.name)).toEqual(["b"]);
  expect(log()).toContain("object cannot be indexed");
});

test("an index follows its objects", async () => {
  const { cache, notified } = await cacheOn([
    open(
      event("ADDED", thing("a", 1)) +
        event("ADDED", thing("b", 2)) +
        listed(3) +
        event("MODIFIED", thing("a", 4, "blue")) +
        event("DELETED", thing("b", 5)),
    ),
  ]);
  await expect.poll(() => notified().length).toBe(4);
  expect(cache.byIndex("colour", "red")).toEqual([]);
  expect(cache.byIndex("colour", "blue").map((each) => each.metadata.name)).toEqual(["a"]);
});

test("a watch that ends goes on from the last version heard, a bookmark's included", async () => {
  const { urls, notified, eventually } = await cacheOn([
    ends(
      event("ADDED", thing("a", 3)) +
        listed(5) +
        event("BOOKMARK", { metadata: { resourceVersion: "42" } }),
    ),
    open(event("MODIFIED", thing("a", 43))),
  ]);
  await eventually(notified).toEqual(["+ns/a@3", "-+ns/a@43"]);
  expect(urls()[1]).toMatch(/resourceVersion=42$/);
});

test("a connection that is cut goes on from the last version heard", async () => {
  const { urls, notified, eventually } = await cacheOn([
    (response) => {
      response
        .writeHead(200)
        .write(event("ADDED", thing("a", 3)) + listed(5), () => response.destroy());
    },
    open(event("MODIFIED", thing("a", 6))),
  ]);
  await eventually(notified).toEqual(["+ns/a@3", "-+ns/a@6"]);
  expect(urls()[1]).toMatch(/resourceVersion=5$/);
});

test("a half-written line is reported, not taken, and what it would have said is asked for again", async () => {
  const { urls, notified, eventually, log } = await cacheOn([
    ends(event("ADDED", thing("a", 3)) + listed(5) + event("MODIFIED", thing("a", 6)).slice(0, 40)),
    open(event("MODIFIED", thing("a", 6))),
  ]);
  await eventually(notified).toEqual(["+ns/a@3", "-+ns/a@6"]);
  expect(urls()[1]).toMatch(/resourceVersion=5$/);
  expect(log()).toContain("watch of things ended within a line");
});

test("a line that is not JSON does not end the cache", async () => {
  const { notified, eventually } = await cacheOn([
    open(`${event("ADDED", thing("a", 3))}${listed(5)}<html>proxy</html>\n`),
    open(event("MODIFIED", thing("a", 6))),
  ]);
  await eventually(notified).toEqual(["+ns/a@3", "-+ns/a@6"]);
});

test.each([
  [
    "as an event",
    open(event("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" })),
  ],
  [
    "as the answer",
    (response: ServerResponse) =>
      json(response, 410, { kind: "Status", code: 410, reason: "Gone" }),
  ],
])(
  "a version that the server has forgotten, told %s, lists anew and finds what changed meanwhile",
  async (_how, expired) => {
    const { notified, urls, eventually, cache } = await cacheOn([
      ends(
        event("ADDED", thing("a", 3)) +
          event("ADDED", thing("b", 4)) +
          event("ADDED", thing("c", 5)) +
          listed(5),
      ),
      expired,
      open(
        event("ADDED", thing("a", 3)) +
          event("ADDED", thing("b", 9)) +
          event("ADDED", thing("d", 10)) +
          listed(11),
      ),
    ]);
    await eventually(notified).toEqual([
      "+ns/a@3",
      "+ns/b@4",
      "+ns/c@5",
      "-+ns/b@9",
      "+ns/d@10",
      "-ns/c@",
    ]);
    expect(urls()[2]).toMatch(/sendInitialEvents=true/);
    expect(cache.list().length).toBe(3);
  },
);

test("a first list that breaks off is begun again and nobody is told that it was whole", async () => {
  const { cache, notified, eventually } = await cacheOn([
    ends(event("ADDED", thing("a", 3))),
    open(event("ADDED", thing("a", 3)) + event("ADDED", thing("b", 4)) + listed(5)),
  ]);
  await expect.poll(notified).toEqual(["+ns/a@3"]);
  expect(cache.health().filled).toBe(false);
  await eventually(notified).toEqual(["+ns/a@3", "+ns/b@4"]);
  expect(cache.health().filled).toBe(true);
});

test("a server without streamed lists is listed by pages", async () => {
  const { notified, urls, eventually } = await cacheOn(
    [
      (response, one) =>
        one.url.includes("sendInitialEvents")
          ? json(response, 422, {
              kind: "Status",
              reason: "Invalid",
              message: "sendInitialEvents is forbidden",
            })
          : open("")(response),
      open(event("ADDED", thing("c", 8))),
    ],
    {
      list: (one, response) => {
        const second = one.url.includes("continue=");
        json(response, 200, {
          metadata: { resourceVersion: "7", ...(!second && { continue: "more" }) },
          items: [
            second
              ? thing("b", 2)
              : { ...thing("a", 1), metadata: { ...thing("a", 1).metadata, managedFields: [{}] } },
          ],
        });
      },
    },
  );
  await eventually(notified).toEqual(["+ns/a@1", "+ns/b@2", "+ns/c@8"]);
  expect(urls().at(-1)).toMatch(/resourceVersion=7$/);
});

test("a server that refuses is asked again after a growing pause and says why on the health page", async () => {
  const { cache, urls, clock } = await cacheOn([
    (response) =>
      json(response, 403, {
        kind: "Status",
        reason: "Forbidden",
        message: "no rights to watch things",
      }),
  ]);
  await expect.poll(() => cache.health().failure).toMatch(/no rights to watch things/);
  const before = urls().length;
  await clock.move(400);
  expect(urls().length).toBe(before);
  await clock.move(60_000);
  await expect.poll(() => urls().length).toBeGreaterThan(before);
});

test.each([
  [404, "NotFound", "the API server does not serve this kind"],
  [403, "Forbidden", "the API server does not allow this kind to be watched"],
])(
  "a kind that is answered with %i is one warning without a stack, until it is served",
  async (status, reason, expected) => {
    let isServed = false;
    const { urls, notified, log, eventually } = await cacheOn([
      (response) =>
        isServed
          ? open(event("ADDED", thing("a", 1)) + listed(5))(response)
          : json(response, status, { kind: "Status", reason, message: "not this one" }),
    ]);
    await eventually(() => urls().length).toBeGreaterThan(4);
    const warnings = log()
      .split("\n")
      .filter((line) => line.includes('"warn"'));
    expect(warnings).toEqual([expect.stringContaining(expected)]);
    expect(warnings[0]).not.toContain("stack");
    isServed = true;
    await eventually(notified).toEqual(["+ns/a@1"]);
    expect(log()).toContain("the kind is watched now");
  },
);

test("a kind that is not served any more is known to be so, until it is served again", async () => {
  let isServed = false;
  const { cache, eventually } = await cacheOn([
    ends(event("ADDED", thing("a", 3)) + listed(5)),
    (response) =>
      isServed
        ? open(event("MODIFIED", thing("a", 6)))(response)
        : json(response, 404, { kind: "Status", reason: "NotFound", message: "no such kind" }),
  ]);
  await cache.filled;
  await eventually(() => cache.health()).toMatchObject({ filled: true, isServed: false });
  isServed = true;
  await eventually(() => cache.health().isServed).toBe(true);
});

test("a server that ends every watch at once is not asked in a hot loop", async () => {
  const { cache, urls, clock } = await cacheOn([ends(listed(5)), ends("")]);
  await cache.filled;
  await expect.poll(() => cache.health().failure).toMatch(/ended as soon as it began/);
  const before = urls().length;
  await clock.move(100);
  expect(urls().length).toBe(before);
});

test("a handler that throws does not keep the others from hearing", async () => {
  const { cache, notified } = await cacheOn([open(listed(5) + event("ADDED", thing("a", 6)))]);
  cache.onChange(() => {
    throw new Error("bug");
  });
  const later: string[] = [];
  cache.onChange(({ key }) => later.push(key));
  await expect.poll(notified).toEqual(["+ns/a@6"]);
  expect(later).toEqual(["ns/a"]);
});
