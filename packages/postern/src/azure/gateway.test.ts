import { describe, expect, test } from "vitest";
import {
  caller,
  failure,
  fakeArm,
  group,
  linkId,
  refuse,
} from "../../../../test/azure/fake-arm.ts";
import { json, type ReceivedRequest } from "../../../../test/loopback.ts";
import { AzureError } from "./errors.ts";
import { type ArmResource, resourceGateway } from "./gateway.ts";
import type { TokenSource } from "./tokens.ts";

type Thing = ArmResource<{ provisioningState?: string; size?: number }>;
const kind = {
  apiVersion: "2025-05-01",
  collection: "providers/Microsoft.Network/privateLinkServices",
};

async function gateway(answer: Parameters<typeof fakeArm>[0]) {
  const made = await fakeArm(answer);
  return { ...made, things: resourceGateway<Thing>(made.arm, kind) };
}

const page = (request: ReceivedRequest) =>
  Number(new URL(request.url, "http://x").searchParams.get("page") ?? 0);

test("who begins to lead believes nothing that was seen before, not even that there is nothing", async () => {
  let there = false;
  const {
    things,
    client: made,
    requests,
  } = await gateway((one, response) => {
    if (one.url.includes("/api?"))
      return there ? json(response, 200, { id: linkId }) : refuse(response, 404, "NotFound");
    json(response, 200, { value: there ? [{ id: linkId }] : [] });
  });
  expect(await things.observe(linkId, 60_000)).toEqual({ state: "absent" });
  expect(await things.list(group, 60_000)).toEqual([]);
  there = true;
  expect(await things.observe(linkId, 60_000)).toEqual({ state: "absent" });
  expect(requests).toHaveLength(2);
  made.forgetReads();
  expect(await things.observe(linkId, 60_000)).toMatchObject({ state: "exists" });
  expect(await things.list(group, 60_000)).toHaveLength(1);
});

describe("get", () => {
  test.each([
    ["the front door", "ResourceNotFound"],
    ["the provider", "NotFound"],
    ["the resource group", "ResourceGroupNotFound"],
    ["the parent", "ParentResourceNotFound"],
  ])("what %s does not find is undefined", async (_who, code) => {
    const { things } = await gateway((_request, response) => refuse(response, 404, code));
    expect(await things.get(linkId)).toBeUndefined();
  });

  test("a subscription that is not found is an error: then everything would look absent", async () => {
    const { things } = await gateway((_request, response) =>
      refuse(response, 404, "SubscriptionNotFound"),
    );
    expect(await failure(things.get(linkId))).toMatchObject({ code: "SubscriptionNotFound" });
  });

  test("the etag is that of the body, else that of the header", async () => {
    let body: object = { name: "api", properties: {}, etag: "body" };
    const { things } = await gateway((_request, response) =>
      json(response, 200, body, { etag: "header" }),
    );
    expect(await things.get(linkId)).toMatchObject({ etag: "body" });
    body = { name: "api", properties: {} };
    expect(await things.get(linkId)).toMatchObject({ etag: "header" });
  });

  test.each([["a list"], 7, "text", null])("%j is no resource", async (body) => {
    const { things } = await gateway((_request, response) => json(response, 200, body));
    expect(await failure(things.get(linkId))).toMatchObject({ code: "UnreadableAnswer" });
  });

  test("what should be filled in is asked for", async () => {
    const { arm, requests } = await gateway((_request, response) => json(response, 200, {}));
    await resourceGateway(arm, { ...kind, expand: "networkInterfaces" }).get(linkId);
    expect(new URL(requests[0]?.url ?? "", "http://x").searchParams.get("$expand")).toBe(
      "networkInterfaces",
    );
  });
});

