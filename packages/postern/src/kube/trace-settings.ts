import type { BatchSpanProcessorOptions, Sampler, SpanLimits } from "@opentelemetry/sdk-trace";

type Sdk = Pick<
  typeof import("@opentelemetry/sdk-trace"),
  "AlwaysOffSampler" | "AlwaysOnSampler" | "ParentBasedSampler" | "TraceIdRatioBasedSampler"
>;

/**
 * The sampler that OTEL_TRACES_SAMPLER names. From version 3 the tracing SDK reads no environment variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). An unknown name counts as the
 * default, `parentbased_always_on`.
 */
export function samplerFrom(env: NodeJS.ProcessEnv, sdk: Sdk): Sampler {
  const ratio = numberIn(env.OTEL_TRACES_SAMPLER_ARG) ?? 1;
  const inRange = ratio >= 0 && ratio <= 1 ? ratio : 1;
  switch (env.OTEL_TRACES_SAMPLER) {
    case "always_on":
      return new sdk.AlwaysOnSampler();
    case "always_off":
      return new sdk.AlwaysOffSampler();
    case "traceidratio":
      return new sdk.TraceIdRatioBasedSampler(inRange);
    case "parentbased_always_off":
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(inRange) });
    default:
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  }
}

/** How spans are batched, by OTEL_BSP_*. */
export function batchingFrom(env: NodeJS.ProcessEnv): Omit<BatchSpanProcessorOptions, "exporter"> {
  return withoutAbsent({
    maxExportBatchSize: numberIn(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
    maxQueueSize: numberIn(env.OTEL_BSP_MAX_QUEUE_SIZE),
    scheduledDelayMillis: numberIn(env.OTEL_BSP_SCHEDULE_DELAY),
    exportTimeoutMillis: numberIn(env.OTEL_BSP_EXPORT_TIMEOUT),
  });
}

/** How large a span may become, by OTEL_SPAN_* and OTEL_ATTRIBUTE_*. */
export function spanLimitsFrom(env: NodeJS.ProcessEnv): SpanLimits {
  return withoutAbsent({
    attributeCountLimit:
      numberIn(env.OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT) ?? numberIn(env.OTEL_ATTRIBUTE_COUNT_LIMIT),
    attributeValueLengthLimit:
      numberIn(env.OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT) ??
      numberIn(env.OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT),
    eventCountLimit: numberIn(env.OTEL_SPAN_EVENT_COUNT_LIMIT),
    linkCountLimit: numberIn(env.OTEL_SPAN_LINK_COUNT_LIMIT),
    attributePerEventCountLimit: numberIn(env.OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT),
    attributePerLinkCountLimit: numberIn(env.OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT),
  });
}

function numberIn(text: string | undefined): number | undefined {
  if (!text?.trim()) return undefined;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

function withoutAbsent<K extends string>(
  settings: Record<K, number | undefined>,
): Partial<Record<K, number>> {
  const present = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<Record<K, number>>;
}
