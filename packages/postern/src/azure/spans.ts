import type { Span, TracerProvider } from "@opentelemetry/api";

/** Where every copy of the OpenTelemetry API of major version 1 keeps what the process has registered. */
const registry = Symbol.for("opentelemetry.js.api.1");

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of OpenTelemetry. */
const client = 2;
const error = 2;

/**
 * Begin the span of a request, where the process traces at all. The API is not imported for it: the agent never traces, and
 * to load the API takes half as long as to start Node.
 */
export function startRequestSpan(name: string): Span | undefined {
  const registered = Reflect.get(globalThis, registry) as { trace?: TracerProvider } | undefined;
  return registered?.trace?.getTracer("postern/azure").startSpan(name, { kind: client });
}

/** Say on a span why its request failed. */
export function failSpan(span: Span | undefined, message: string): void {
  span?.setStatus({ code: error, message });
}

/** The trace that a span is in; undefined where there is none. */
export function traceIdOf(span: Span | undefined): string | undefined {
  const traceId = span?.spanContext().traceId;
  return traceId !== undefined && /[1-9a-f]/.test(traceId) ? traceId : undefined;
}
