import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { expect, onTestFinished, test } from "vitest";
import { failure, fakeArm, linkId, refuse } from "../../../../test/azure/fake-arm.ts";
import { json } from "../../../../test/loopback.ts";

const query = { "api-version": "2025-05-01" };

function traced(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  return exporter;
}

test("the trace and the request at Microsoft have the same number", async () => {
  const exporter = traced();
  const { arm, requests } = await fakeArm((_request, response) =>
    json(response, 200, {}, { "x-ms-request-id": "request-1" }),
  );
  const traceId = await trace.getTracer("test").startActiveSpan("pass", async (span) => {
    await arm.request("GET", linkId, { query });
    span.end();
    return span.spanContext().traceId;
  });
  const correlation = String(requests[0]?.headers["x-ms-correlation-request-id"]);
  expect(correlation).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(correlation.replaceAll("-", "")).toBe(traceId);
  const [asked, reconcile] = exporter.getFinishedSpans();
  expect(asked).toMatchObject({
    name: "ARM GET Microsoft.Network/privateLinkServices",
    attributes: { "http.response.status_code": 200, "az.service_request_id": "request-1" },
    parentSpanContext: { spanId: reconcile?.spanContext().spanId },
  });
});

test("a refusal is an error of its span", async () => {
  const exporter = traced();
  const { arm } = await fakeArm((_request, response) =>
    refuse(response, 403, "AuthorizationFailed"),
  );
  await failure(arm.request("GET", linkId, { query }));
  expect(exporter.getFinishedSpans()[0]?.status.message).toContain("AuthorizationFailed");
});

test("without traces no number is made up", async () => {
  const { arm, requests } = await fakeArm((_request, response) => json(response, 200, {}));
  await arm.request("GET", linkId, { query });
  expect(requests[0]?.headers).not.toHaveProperty("x-ms-correlation-request-id");
});

test("the log has the numbers that the message leaves out, and no token", async () => {
  const lines: [object, string][] = [];
  const { arm } = await fakeArm(
    (_request, response) =>
      refuse(response, 403, "AuthorizationFailed", {
        "x-ms-request-id": "request-1",
        "x-ms-correlation-request-id": "correlation-1",
      }),
    { log: { debug: (...line) => lines.push(line) }, caller: { id: "pass-1" } },
  );
  const error = await failure(arm.request("GET", linkId, { query }));
  expect(error).toMatchObject({ requestId: "request-1", correlationId: "correlation-1" });
  expect(lines).toEqual([
    [
      expect.objectContaining({
        verb: "GET",
        thing: "privateLinkServices/api",
        code: "403",
        azureRequestId: "request-1",
        azureCorrelationId: "correlation-1",
        reconcileID: "pass-1",
      }),
      "asked Azure",
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain("token-1");
});
