import { isExplained } from "@postern/core/failure.ts";
import { describe, expect, test } from "vitest";
import { fc } from "../../../../test/setup/random.ts";
import { readErrorBody } from "./error-body.ts";
import { AzureError } from "./errors.ts";
import { knownCodes } from "./known-codes.ts";

const guid = "0d2f7d3c-6a0e-4f1b-9d54-0a4c1f2b3c4d";
const subnet = `/subscriptions/${guid}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s`;

test("DNS throttles with a string that contains JSON, and it counts as throttling", () => {
  const detail = "Too many operations are requested. Current operation is throttled.";
  const body = JSON.stringify({ code: "Throttled", message: detail });
  expect(readErrorBody(body)).toEqual({ code: "Throttled", detail: detail });
  expect(new AzureError({ code: "Throttled", what: "read a zone", status: 429 }).throttled).toBe(
    true,
  );
});

describe("when it is tried again", () => {
  const minute = 60_000;
  test.each([
    ["429 with Retry-After waits as long", { status: 429, retryAfterMs: 17_000 }, 17_000],
    ["429 without it waits five minutes", { status: 429 }, 5 * minute],
    ["403 waits ten minutes", { status: 403 }, 10 * minute],
    ["409 waits half a minute", { status: 409 }, 30_000],
    ["412 is left to the queue", { status: 412 }, undefined],
    ["400 waits five minutes", { status: 400 }, 5 * minute],
    ["401 waits two minutes", { status: 401 }, 2 * minute],
    ["404 waits two minutes", { status: 404 }, 2 * minute],
    ["503 waits two minutes", { status: 503 }, 2 * minute],
    ["503 with Retry-After waits as long", { status: 503, retryAfterMs: 9_000 }, 9_000],
    ["no answer waits two minutes", {}, 2 * minute],
  ])("%s", (_name, over, expected) => {
    const error = new AzureError({ code: "SomethingNew", what: "write x", ...over });
    expect(error.explain().requeueAfterMs).toBe(expected);
    expect(error.explain().terminal).toBeUndefined();
  });

  test.each([
    ["AnotherOperationInProgress", 200, 30_000],
    ["AnotherOperationInProgress", 400, 30_000],
    ["RetryableErrorDueToAnotherOperation", 429, 30_000],
    ["CanceledAndSupersededDueToAnotherOperation", 200, undefined],
    ["PreconditionFailedEtagMismatch", 412, undefined],
    ["AnswerLost", 0, undefined],
  ])("%s with status %i knows better than its status", (code, status, expected) => {
    const error = new AzureError({ code, what: "write x", status });
    expect(error.explain().requeueAfterMs).toBe(expected);
  });

  test("what only a change of the object can help is not tried again by itself", () => {
    const error = new AzureError({ code: "InvalidResourceName", what: "write x", status: 400 });
    expect(error.explain()).toMatchObject({ terminal: true });
    expect(error.explain().requeueAfterMs).toBeUndefined();
  });

  test.each([
    [
      "a link service that does not exist yet passes by itself",
      "ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible",
      true,
    ],
    ["a resource that another write changes passes by itself", "AnotherOperationInProgress", true],
    ["a right that is missing does not", "AuthorizationFailed", undefined],
  ])("%s", (_what, code, passing) => {
    const failure = new AzureError({ code, what: "write privateEndpoints/one", status: 400 });
    expect(failure.explain().passing).toBe(passing);
  });

  test("a busy resource is no throttling, though both are 429", () => {
    const throttled = (code: string) =>
      new AzureError({ code, what: "write x", status: 429 }).throttled;
    expect(throttled("TooManyRequests")).toBe(true);
    expect(throttled("SomethingNew")).toBe(true);
    expect(throttled("ReferencedResourceNotProvisioned")).toBe(false);
  });
});