describe("list", () => {
  test("reads to the last page", async () => {
    const { things, requests, url } = await gateway((one, response) => {
      const at = page(one);
      const nextLink = at < 2 ? `${url}${group}/next?page=${at + 1}` : "";
      json(response, 200, { value: [{ id: `/n${at}`, name: `n${at}` }], nextLink });
    });
    expect((await things.list(group)).map(({ name }) => name)).toEqual(["n0", "n1", "n2"]);
    expect(requests[0]?.url).toBe(`${group}/${kind.collection}?api-version=2025-05-01`);
  });

  test("is empty where the scope does not exist", async () => {
    const { things } = await gateway((_request, response) =>
      refuse(response, 404, "ResourceGroupNotFound"),
    );
    expect(await things.list(group)).toEqual([]);
  });

  test("does not take a list that ends in the middle for a whole one", async () => {
    const { things } = await gateway((one, response) =>
      page(one) === 0
        ? json(response, 200, { value: [], nextLink: "/subscriptions/s/next?page=1" })
        : refuse(response, 404, "NotFound"),
    );
    expect(await failure(things.list(group))).toMatchObject({ code: "NotFound" });
  });

  test("ends where a next page was seen before", async () => {
    const { things, requests } = await gateway((_request, response) =>
      json(response, 200, { value: [{}], nextLink: "/subscriptions/s/next?page=1" }),
    );
    expect(await failure(things.list(group))).toMatchObject({ code: "UnreadableAnswer" });
    expect(requests).toHaveLength(2);
  });

  test("does not follow a next page to another server", async () => {
    const { things, requests } = await gateway((_request, response) =>
      json(response, 200, { value: [], nextLink: "https://attacker.example/steal" }),
    );
    expect(await failure(things.list(group))).toMatchObject({ code: "ForeignAddress" });
    expect(requests).toHaveLength(1);
  });

  test("items are normalised as by get, and one that is null or has no id hides no other", async () => {
    const bare = { id: `${linkId}-bare`, tags: null, properties: null };
    const whole = { id: linkId, name: "api", properties: { size: 1 } };
    const { things } = await gateway((one, response) =>
      one.url.includes("-bare?")
        ? json(response, 200, bare)
        : json(response, 200, { value: [null, { id: null }, {}, bare, whole] }),
    );
    expect(await things.list(group)).toStrictEqual([{ id: bare.id, properties: {} }, whole]);
    expect(await things.get(bare.id)).toStrictEqual({ id: bare.id, properties: {} });
  });

  test.each([{}, { value: "x" }, { value: ["x"] }, { value: [[]] }, []])(
    "%j is no list",
    async (body) => {
      const { things } = await gateway((_request, response) => json(response, 200, body));
      expect(await failure(things.list(group))).toMatchObject({ code: "UnreadableAnswer" });
    },
  );
});

