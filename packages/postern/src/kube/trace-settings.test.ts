import * as sdk from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { batchingFrom, samplerFrom, spanLimitsFrom } from "./trace-settings.ts";

const children =
  "remoteParentSampled=AlwaysOnSampler, remoteParentNotSampled=AlwaysOffSampler, localParentSampled=AlwaysOnSampler, localParentNotSampled=AlwaysOffSampler";
const parentBased = (root: string) => `ParentBased{root=${root}, ${children}}`;

test.each([
  [undefined, undefined, parentBased("AlwaysOnSampler")],
  ["always_on", undefined, "AlwaysOnSampler"],
  ["always_off", undefined, "AlwaysOffSampler"],
  ["traceidratio", "0.25", "TraceIdRatioBased{0.25}"],
  ["traceidratio", undefined, "TraceIdRatioBased{1}"],
  ["traceidratio", "7", "TraceIdRatioBased{1}"],
  ["traceidratio", "half", "TraceIdRatioBased{1}"],
  ["parentbased_always_on", undefined, parentBased("AlwaysOnSampler")],
  ["parentbased_always_off", undefined, parentBased("AlwaysOffSampler")],
  ["parentbased_traceidratio", "0.5", parentBased("TraceIdRatioBased{0.5}")],
  ["no_such_sampler", undefined, parentBased("AlwaysOnSampler")],
])("OTEL_TRACES_SAMPLER=%s with the argument %s selects its sampler", (name, argument, sampler) => {
  const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
  expect(String(samplerFrom(env, sdk))).toBe(sampler);
});

test("batches and limits have OpenTelemetry's defaults unless a number is set", () => {
  expect(batchingFrom({ OTEL_BSP_MAX_QUEUE_SIZE: " ", OTEL_BSP_SCHEDULE_DELAY: "soon" })).toEqual(
    {},
  );
  expect(
    batchingFrom({ OTEL_BSP_MAX_QUEUE_SIZE: "64", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "8" }),
  ).toEqual({ maxQueueSize: 64, maxExportBatchSize: 8 });
  expect(spanLimitsFrom({})).toEqual({});
  expect(spanLimitsFrom({ OTEL_SPAN_EVENT_COUNT_LIMIT: "3" })).toEqual({ eventCountLimit: 3 });
});

test("a limit for spans counts before the one for all attributes", () => {
  const all = { OTEL_ATTRIBUTE_COUNT_LIMIT: "10", OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "100" };
  expect(spanLimitsFrom(all)).toEqual({ attributeCountLimit: 10, attributeValueLengthLimit: 100 });
  expect(spanLimitsFrom({ ...all, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "0" })).toEqual({
    attributeCountLimit: 0,
    attributeValueLengthLimit: 100,
  });
});
