import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { caller, failure, fakeArm, linkId, refuse } from "../../../../test/azure/fake-arm.ts";
import { HurriedClock } from "../../../../test/azure/hurried-clock.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { Arm } from "./arm.ts";
import { customCloud } from "./clouds.ts";
import { staticToken, type TokenSource } from "./tokens.ts";

const query = { "api-version": "2025-05-01" };
const ok = (response: Parameters<typeof json>[0]) => json(response, 200, { name: "api" });

describe("a request", () => {
  test("carries the token, the version and the numbers that support asks for", async () => {
    const { arm, requests } = await fakeArm((_request, response) => ok(response), {
      userAgent: "postern/1",
    });
    await arm.request("PUT", linkId, { query, body: { a: 1 }, ifMatch: 'W/"x"' });
    expect(requests[0]).toMatchObject({
      method: "PUT",
      url: `${linkId}?api-version=2025-05-01`,
      body: '{"a":1}',
      headers: {
        accept: "application/json",
        authorization: "Bearer token-1",
        "content-type": "application/json",
        "content-length": "7",
        "if-match": 'W/"x"',
        "user-agent": "postern/1",
      },
    });
    expect(requests[0]?.headers["x-ms-client-request-id"]).toMatch(/^[\da-f-]{36}$/);
  });

  test("tells the metrics what it was and what is left", async () => {
    const { arm, reported } = await fakeArm((_request, response) =>
      json(response, 200, {}, { "x-ms-ratelimit-remaining-subscription-global-reads": "3749" }),
    );
    await arm.request("GET", linkId, { query });
    expect(reported).toMatchObject([
      {
        resource: "Microsoft.Network/privateLinkServices",
        verb: "GET",
        thing: "privateLinkServices/api",
        code: "200",
        seconds: 0,
        subscription: "00000000-0000-0000-0000-000000000001",
        throttled: false,
        remaining: 3749,
      },
    ]);
  });

  test("reuses its connection", async () => {
    const ports = new Set<number | undefined>();
    const { url } = await serve((_request, response, request) => {
      ports.add(request.socket.remotePort);
      ok(response);
    });
    const made = new Arm({
      cloud: customCloud({ resourceManager: url }),
      credential: staticToken("t"),
    });
    onTestFinished(() => made.close());
    const arm = made.for(caller());
    for (let i = 0; i < 5; i++) await arm.request("GET", linkId, { query });
    expect(ports.size).toBe(1);
  });

  test.each([
    "no-slash",
    "/a//b",
    "/a/../b",
    "/a/%2E%2e/b",
    "/a?b",
    "/a#b",
    "/a b",
    "//other/host",
    "/a/",
    "",
  ])("is not made for %j, which is no path of Resource Manager", async (path) => {
    const { arm, requests } = await fakeArm((_request, response) => ok(response));
    expect(await failure(arm.request("GET", path))).toMatchObject({ code: "InvalidRequestPath" });
    expect(requests).toEqual([]);
  });
});

describe("an answer that cannot be read", () => {
  test.each([
    ["HTML with 200", 200, "text/html", "<html>secret page</html>"],
    [
      "HTML with 404, which is not an absent resource",
      404,
      "text/html",
      "<html>secret page</html>",
    ],
    ["JSON of nobody knows whom with 404", 404, "application/json", '{"secret":"page"}'],
    ["an empty 404", 404, "application/json", ""],
    ["broken JSON", 200, "application/json", '{"secret page'],
    ["JSON under another name", 200, "text/plain", '{"name":"secret page"}'],
    ["HTML with 403", 403, "text/html; charset=utf-8", "<h1>secret page</h1>"],
  ])("%s", async (_name, status, type, text) => {
    const { arm } = await fakeArm((_request, response) => {
      response.writeHead(status, { "content-type": type });
      response.end(text);
    });
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error.code).toBe("UnreadableAnswer");
    expect(error.absent).toBe(false);
    expect(JSON.stringify(error.explain())).not.toContain("secret");
  });

  test("a read that is cut off is made again", async () => {
    const { arm, requests } = await fakeArm((_request, response) => {
      if (requests.length > 1) return ok(response);
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write('{"name":');
      setImmediate(() => response.destroy());
    });
    expect((await arm.request("GET", linkId, { query })).body).toEqual({ name: "api" });
    expect(requests).toHaveLength(2);
  });

  test("a read that is always cut off says so", async () => {
    const { arm, requests } = await fakeArm((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error).toMatchObject({ code: "UnreadableAnswer", status: 0 });
    expect(requests).toHaveLength(3);
  });

  test("a redirect is not followed, and the token does not go along", async () => {
    const other = await serve((_request, response) => ok(response));
    const { arm } = await fakeArm((_request, response) => {
      response.writeHead(307, { location: `${other.url}${linkId}` });
      response.end();
    });
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error.code).toBe("RedirectRefused");
    expect(other.requests).toEqual([]);
  });
});