describe("put", () => {
  const body: Thing = { location: "westeurope", properties: { size: 1 } };

  test("answers the resource when it is done", async () => {
    const { things } = await gateway((_request, response) =>
      json(response, 201, { name: "api", properties: { provisioningState: "Succeeded" } }),
    );
    expect(await things.put(linkId, body)).toMatchObject({
      state: "done",
      resource: { name: "api" },
    });
  });

  test("names the state of the resource that it depends on", async () => {
    const { things, requests } = await gateway((_request, response) => json(response, 200, {}));
    await things.put(linkId, body, { ifMatch: 'W/"1"' });
    await things.put(linkId, body, { ifNoneMatch: "*" });
    expect(requests.map(({ headers }) => [headers["if-match"], headers["if-none-match"]])).toEqual([
      ['W/"1"', undefined],
      [undefined, "*"],
    ]);
  });

  test("tells when somebody else was faster", async () => {
    const { things } = await gateway((_request, response) =>
      refuse(response, 412, "PreconditionFailed"),
    );
    const error = await failure(things.put(linkId, body, { ifMatch: "old" }));
    expect(error).toMatchObject({ status: 412, retry: "now" });
  });

  /** A service whose writes run until `ends` is called. */
  async function slow() {
    let running = true;
    const made = await gateway(({ method, url }, response) => {
      const status = "/subscriptions/s/providers/Microsoft.Network/locations/l/operations/1";
      const provisioningState = running ? "Updating" : "Succeeded";
      if (method !== "GET")
        json(
          response,
          201,
          { properties: { provisioningState } },
          { "azure-asyncoperation": status },
        );
      else if (url.startsWith(status))
        json(response, 200, { status: running ? "InProgress" : "Succeeded" });
      else json(response, 200, { name: "api", properties: { provisioningState } });
    });
    const methods = () => made.requests.map(({ method }) => method);
    return {
      ...made,
      methods,
      ends: () => {
        running = false;
      },
    };
  }

  test("the same write is not sent again while it runs, and not when it has just ended", async () => {
    const { things, clock, methods, ends } = await slow();
    expect(await things.put(linkId, body)).toMatchObject({ state: "running" });
    expect(await things.put(linkId, body)).toMatchObject({ state: "running", id: linkId });
    expect(methods()).toEqual(["PUT"]);
    ends();
    clock.reconcile(60_000);
    expect(await things.put(linkId, body)).toMatchObject({
      state: "done",
      resource: { name: "api" },
    });
    expect(methods()).toEqual(["PUT", "GET", "GET"]);
  });

  test("another write is sent, and its operation takes the place of the first", async () => {
    const { things, arm, methods } = await slow();
    await things.put(linkId, body);
    await things.put(linkId, { ...body, properties: { size: 2 } });
    await things.remove(linkId);
    expect(methods()).toEqual(["PUT", "PUT", "DELETE"]);
    expect(arm.operations.size).toBe(1);
  });

  test("a write that failed while it ran says so once, and can then be sent again", async () => {
    let failed = false;
    const { things, clock, requests } = await gateway(({ method }, response) =>
      method === "PUT"
        ? json(
            response,
            201,
            { properties: { provisioningState: failed ? "Succeeded" : "Updating" } },
            { "azure-asyncoperation": "/subscriptions/s/operations/1" },
          )
        : json(response, 200, { status: "Failed", error: { code: "InvalidParameter" } }),
    );
    await things.put(linkId, body);
    failed = true;
    clock.reconcile(60_000);
    expect(await failure(things.put(linkId, body))).toMatchObject({ code: "InvalidParameter" });
    expect(await things.put(linkId, body)).toMatchObject({ state: "done" });
    expect(requests.map(({ method }) => method)).toEqual(["PUT", "GET", "PUT"]);
  });
});

describe("remove", () => {
  test("what was created again after an earlier deletion is deleted again", async () => {
    let exists = true;
    let running = false;
    const { things, clock, requests } = await gateway(({ method, url }, response) => {
      if (url.includes("/operations/"))
        return json(response, 200, { status: running ? "InProgress" : "Succeeded" });
      if (method !== "DELETE")
        return exists
          ? json(response, 200, { name: "api", properties: { provisioningState: "Succeeded" } })
          : refuse(response, 404, "ResourceNotFound");
      running = true;
      return json(response, 202, {}, { "azure-asyncoperation": "/subscriptions/s/operations/1" });
    });
    expect(await things.remove(linkId)).toMatchObject({ state: "running" });
    running = false;
    exists = true;
    clock.reconcile(60_000);
    // Nobody has asked after the first deletion: it has ended, and the resource was created again since.
    expect(await things.remove(linkId)).toMatchObject({ state: "running" });
    expect(requests.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  });

  test.each([
    ["what is absent", 404],
    ["what is gone at once", 200],
    ["what was never there", 204],
  ])("%s is done", async (_name, status) => {
    const { things } = await gateway((_request, response) => {
      if (status === 404) return refuse(response, 404, "ResourceNotFound");
      response.writeHead(status);
      response.end();
    });
    expect(await things.remove(linkId)).toEqual({ state: "done", resource: undefined });
  });

  test("runs until Azure has deleted it, and is not sent twice", async () => {
    const { things, clock, requests } = await gateway(({ method }, response) => {
      if (method !== "DELETE") return refuse(response, 404, "NotFound");
      response.writeHead(202, { location: "/subscriptions/s/operationresults/1" });
      response.end();
    });
    expect(await things.remove(linkId)).toMatchObject({ state: "running" });
    expect(await things.remove(linkId)).toMatchObject({ state: "running" });
    clock.reconcile(60_000);
    expect(await things.remove(linkId)).toEqual({ state: "done", resource: undefined });
    // The operation, and whether somebody has created it again since.
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "GET", "GET"]);
  });

  test("what must not be deleted yet is an error with the remedy", async () => {
    const { things } = await gateway((_request, response) =>
      refuse(response, 409, "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted"),
    );
    const error = await failure(things.remove(linkId, { ifMatch: "x" }));
    expect(error.hint).toContain("delete the connections first");
  });
});

