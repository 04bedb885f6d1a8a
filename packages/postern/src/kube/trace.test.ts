import { afterEach, expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { inSpan, isTracingEnabled, startTracing } from "./trace.ts";

afterEach(() => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
});

test("traces are off unless OpenTelemetry's own variables ask for them", () => {
  expect(isTracingEnabled({})).toBe(false);
  expect(isTracingEnabled({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c" })).toBe(true);
  expect(isTracingEnabled({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c" })).toBe(true);
  expect(
    isTracingEnabled({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_SDK_DISABLED: "true" }),
  ).toBe(false);
  expect(
    isTracingEnabled({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_TRACES_EXPORTER: "none" }),
  ).toBe(false);
});

test("spans reach the collector that the environment names, nested and with their failures", async () => {
  const { url, requests } = await serve((_one, response) => json(response, 200, {}));
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
  const stop = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: "mine" });
  await inSpan("outer", { "postern.key": "ns/a" }, () =>
    inSpan("inner", {}, async () => {
      throw new Error("broken");
    }).catch(() => {}),
  );
  await stop();
  const [sent] = requests
    .filter((one) => one.url === "/v1/traces")
    .map((one) => JSON.parse(one.body));
  const resource = JSON.stringify(sent.resourceSpans[0].resource);
  expect(resource).toContain('"stringValue":"mine"');
  const spans = sent.resourceSpans[0].scopeSpans[0].spans as {
    name: string;
    spanId: string;
    parentSpanId?: string;
    status: { code: number };
  }[];
  const [inner, outer] = spans;
  expect([inner?.name, outer?.name]).toEqual(["inner", "outer"]);
  expect(inner?.parentSpanId).toBe(outer?.spanId);
  expect([inner?.status.code, outer?.status.code]).toEqual([2, 0]);
});

test("a second start after a stop sends spans, too", async () => {
  const { url, requests } = await serve((_one, response) => json(response, 200, {}));
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
  for (const name of ["first", "second"]) {
    const stop = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    await inSpan(name, {}, async () => {});
    await stop();
  }
  const sent = requests.filter((one) => one.url === "/v1/traces").map((one) => one.body);
  expect(sent.map((body) => /"name":"(first|second)"/.exec(body)?.[1])).toEqual([
    "first",
    "second",
  ]);
});
