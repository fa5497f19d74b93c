import type { TraceSettings } from "./settings.ts";
import type { Tracing, TracingOptions } from "./tracing.ts";

/** The settings of tracing. */
interface TracingConfig {
  readonly traces: TraceSettings | undefined;
  readonly trustedProxies: number;
}

/**
 * Creates the tracing of this process. Without `traces`, returns undefined and does not load the
 * packages of OpenTelemetry.
 */
export async function createTracing(
  { traces, trustedProxies }: TracingConfig,
  options: Omit<TracingOptions, "trustParent">,
): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined;
  const { createOtlpTracing } = await import("./otlp-tracing.ts");
  return createOtlpTracing(traces, { ...options, trustParent: trustedProxies > 0 });
}