describe("what a person reads", () => {
  test("the message says what failed, why, and what to do", () => {
    const error = new AzureError({
      code: "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
      what: "write privateLinkServices/api",
      status: 400,
      detail: `Private link service x cannot be created in a subnet ${subnet} since it has private link service network policies enabled.`,
    });
    expect(isExplained(error)).toBe(true);
    expect(error.explain().reason).toBe(error.code);
    expect(error.explain().message).toBe(
      `cannot write privateLinkServices/api · Private link service x cannot be created in a subnet ${subnet} since it has private link service network policies enabled. (400 ${error.code}) · set privateLinkServiceNetworkPolicies to Disabled on the NAT subnet`,
    );
  });

  test("a missing right keeps the action and the scope", () => {
    const error = new AzureError({
      code: "AuthorizationFailed",
      what: "write x",
      status: 403,
      detail: `The client '${guid}' with object id '${guid}' does not have authorization to perform action 'Microsoft.Network/privateLinkServices/write' over scope '${subnet}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
    });
    expect(error.message).toContain("'Microsoft.Network/privateLinkServices/write'");
    expect(error.message).toContain(`'${subnet}'`);
  });

  test("two occurrences of one failure read the same", () => {
    const detail = (id: string, time: string) =>
      `AADSTS700016: Application with identifier 'app' was not found in the directory 'contoso'. Trace ID: ${id} Correlation ID: ${id} Timestamp: ${time}`;
    const one = detail(guid, "2026-01-02 03:04:05Z");
    const two = detail("1d2f7d3c-6a0e-4f1b-9d54-0a4c1f2b3c4d", "2026-01-02 03:09:41Z");
    const message = (text: string) =>
      new AzureError({ code: "AADSTS700016", what: "get a token", status: 400, detail: text })
        .message;
    expect(message(one)).toBe(message(two));
    expect(message(one)).toContain("Application with identifier 'app'");
  });

  test("what passes by itself is reported in our words, which hold no counters", () => {
    const error = new AzureError({
      code: "RetryableErrorDueToAnotherOperation",
      what: "write x",
      status: 429,
      detail: `Operation PutOperation (${guid}) is updating resource ${guid}. The call can be retried in 14 seconds.`,
    });
    expect(error.message).not.toMatch(/14|PutOperation/);
  });

  test("request ids are fields and not part of the message", () => {
    const error = new AzureError({ code: "X", what: "y", requestId: "r-1", correlationId: "c-1" });
    expect(error).toMatchObject({ requestId: "r-1", correlationId: "c-1" });
    expect(error.message).not.toMatch(/r-1|c-1/);
  });

  const secrets = fc.constantFrom(
    "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwcyJ9.c2lnbmF0dXJl",
    "Bearer s3cr3t-s3cr3t",
    "client_secret=s3cr3t~s3cr3t",
    '"clientSecret": "s3cr3t-s3cr3t"',
    "https://x.blob.core.windows.net/c?sig=s3cr3t%3D",
    `s3cr3t${"a".repeat(90)}`,
  );
  test("no secret that Azure or a proxy repeats comes through", () => {
    fc.assert(
      fc.property(fc.string(), secrets, fc.string(), (before, secret, after) => {
        const detail = `${before} ${secret} ${after}`;
        const { message } = new AzureError({
          code: "SomethingNew",
          what: "x",
          status: 400,
          detail,
        });
        expect(message).not.toContain("s3cr3t");
        expect(message).not.toContain("eyJhbGci");
      }),
    );
  });

  test("however long Azure speaks, the message stays short and on one line", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5000 }), (detail) => {
        const { message } = new AzureError({
          code: "SomethingNew",
          what: "x",
          status: 400,
          detail,
        });
        expect(message.length).toBeLessThan(800);
        expect(message).not.toMatch(/[\n\r<>]/);
      }),
    );
  });
});

describe("the code of an error body", () => {
  const wrapped = (code: string, ...details: string[]) => ({
    error: {
      code,
      message: "outer",
      details: details.map((detail) => ({ code: detail, message: `about ${detail}` })),
    },
  });

  test.each([
    ["a plain code", wrapped("AuthorizationFailed"), "AuthorizationFailed", "outer"],
    [
      "a known detail before its wrapper",
      wrapped("RetryableError", "Unknown1", "ReferencedResourceNotProvisioned"),
      "ReferencedResourceNotProvisioned",
      "about ReferencedResourceNotProvisioned",
    ],
    ["an unknown detail of a wrapper", wrapped("InvalidRequestFormat", "New"), "New", "about New"],
    ["the code itself over unknown details", wrapped("Own", "New"), "Own", "outer"],
    [
      "a wrapper without details",
      { error: { code: "RetryableError" } },
      "RetryableError",
      undefined,
    ],
    ["a body without the outer error", { code: "NotFound", message: "m" }, "NotFound", "m"],
    [
      "a code in an inner error",
      { error: { code: "BadRequest", innererror: { code: "ScopeLocked", message: "in" } } },
      "ScopeLocked",
      "in",
    ],
  ])("%s", (_name, body, code, detail) => {
    expect(readErrorBody(body)).toEqual({ code, detail: detail });
  });

  test("a body of any other form has none", () => {
    const shapes = fc.oneof(
      fc.anything(),
      fc.record({ error: fc.anything() }),
      fc.record({ error: fc.record({ code: fc.anything(), details: fc.anything() }) }),
    );
    fc.assert(
      fc.property(shapes, (body) => {
        const reported = readErrorBody(body);
        if (reported !== undefined) expect(reported.code).toMatch(/^[A-Za-z]\w*$/);
      }),
    );
    expect(readErrorBody({ error: { code: "not a code" } })).toBeUndefined();
    expect(readErrorBody("<html>")).toBeUndefined();
  });

  test("every known code can be a condition's reason", () => {
    for (const code of Object.keys(knownCodes)) expect(code).toMatch(/^[A-Za-z]\w*$/);
  });
});

describe("what counts as absent", () => {
  test.each([
    ["ResourceNotFound", 404, true],
    ["NotFound", 404, true],
    ["ResourceGroupNotFound", 404, true],
    ["ParentResourceNotFound", 404, true],
    ["SubscriptionNotFound", 404, false],
    ["UnreadableAnswer", 404, false],
    ["NoRegisteredProviderFound", 404, false],
    ["ResourceNotFound", 400, false],
  ])("%s with %i: %s", (code, status, absent) => {
    expect(new AzureError({ code, what: "read x", status }).absent).toBe(absent);
  });
});
