import { type Attributes, SpanStatusCode, trace } from "@opentelemetry/api";
import { cut, redact, redactData } from "../model/redact.ts";

let tracing = false;
/** Attributes hold text of tenants. */
const longestText = 1_024;

/** Whether the environment asks for traces, by OpenTelemetry's own variables. */
export function tracesWanted(env: NodeJS.ProcessEnv = process.env): boolean {
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
  if (!tracesWanted(env)) return async () => {};
  const [
    { NodeTracerProvider, BatchSpanProcessor },
    { OTLPTraceExporter },
    { defaultResource, resourceFromAttributes },
  ] = await Promise.all([
    import("@opentelemetry/sdk-trace-node"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ "service.name": env.OTEL_SERVICE_NAME ?? "postern" }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  tracing = true;
  return async () => {
    tracing = false;
    await provider.shutdown();
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
