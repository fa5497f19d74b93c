import { z } from "zod";
import { type Setting, whole } from "../settings/index.ts";

/**
 * Declares a variable of OpenTelemetry whose schema accepts any text. `readTraceSettings` checks
 * the value.
 */
const traceVariable = (validValues: string) => ({ schema: z.string().optional(), validValues });

const traceEndpoint = z.url({ protocol: /^https?$/ }).optional();
const tracePairs = "name=value, several separated by commas, with special characters as %XX";

/**
 * The variables of OpenTelemetry that Beckon reads.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const traceVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: traceEndpoint,
    validValues: "an http or https URL, for example http://127.0.0.1:4318",
    help:
      "Root URL of an OpenTelemetry collector, to which [traces](operate.md#traces) are sent " +
      "with OTLP over HTTP, at `/v1/traces`.",
    unset: "no traces",
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: traceEndpoint,
    validValues: "an http or https URL, for example http://127.0.0.1:4318/v1/traces",
    help: "Whole URL to which traces are sent. It takes precedence.",
    unset: "/v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    ...traceVariable(tracePairs),
    help: "Headers of these requests, for example a credential: `authorization=Bearer%20…`.",
    unset: "none",
  },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: {
    ...traceVariable(tracePairs),
    help: "The same for traces only. A header here takes precedence.",
    unset: "none",
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    ...traceVariable("http/protobuf"),
    help: "Only `http/protobuf` is supported.",
    unset: "http/protobuf",
  },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    ...traceVariable("http/protobuf"),
    help: "The same for traces only. It takes precedence.",
    unset: "OTEL_EXPORTER_OTLP_PROTOCOL",
  },
  OTEL_SERVICE_NAME: {
    ...traceVariable("a text"),
    help: "`service.name` of the spans.",
    unset: "beckon",
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    ...traceVariable(tracePairs),
    help: "Further attributes of all spans, for example `deployment.environment.name=production`.",
    unset: "none",
  },
  OTEL_TRACES_SAMPLER: {
    ...traceVariable("always_on, always_off, traceidratio, or one of these after parentbased_"),
    help:
      "Which traces are recorded. With `parentbased_`, the caller decides if its `traceparent` " +
      "is trusted.",
    unset: "parentbased_always_on",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    ...traceVariable("a number from 0 to 1"),
    help: "Part of the traces that `traceidratio` records.",
    unset: "1",
  },
  OTEL_TRACES_EXPORTER: {
    ...traceVariable("otlp or none"),
    help: "Without `otlp`, for example `none`: no traces.",
    unset: "otlp",
  },
  OTEL_SDK_DISABLED: {
    ...traceVariable("true or false"),
    help: "`true`: no traces.",
    unset: "false",
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    schema: whole(1, 600_000, 5_000),
    validValues: "1 to 600000 milliseconds",
    help: "Milliseconds that a span waits for others before it is sent.",
  },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    schema: whole(1, 1_000_000, 2_048),
    validValues: "1 to 1000000 spans",
    help: "Spans of one process that wait to be sent. Further ones are dropped.",
  },
} as const satisfies Record<string, Setting>;

/** The values of `traceVariables`, by name. */
export type TraceVariables = {
  readonly [Name in keyof typeof traceVariables]: z.infer<(typeof traceVariables)[Name]["schema"]>;
};
