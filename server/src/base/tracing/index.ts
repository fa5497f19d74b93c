export { createTracing } from "./create-tracing.ts";
export { areTracesOff, readTraceSettings, type TraceSettings } from "./settings.ts";
export type { RequestTrace, SpanAttributes, TraceSpan, Tracing } from "./tracing.ts";
export { traceVariables } from "./variables.ts";
