import { type Attributes, context, SpanStatusCode, trace } from "@opentelemetry/api";
import { cut, redact, redactData } from "@postern/core/redact.ts";
import { batchingFrom, samplerFrom, spanLimitsFrom } from "./trace-settings.ts";

let tracing = false;
/** Attributes hold text of tenants. */
const longestText = 1_024;

/** Whether the environment asks for traces, by OpenTelemetry's own variables. */
export function isTracingEnabled(env: NodeJS.ProcessEnv = process.env): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none")
    return false;
  return Boolean(
    env.OTEL_EXPORTER_OTLP_ENDPOINT ||
      env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ||
      env.OTEL_TRACES_EXPORTER,
  );
}

/** Start sending traces where the environment asks for it; the answer sends what is left and stops. */
export async function startTracing(
  env: NodeJS.ProcessEnv = process.env,
): Promise<() => Promise<void>> {
  if (!isTracingEnabled(env)) return async () => {};
  const [sdk, { AsyncLocalStorageContextManager }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/context-async-hooks"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
  const exporter = new OTLPTraceExporter();
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({ "service.name": env.OTEL_SERVICE_NAME ?? "postern" }),
      ),
    sampler: samplerFrom(env, sdk),
    spanLimits: spanLimitsFrom(env),
    spanProcessors: [new sdk.BatchSpanProcessor({ ...batchingFrom(env), exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  tracing = true;
  return async () => {
    tracing = false;
    await provider.shutdown();
    // OpenTelemetry refuses to replace what is registered: the next start would send nothing.
    for (const api of [trace, context]) api.disable();
  };
}

/** Run something within a span. Costs one look at a boolean when traces are off. */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  fn: () => Promise<T>,
): Promise<T> {
  if (!tracing) return fn();
  const clean = redactData(attributes, longestText) as Attributes;
  return trace.getTracer("postern").startActiveSpan(name, { attributes: clean }, async (span) => {
    try {
      return await fn();
    } catch (error) {
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: error instanceof Error ? redact(cut(error.message, longestText)) : "",
      });
      throw error;
    } finally {
      span.end();
    }
  });
}
