import type { Kind } from "@postern/core/kind.ts";
import { describe, expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { KubeClient } from "./client.ts";
import type { Connection, Proof } from "./credentials.ts";
import { KubeError } from "./errors.ts";

const things: Kind = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
const place = { kind: things, namespace: "ns", name: "a" };

function connectionTo(
  url: string,
  proof: Connection["proof"] = async () => ({ authorization: "Bearer one" }),
): Connection {
  return { server: new URL(url), namespace: "default", source: "the test", proof };
}

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

test("an object that is not there is undefined and not an error", async () => {
  const { url } = await serve((_request, response) =>
    json(response, 404, { kind: "Status", reason: "NotFound", message: "gone" }),
  );
  expect(await new KubeClient(connectionTo(url)).get(place)).toBeUndefined();
});

test("an expired token is renewed once and the request sent again", async () => {
  const { url, requests } = await serve((one, response) =>
    one.headers.authorization === "Bearer two"
      ? json(response, 200, { metadata: { name: "a" } })
      : json(response, 401, {
          kind: "Status",
          reason: "Unauthorized",
          message: "token has expired",
        }),
  );
  const proof = async (refused?: Proof) => ({
    authorization: refused?.authorization === "Bearer one" ? "Bearer two" : "Bearer one",
  });
  expect(await new KubeClient(connectionTo(url, proof)).get(place)).toEqual({
    metadata: { name: "a" },
  });
  expect(requests.length).toBe(2);
});

test("a token that stays refused ends in an error that says what to do", async () => {
  const { url, requests } = await serve((_one, response) =>
    json(response, 401, { kind: "Status", reason: "Unauthorized", message: "token has expired" }),
  );
  const error = await failure(new KubeClient(connectionTo(url)).get(place));
  expect(error.explain().message).toBe(
    "GET /apis/example.com/v1/namespaces/ns/things/a failed · token has expired · renew the credentials of this kubeconfig or service account",
  );
  expect(requests.length).toBe(2);
});

test("a busy server is asked again when it said, and not before", async () => {
  const clock = new ManualClock();
  let busy = true;
  const { url, requests } = await serve((_one, response) =>
    busy
      ? json(response, 429, { kind: "Status", reason: "TooManyRequests" }, { "retry-after": "7" })
      : json(response, 200, { metadata: { name: "a" } }),
  );
  const got = new KubeClient(connectionTo(url), { clock }).get(place);
  await expect.poll(() => clock.timers).toBe(1);
  busy = false;
  await clock.move(6_999);
  expect(requests.length).toBe(1);
  await clock.move(1);
  expect(await got).toEqual({ metadata: { name: "a" } });
});

test("a page of a proxy instead of an answer is reported without its text", async () => {
  const { url } = await serve((_one, response) =>
    response.writeHead(502, { "content-type": "text/html" }).end("<html>secret page</html>"),
  );
  const error = await failure(new KubeClient(connectionTo(url)).get(place));
  expect(error.code).toBe("ServerError");
  expect(error.message).not.toContain("secret");
  const ok = await serve((_one, response) => response.writeHead(200).end("<html>sign in</html>"));
  expect((await failure(new KubeClient(connectionTo(ok.url)).get(place))).code).toBe(
    "UnreadableAnswer",
  );
});

test("an answer that is cut off is an error and not half an object", async () => {
  const { url } = await serve((_one, response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"metadata":');
    setImmediate(() => response.destroy());
  });
  expect((await failure(new KubeClient(connectionTo(url)).get(place))).code).toBe(
    "UnreadableAnswer",
  );
});

test("a server that is not there is named with its address", async () => {
  const error = await failure(new KubeClient(connectionTo("http://127.0.0.1:1")).get(place));
  expect(error.code).toBe("Unreachable");
  expect(error.message).toContain("127.0.0.1:1: ECONNREFUSED");
});

test("a kept socket that the server closed meanwhile costs no request", async () => {
  let requests = 0;
  const { url, server } = await serve((_one, response, request) => {
    // Every second request on a kept socket finds it closed, as when the server drains.
    if (++requests % 2 === 0) request.socket.destroy();
    else json(response, 200, { metadata: { name: "a" } });
  });
  server.keepAliveTimeout = 60_000;
  const client = new KubeClient(connectionTo(url), { maxSockets: 1 });
  for (let i = 0; i < 10; i++) expect(await client.get(place)).toEqual({ metadata: { name: "a" } });
  client.close();
});

test("every page of a list is read", async () => {
  const { url, requests } = await serve((one, response) => {
    const next = new URL(one.url, "http://x").searchParams.get("continue");
    const page = next === null ? 1 : Number(next);
    json(response, 200, {
      metadata: { resourceVersion: "9", ...(page < 3 && { continue: String(page + 1) }) },
      items: [{ metadata: { name: `p${page}` } }],
    });
  });
  const names: string[] = [];
  for await (const page of new KubeClient(connectionTo(url)).list(things))
    names.push(...page.items.map((each) => each.metadata.name));
  expect(names).toEqual(["p1", "p2", "p3"]);
  expect(requests.length).toBe(3);
});

test("each watch has a socket of its own, however many requests are in flight", async () => {
  const sockets = new Map<string, Set<unknown>>([
    ["watch", new Set()],
    ["other", new Set()],
  ]);
  const { url } = await serve((one, response, request) => {
    sockets.get(one.url.includes("watch=true") ? "watch" : "other")?.add(request.socket);
    if (one.url.includes("watch=true")) response.writeHead(200).write("{}\n");
    else json(response, 200, { metadata: { name: "a" } });
  });
  const client = new KubeClient(connectionTo(url), { maxSockets: 4 });
  const stop = new AbortController();
  const heard: string[] = [];
  const watches = [1, 2].map((i) =>
    client.watch(
      `/apis/example.com/v1/things?watch=true&n=${i}`,
      (bytes) => heard.push(String(bytes)) > 0,
      { signal: stop.signal },
    ),
  );
  await expect.poll(() => heard.length).toBe(2);
  await Promise.all(Array.from({ length: 50 }, () => client.get(place)));
  expect(sockets.get("watch")?.size).toBe(2);
  expect(sockets.get("other")?.size).toBeLessThanOrEqual(4);
  for (const socket of sockets.get("watch") ?? [])
    expect(sockets.get("other")?.has(socket)).toBe(false);
  stop.abort();
  await Promise.all(watches);
  client.close();
});

test("a credential plugin that hangs holds up nobody for longer than they wait", async () => {
  const client = new KubeClient(connectionTo("http://127.0.0.1:1", () => new Promise(() => {})));
  const stop = new AbortController();
  const asked = client.get(place, stop.signal);
  stop.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
});

describe("a server that is not trusted, and does not end its answer", () => {
  const limits = { totalMs: 300, answerBytes: 1_000 };
  const get = async (answer: Parameters<typeof serve>[0]) => {
    const { url } = await serve(answer);
    const client = new KubeClient(connectionTo(url), { limits });
    return failure(client.get(place));
  };

  test("byte by byte", async () => {
    const error = await get((_request, response) => {
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    });
    expect(error.code).toBe("Timeout");
    expect(error.message).toContain("it was not answered within 0.3 s");
  });

  test("and asks to try again in a day", async () => {
    const status = { kind: "Status", reason: "TooManyRequests", message: "busy" };
    const error = await get((_request, response) =>
      json(response, 429, status, { "retry-after": "86400" }),
    );
    expect(error.code).toBe("Timeout");
  });

  test("and says null", async () => {
    const error = await get((_request, response) => json(response, 200, null));
    expect(error.code).toBe("UnreadableAnswer");
  });
});

test("a write that waits for a socket is not sent if the lead is lost before it gets one", async () => {
  let answer: (() => void) | undefined;
  const { url, requests } = await serve(({ method }, response) => {
    const done = () => json(response, 200, { metadata: { name: "a" } });
    if (method === "GET") answer = done;
    else done();
  });
  const client = new KubeClient(connectionTo(url), { maxSockets: 1 });
  let leads = true;
  client.guard(() => leads);
  const read = client.get(place);
  await expect.poll(() => answer).toBeDefined();
  const write = failure(client.patch(place, "merge", {}));
  const next = client.request("GET", "/version");
  await settle();
  leads = false;
  answer?.();
  await read;
  expect(await write).toMatchObject({ code: "NotLeader" });
  // The socket is still good for the next one.
  await expect.poll(() => requests.length).toBe(2);
  answer?.();
  await next;
  expect(requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
});