describe("look", () => {
  const made = { id: linkId, properties: { provisioningState: "Succeeded", size: 1 } };

  test("what an identity has seen is told only to those who can prove to be it", async () => {
    const { client: arm, requests } = await fakeArm((_request, response) =>
      json(response, 200, { ...made, value: [made] }),
    );
    const as = (token: () => Promise<string>) =>
      resourceGateway(
        arm.for(caller(), {
          identity: "tenant/client",
          token,
          prove: async () => void (await token()),
        }),
        kind,
      );
    const [one, impostor] = [
      as(async () => "token-1"),
      as(() => Promise.reject(new AzureError({ code: "AADSTS700213", what: "get a token" }))),
    ];
    await one.observe(linkId);
    await one.list(group);
    for (const attempt of [impostor.observe(linkId, 60_000), impostor.list(group, 60_000)])
      expect((await failure(attempt)).code).toBe("AADSTS700213");
    expect(await one.observe(linkId, 60_000)).toMatchObject({ state: "exists" });
    expect(requests).toHaveLength(2);
  });

  test("attack: a tenant names an identity of others and drops it again, and they lose what they saw", async () => {
    const { client: arm, requests } = await fakeArm((_request, response) =>
      json(response, 200, made),
    );
    const named = (identity: string): TokenSource => ({ identity, token: async () => "token-1" });
    const observation = (credential?: TokenSource) =>
      resourceGateway(arm.for(caller(), credential), kind).observe(linkId, 60_000);
    const [victim, first, second] = [
      named("tenant/client"),
      named("TENANT/client"),
      named("tenant/client"),
    ];
    await observation(victim);
    await observation();
    for (const impostor of [first, second, named("static"), named("unused/one")]) {
      arm.for(caller(), impostor);
      arm.forget(impostor);
    }
    await observation(victim);
    await observation();
    expect(requests).toHaveLength(2);
    arm.forget(victim);
    await observation(victim);
    expect(requests).toHaveLength(3);
  });

  test("what was seen lately is not read again; what is older is", async () => {
    const { things, requests, clock } = await gateway((_request, response) =>
      json(response, 200, made),
    );
    expect(await things.observe(linkId)).toMatchObject({ state: "exists", resource: made });
    await things.observe(linkId, 60_000);
    expect(requests).toHaveLength(1);
    clock.reconcile(60_001);
    await things.observe(linkId, 60_000);
    expect(requests).toHaveLength(2);
  });

  test("what Azure refuses to show is not known by an earlier read or list", async () => {
    let isAllowed = true;
    const { things, requests } = await gateway((one, response) => {
      if (!isAllowed) return refuse(response, 403, "AuthorizationFailed");
      json(response, 200, one.url.includes("/api?") ? made : { value: [made] });
    });
    const forbidden = { code: "AuthorizationFailed" };
    await things.observe(linkId);
    isAllowed = false;
    expect(await failure(things.observe(linkId))).toMatchObject(forbidden);
    expect(await failure(things.observe(linkId, 60_000))).toMatchObject(forbidden);
    isAllowed = true;
    await things.list(group);
    isAllowed = false;
    expect(await failure(things.list(group))).toMatchObject(forbidden);
    expect(await failure(things.list(group, 60_000))).toMatchObject(forbidden);
    expect(await failure(things.observe(linkId, 60_000))).toMatchObject(forbidden);
    expect(requests).toHaveLength(7);
  });

  test("a list speaks for all that is in it, and for all that is not", async () => {
    const { things, requests } = await gateway((_request, response) =>
      json(response, 200, { value: [made] }),
    );
    await things.list(group);
    expect(await things.observe(linkId.toUpperCase(), 1)).toMatchObject({ state: "exists" });
    expect(await things.observe(`${linkId}2`, 1)).toEqual({ state: "absent" });
    expect(await things.list(group, 1)).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  test("those who list at once share one list", async () => {
    const { things, requests } = await gateway((_request, response) =>
      json(response, 200, { value: [made] }),
    );
    await Promise.all([things.list(group), things.list(group), things.list(group)]);
    expect(requests).toHaveLength(1);
  });

  test("what was filled in by a read stays with a list of the same etag, and goes with another", async () => {
    let etag = "1";
    const { arm } = await gateway((one, response) =>
      one.url.includes("api?")
        ? json(response, 200, { ...made, etag, properties: { size: 7 } })
        : json(response, 200, { value: [{ ...made, etag, properties: {} }] }),
    );
    const things = resourceGateway<Thing>(arm, kind);
    await things.get(linkId);
    expect((await things.list(group))[0]?.properties.size).toBe(7);
    etag = "2";
    expect((await things.list(group))[0]?.properties.size).toBeUndefined();
  });

  test("what a list does tell is believed though the etag is the same, but not that what it only names is empty", async () => {
    let state = "Approved";
    const { arm } = await gateway((one, response) => {
      const interfaces = (address?: string) => [{ id: "nic", ...(address && { address }) }];
      const now = (parts: object) => ({ ...made, etag: "1", properties: { state, parts } });
      if (one.url.includes("api?")) json(response, 200, now(interfaces("10.0.0.4")));
      else json(response, 200, { value: [now(interfaces())] });
    });
    const things = resourceGateway<Thing>(arm, { ...kind, expand: "parts" });
    await things.get(linkId);
    state = "Disconnected";
    expect((await things.list(group))[0]?.properties).toEqual({
      state: "Disconnected",
      parts: [{ id: "nic", address: "10.0.0.4" }],
    });
  });

  test("a list that tells all is believed, though the etag is the same: counts have none", async () => {
    let size = 1;
    const { arm } = await gateway((one, response) => {
      const now = { ...made, etag: "1", properties: { size } };
      json(response, 200, one.url.includes("api?") ? now : { value: [now] });
    });
    const things = resourceGateway<Thing>(arm, { ...kind, listsWhole: true });
    await things.get(linkId);
    size = 2;
    expect((await things.list(group))[0]?.properties.size).toBe(2);
  });

  test("what lay in something that a list misses is not known any more", async () => {
    let value: object[] = [made];
    const { arm, things, requests } = await gateway((one, response) =>
      json(response, 200, {
        value: one.url.includes("/parts?") ? [{ id: `${linkId}/parts/a` }] : value,
      }),
    );
    const parts = resourceGateway<Thing>(arm, { ...kind, collection: "parts" });
    await things.list(group);
    await parts.list(linkId);
    value = [];
    await things.list(group);
    await parts.list(linkId, 60_000);
    expect(requests).toHaveLength(4);
  });

  test("a write that is done is known without a read; a deleted one is absent and leaves its list", async () => {
    const { things, requests } = await gateway((one, response) =>
      one.method === "DELETE"
        ? json(response, 204, undefined)
        : json(response, 200, one.method === "PUT" ? made : { value: [] }),
    );
    await things.list(group);
    await things.put(linkId, made);
    expect(await things.observe(linkId, 1)).toMatchObject({ state: "exists" });
    expect(await things.list(group, 1)).toHaveLength(1);
    await things.remove(linkId);
    expect(await things.observe(linkId, 1)).toEqual({ state: "absent" });
    expect(await things.list(group, 1)).toEqual([]);
    expect(requests.map(({ method }) => method)).toEqual(["GET", "PUT", "DELETE"]);
  });

  test("one that somebody changes is changing, and is read again however lately it was seen", async () => {
    let provisioningState = "Updating";
    const { things, requests } = await gateway((_request, response) =>
      json(response, 200, { ...made, properties: { provisioningState } }),
    );
    expect(await things.observe(linkId, 1)).toEqual({ state: "changing", retryAfterMs: 10_000 });
    provisioningState = "Succeeded";
    expect(await things.observe(linkId, 60_000)).toMatchObject({ state: "exists" });
    expect(requests).toHaveLength(2);
  });

  test("an operation of ours is looked at first: while it runs there is no read, and its failure is reported once", async () => {
    let status: object = { status: "InProgress" };
    const { things, requests, clock, url } = await gateway((one, response) => {
      if (one.method === "PUT")
        json(
          response,
          201,
          { ...made, properties: { provisioningState: "Updating" } },
          { "azure-asyncoperation": `${url}/subscriptions/s/operations/1?api-version=1` },
        );
      else if (one.url.includes("/operations/")) json(response, 200, status);
      else json(response, 200, made);
    });
    await things.put(linkId, made);
    expect(await things.observe(linkId)).toMatchObject({ state: "changing" });
    status = { status: "Failed", error: { code: "SubnetIsFull", message: "no address is left" } };
    clock.reconcile(3_600_000 - 1);
    expect(await things.observe(linkId)).toMatchObject({
      state: "failed",
      failure: { reason: "SubnetIsFull" },
    });
    expect(await things.observe(linkId)).toMatchObject({ state: "exists" });
    expect(
      requests.map(({ method, url: attempt }) => `${method} ${attempt.includes("operations")}`),
    ).toEqual(["PUT false", "GET true", "GET false"]);
  });
});

describe("a write of ours that reads do not show yet", () => {
  const body = { properties: { size: 1 } };
  /** Reads answer with `shown`, a PUT with 201 or with the operation that goes on, a DELETE with 200. */
  async function lagging(operation?: object) {
    const shown: { now: object | undefined } = { now: undefined };
    const made = await gateway((one, response) => {
      const address = { "azure-asyncoperation": "/subscriptions/s/operations/one?api-version=1" };
      if (one.method === "PUT")
        return json(response, 201, { id: linkId, etag: "new", ...body }, operation ? address : {});
      if (one.method === "DELETE") return json(response, 200, {});
      if (one.url.includes("/operations/")) return json(response, 200, operation);
      if (one.url.includes("/api?"))
        return shown.now ? json(response, 200, shown.now) : refuse(response, 404, "NotFound");
      json(response, 200, { value: shown.now ? [shown.now] : [] });
    });
    return { ...made, shown };
  }

  test("is there for looks and lists, with what the answer to the write said", async () => {
    const { things } = await lagging();
    await things.put(linkId, body);
    expect(await things.observe(linkId)).toMatchObject({
      state: "exists",
      resource: { etag: "new" },
    });
    expect(await things.list(group)).toMatchObject([{ etag: "new" }]);
  });

  test("is being changed where an operation has ended and its outcome is not known", async () => {
    const { things, clock, shown } = await lagging({ status: "Succeeded" });
    expect(await things.put(linkId, body)).toMatchObject({ state: "running" });
    clock.reconcile(30_000);
    expect(await things.observe(linkId)).toMatchObject({ state: "changing" });
    expect(await things.list(group)).toEqual([]);
    expect(await things.observe(linkId, 60_000)).toMatchObject({ state: "changing" });
    shown.now = { id: linkId, etag: "new" };
    expect(await things.observe(linkId)).toMatchObject({ state: "exists" });
  });

  test("is forgotten where its operation has failed", async () => {
    const { things, clock } = await lagging({ status: "Failed", error: { code: "Nope" } });
    await things.put(linkId, body);
    clock.reconcile(30_000);
    expect(await things.observe(linkId)).toMatchObject({ state: "failed" });
    expect(await things.observe(linkId)).toEqual({ state: "absent" });
  });

  test("counts until a read has shown it, and an absence after that is believed", async () => {
    const { things, shown } = await lagging();
    await things.put(linkId, body);
    shown.now = { id: linkId, etag: "new" };
    await things.observe(linkId);
    shown.now = undefined;
    expect(await things.observe(linkId)).toEqual({ state: "absent" });
  });

  test("counts for a minute at most", async () => {
    const { things, clock } = await lagging();
    await things.put(linkId, body);
    clock.reconcile(59_000);
    expect(await things.observe(linkId)).toMatchObject({ state: "exists" });
    clock.reconcile(1_000);
    expect(await things.observe(linkId)).toEqual({ state: "absent" });
  });

  test("replaces the state before it, known by its etag, and nothing else", async () => {
    const { things, shown } = await lagging();
    await things.put(linkId, body, { ifMatch: "old" });
    shown.now = { id: linkId, etag: "old" };
    expect(await things.observe(linkId)).toMatchObject({ resource: { etag: "new" } });
    shown.now = { id: linkId, etag: "somebody else's" };
    expect(await things.observe(linkId)).toMatchObject({ resource: { etag: "somebody else's" } });
  });

  test("that was refused does not take the resource out of the list", async () => {
    const { things, requests } = await gateway((one, response) => {
      if (one.method === "PUT") return refuse(response, 412, "PreconditionFailed");
      if (one.url.includes("/api?")) return json(response, 200, { id: linkId, etag: "newer" });
      json(response, 200, { value: [{ id: linkId, etag: "old" }] });
    });
    await things.list(group, 60_000);
    await failure(things.put(linkId, body, { ifMatch: "old" }));
    expect(await things.list(group, 60_000)).toHaveLength(1);
    expect(await things.observe(linkId, 60_000)).toMatchObject({ resource: { etag: "newer" } });
    expect(requests.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
  });

  test("keeps a resource in lists while its operation runs", async () => {
    for (const method of ["PUT", "DELETE"]) {
      const address = { "azure-asyncoperation": "/subscriptions/s/operations/one?api-version=1" };
      const { things } = await gateway((one, response) => {
        if (one.method === method) return json(response, 202, { id: linkId }, address);
        if (one.url.includes("/operations/")) return json(response, 200, { status: "InProgress" });
        json(response, 200, { value: [{ id: linkId, etag: "old" }] });
      });
      const condition = { ifMatch: "old" };
      if (method === "PUT") await things.put(linkId, body, condition);
      else await things.remove(linkId, condition);
      expect(await things.list(group)).toHaveLength(1);
      expect(await things.observe(linkId, 60_000)).toMatchObject({ state: "changing" });
    }
  });

  test("a resource that we deleted is absent though a read or a list still shows it", async () => {
    const { things, shown } = await lagging();
    shown.now = { id: linkId, etag: "old" };
    await things.remove(linkId, { ifMatch: "old" });
    expect(await things.list(group)).toEqual([]);
    expect(await things.observe(linkId)).toEqual({ state: "absent" });
    shown.now = { id: linkId, etag: "created again" };
    expect(await things.observe(linkId)).toMatchObject({ state: "exists" });
  });
});