describe("a request that fails", () => {
  test.each([408, 500, 502, 503, 504])("a read is made again after %i", async (status) => {
    const { arm, requests } = await fakeArm((_request, response) =>
      requests.length < 3 ? refuse(response, status, "InternalServerError") : ok(response),
    );
    await arm.request("GET", linkId, { query });
    expect(requests).toHaveLength(3);
  });

  test("a read ends after three tries with Azure's own code", async () => {
    const { arm, requests } = await fakeArm((_request, response) =>
      refuse(response, 500, "InternalError"),
    );
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error).toMatchObject({ code: "InternalError", status: 500 });
    expect(requests).toHaveLength(3);
  });

  test("a read is not made again at once when Azure wants to be left alone", async () => {
    const { arm, requests } = await fakeArm((_request, response) =>
      refuse(response, 503, "ServerBusy", { "retry-after": "60" }),
    );
    expect((await failure(arm.request("GET", linkId, { query }))).retryAfterMs).toBe(60_000);
    expect(requests).toHaveLength(1);
  });

  test.each([400, 403, 409, 412, 501])("a read is not made again after %i", async (status) => {
    const { arm, requests } = await fakeArm((_request, response) =>
      refuse(response, status, "SomeCode"),
    );
    expect(await failure(arm.request("GET", linkId, { query }))).toMatchObject({ status });
    expect(requests).toHaveLength(1);
  });

  test.each(["PUT", "DELETE", "POST", "PATCH"] as const)(
    "a %s is not sent again after 500: the next pass reads first",
    async (method) => {
      const { arm, requests } = await fakeArm((_request, response) =>
        refuse(response, 500, "InternalError"),
      );
      expect(await failure(arm.request(method, linkId, { query }))).toMatchObject({ status: 500 });
      expect(requests).toHaveLength(1);
    },
  );

  test("a write whose answer is lost is not sent again, and is looked at at once", async () => {
    const { arm, requests } = await fakeArm((_request, response) => response.destroy());
    const error = await failure(arm.request("PUT", linkId, { query, body: {} }));
    expect(error).toMatchObject({ code: "AnswerLost", retry: "now" });
    expect(error.explain().requeueAfterMs).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test("a write whose answer is cut off is not sent again", async () => {
    const { arm, requests } = await fakeArm((_request, response) => {
      response.writeHead(201, { "content-type": "application/json", "content-length": "100" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    const error = await failure(arm.request("PUT", linkId, { query, body: {} }));
    expect(error.code).toBe("AnswerLost");
    expect(requests).toHaveLength(1);
  });

  test("a read on a kept connection that the server closes is made again on another", async () => {
    const used = new Map<object, number>();
    const { url, requests } = await serve((_request, response, request) => {
      const uses = (used.get(request.socket) ?? 0) + 1;
      used.set(request.socket, uses);
      // The second request on a connection meets a server that is going away.
      if (uses === 2) request.socket.destroy();
      else ok(response);
    });
    const credential = staticToken("t");
    const cloud = customCloud({ resourceManager: url });
    const made = new Arm({ cloud, credential, clock: new HurriedClock() });
    onTestFinished(() => made.close());
    const arm = made.for(caller());
    for (let i = 0; i < 4; i++) await arm.request("GET", linkId, { query });
    expect(requests).toHaveLength(7);
    // A write that meets the same is not sent again: the server may have read it before it went.
    const error = await failure(arm.request("PUT", linkId, { query, body: {} }));
    expect(error.code).toBe("AnswerLost");
    expect(requests).toHaveLength(8);
  });

  test("a write that never left is sent again, and then says that nobody answers", async () => {
    const port = await freePort();
    const clock = new HurriedClock();
    const cloud = customCloud({ resourceManager: `http://127.0.0.1:${port}` });
    const made = new Arm({ cloud, credential: staticToken("t"), clock });
    onTestFinished(() => made.close());
    const error = await failure(made.for(caller()).request("PUT", linkId, { query, body: {} }));
    expect(error).toMatchObject({ code: "Unreachable", status: 0 });
    expect(clock.pausesMs).toHaveLength(2);
  });

  test("a write whose connection never stood, though a socket did, has not left either", async () => {
    const { url, requests } = await serve((_request, response) => ok(response));
    const cloud = customCloud({ resourceManager: url.replace("http:", "https:") });
    const made = new Arm({ cloud, credential: staticToken("t"), clock: new HurriedClock() });
    onTestFinished(() => made.close());
    const error = await failure(made.for(caller()).request("PUT", linkId, { query, body: {} }));
    expect(error.code).toBe("Unreachable");
    expect(requests).toEqual([]);
  });

  test("a server that does not answer is left after the time-out", async () => {
    const clock = new ManualClock();
    let arrived: () => void = () => undefined;
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { arm } = await fakeArm(() => arrived(), { clock });
    const asked = failure(arm.request("GET", linkId, { query }));
    await here;
    await clock.move(30_000);
    expect((await asked).code).toBe("TimedOut");
    expect(clock.timers).toBe(0);
  });

  test("a caller who stops is let go", async () => {
    const stop = new AbortController();
    const { arm } = await fakeArm(() => stop.abort(new Error("shutting down")), {
      caller: { signal: stop.signal },
    });
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error.code).toBe("Cancelled");
  });
});

describe("the token", () => {
  /** A source whose tokens are numbered, and renewed only when one was refused. */
  function numbered(): TokenSource & { refused: string[] } {
    const refused: string[] = [];
    return {
      identity: "numbered",
      refused,
      token: (_signal, old) => {
        if (old !== undefined) refused.push(old);
        return Promise.resolve(`t${refused.length}`);
      },
    };
  }

  test.each(["GET", "PUT"] as const)("a %s refused with 401 goes out once more", async (method) => {
    const credential = numbered();
    const { arm, requests } = await fakeArm(
      ({ headers }, response) =>
        headers.authorization === "Bearer t0"
          ? refuse(response, 401, "ExpiredAuthenticationToken")
          : ok(response),
      { credential },
    );
    await arm.request(method, linkId, { query });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t0",
      "Bearer t1",
    ]);
    expect(credential.refused).toEqual(["t0"]);
  });

  test("one that is refused again is given up with Azure's code", async () => {
    const { arm, requests } = await fakeArm(
      (_request, response) => refuse(response, 401, "InvalidAuthenticationToken"),
      { credential: numbered() },
    );
    const error = await failure(arm.request("GET", linkId, { query }));
    expect(error).toMatchObject({ code: "InvalidAuthenticationToken", status: 401 });
    expect(error.hint).toContain("clock");
    expect(requests).toHaveLength(2);
  });
});

describe("who may write", () => {
  test("nothing is sent by one who does not lead", async () => {
    const { arm, requests } = await fakeArm((_request, response) => ok(response), {
      caller: { mayWrite: () => false },
    });
    for (const method of ["PUT", "DELETE", "POST", "PATCH"] as const)
      expect(await failure(arm.request(method, linkId, { query }))).toMatchObject({
        code: "NotLeader",
      });
    await arm.request("GET", linkId, { query });
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("nothing is sent by one who loses the lead while waiting for its turn", async () => {
    let leads = true;
    const credential: TokenSource = {
      identity: "slow",
      token: () => {
        leads = false;
        return Promise.resolve("t");
      },
    };
    const { arm, requests } = await fakeArm((_request, response) => ok(response), {
      credential,
      caller: { mayWrite: () => leads },
    });
    expect(await failure(arm.request("PUT", linkId, { query }))).toMatchObject({
      code: "NotLeader",
    });
    expect(requests).toEqual([]);
  });
});

describe("a write that waits for a connection", () => {
  /** All connections are taken until `release` is called. */
  async function busy(over: Parameters<typeof fakeArm>[1]) {
    const waiting: (() => void)[] = [];
    const made = await fakeArm(({ method }, response) => {
      if (method === "GET") waiting.push(() => ok(response));
      else ok(response);
    }, over);
    const reads = Array.from({ length: 64 }, () => made.arm.request("GET", linkId, { query }));
    await expect.poll(() => waiting.length).toBe(64);
    const release = async () => {
      for (const answer of waiting) answer();
      await Promise.all(reads);
    };
    return { ...made, release };
  }

  test("is not sent if the lead is lost before it gets one", async () => {
    let leads = true;
    const { arm, requests, release } = await busy({ caller: { mayWrite: () => leads } });
    const write = failure(arm.request("PUT", linkId, { query, body: {} }));
    await settle();
    leads = false;
    await release();
    expect(await write).toMatchObject({ code: "NotLeader" });
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("is sent once it gets one", async () => {
    const { arm, requests, release } = await busy({});
    const write = arm.request("PUT", linkId, { query, body: { a: 1 } });
    await settle();
    await release();
    expect(await write).toMatchObject({ status: 200 });
    expect(requests.filter(({ method }) => method !== "GET")).toMatchObject([{ body: '{"a":1}' }]);
  });

  test("over a connection that is being made is not sent if the lead is lost meanwhile", async () => {
    let connecting = false;
    const { arm, requests } = await fakeArm((_request, response) => ok(response), {
      caller: { mayWrite: () => !connecting },
    });
    const connects = () => {
      connecting = true;
    };
    subscribe("net.client.socket", connects);
    onTestFinished(() => void unsubscribe("net.client.socket", connects));
    expect(await failure(arm.request("PUT", linkId, { query, body: {} }))).toMatchObject({
      code: "NotLeader",
    });
    expect(requests).toEqual([]);
  });
});

describe("the same write twice", () => {
  test("at once is one request", async () => {
    const { client: made, requests } = await fakeArm((_request, response) => ok(response));
    const write = () => made.for(caller()).request("PUT", linkId, { query, body: { a: 1 } });
    const [one, two] = await Promise.all([write(), write()]);
    expect(one).toBe(two);
    expect(requests).toHaveLength(1);
    await write();
    expect(requests).toHaveLength(2);
  });

  test("with another body or another condition is another request", async () => {
    const { arm, requests } = await fakeArm((_request, response) => ok(response));
    await Promise.all([
      arm.request("PUT", linkId, { query, body: { a: 1 } }),
      arm.request("PUT", linkId, { query, body: { a: 2 } }),
      arm.request("PUT", linkId, { query, body: { a: 1 }, ifMatch: "x" }),
    ]);
    expect(requests).toHaveLength(3);
  });
});

describe("throttling", () => {
  test("429 parks the bucket of that identity, subscription and kind, and no other", async () => {
    const { arm, requests } = await fakeArm(({ method }, response) =>
      method === "GET"
        ? refuse(response, 429, "TooManyRequests", { "retry-after": "60" })
        : ok(response),
    );
    const first = await failure(arm.request("GET", linkId, { query }));
    expect(first).toMatchObject({ code: "TooManyRequests", retryAfterMs: 60_000 });
    const second = await failure(arm.request("GET", linkId, { query }));
    expect(second).toMatchObject({ code: "Throttled", status: 0, retryAfterMs: 60_000 });
    await arm.request("PUT", linkId, { query, body: {} });
    const elsewhere = linkId.replace("000001", "000002");
    expect(await failure(arm.request("GET", elsewhere, { query }))).toMatchObject({
      code: "TooManyRequests",
    });
    expect(requests.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
  });

  test("429 without Retry-After parks for a while, and the one who asked waits longer", async () => {
    const { arm, clock } = await fakeArm((_request, response) =>
      refuse(response, 429, "TooManyRequests"),
    );
    const first = await failure(arm.request("GET", linkId, { query }));
    expect(first.explain().requeueAfterMs).toBe(300_000);
    const second = await failure(arm.request("GET", linkId, { query }));
    expect(second).toMatchObject({ code: "Throttled", retryAfterMs: 30_000 });
    clock.reconcile(30_000);
    expect(await failure(arm.request("GET", linkId, { query }))).toMatchObject({
      code: "TooManyRequests",
    });
  });

  test("a busy resource parks nobody", async () => {
    const { arm, requests } = await fakeArm(({ method }, response) =>
      method === "PUT"
        ? json(response, 429, {
            error: {
              code: "RetryableError",
              message: "A retryable error occurred.",
              details: [
                { code: "ReferencedResourceNotProvisioned", message: "is in Deleting state" },
              ],
            },
          })
        : ok(response),
    );
    const error = await failure(arm.request("PUT", linkId, { query, body: {} }));
    expect(error.code).toBe("ReferencedResourceNotProvisioned");
    expect(error.explain().requeueAfterMs).toBe(30_000);
    await failure(arm.request("PUT", linkId, { query, body: {} }));
    expect(requests).toHaveLength(2);
  });

  test("what Azure says is left is believed", async () => {
    const { arm, client: made } = await fakeArm((_request, response) =>
      json(response, 200, {}, { "x-ms-ratelimit-remaining-subscription-reads": "7" }),
    );
    await arm.request("GET", linkId, { query });
    expect(made.budgets.states()[0]?.reads.remaining).toBe(7);
  });
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
