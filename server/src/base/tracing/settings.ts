import type { TraceVariables } from "./variables.ts";

/** How spans are made and exported. The exporter reads further `OTEL_EXPORTER_OTLP_*` variables. */
export interface TraceSettings {
  /** URL to which spans are sent. */
  readonly url: string;
  /** Headers of the requests to `url`. They often contain a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: TraceSampler;
  /** Maximum milliseconds that an ended span waits for its batch to be sent. */
  readonly delayMs: number;
  /** Maximum spans that wait to be sent. Above it, spans are dropped. */
  readonly maxQueuedSpans: number;
}

/** Which traces are recorded. */
export interface TraceSampler {
  /** Fraction of the traces to record, 0 to 1. */
  readonly ratio: number;
  /** Whether the header `traceparent`, if present and trusted, decides instead of `ratio`. */
  readonly followsParent: boolean;
}

/**
 * Returns whether there is no endpoint for traces, or traces are turned off. If so, the values of
 * `traceVariables` must be ignored, because a platform may have set them for other programs.
 */
export function areTracesOff(env: Readonly<Record<string, string | undefined>>): boolean {
  const exporters = (env.OTEL_TRACES_EXPORTER || "otlp").split(",");
  return (
    env.OTEL_SDK_DISABLED?.toLowerCase() === "true" ||
    !exporters.some((name) => name.trim() === "otlp") ||
    !(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
  );
}

/**
 * Reads the settings of traces; undefined if there is no endpoint.
 * @param report called with each mistake, as a sentence without values that can be secret
 */
export function readTraceSettings(
  variables: TraceVariables,
  report: (problem: string) => void,
): TraceSettings | undefined {
  const url = urlOf(variables);
  if (url === undefined) return undefined;
  const pairs = (
    name:
      | "OTEL_EXPORTER_OTLP_HEADERS"
      | "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
      | "OTEL_RESOURCE_ATTRIBUTES",
  ) => {
    const read = readPairs(variables[name] ?? "");
    if (read === undefined)
      report(
        `${name} was ${variables[name]?.length ?? 0} characters; ` +
          "it must be name=value, several separated by commas, with special characters as %XX.",
      );
    return read ?? {};
  };
  const protocolName =
    variables.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL === undefined
      ? "OTEL_EXPORTER_OTLP_PROTOCOL"
      : "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
  const protocol = variables[protocolName] ?? "http/protobuf";
  if (protocol !== "http/protobuf")
    report(
      `${protocolName} was ${JSON.stringify(protocol)}; it must be http/protobuf. ` +
        "Enter the endpoint for HTTP, usually on port 4318.",
    );
  const { "service.name": named, ...resourceAttributes } = pairs("OTEL_RESOURCE_ATTRIBUTES");
  return {
    url,
    headers: {
      ...pairs("OTEL_EXPORTER_OTLP_HEADERS"),
      ...pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    },
    serviceName: variables.OTEL_SERVICE_NAME ?? named ?? "beckon",
    resourceAttributes,
    sampler: readSampler(variables, report),
    delayMs: variables.OTEL_BSP_SCHEDULE_DELAY,
    maxQueuedSpans: variables.OTEL_BSP_MAX_QUEUE_SIZE,
  };
}

function urlOf({
  OTEL_EXPORTER_OTLP_ENDPOINT: base,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
}: TraceVariables): string | undefined {
  return url ?? (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/traces`);
}

/** Reads a list in the format of W3C Baggage; undefined if it is malformed. */
function readPairs(text: string): Record<string, string> | undefined {
  const pairs: Record<string, string> = {};
  for (const pair of text.split(",").filter((each) => each.trim() !== "")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z/-]+$/.test(name)) return undefined;
    try {
      pairs[name] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return undefined;
    }
  }
  return pairs;
}

const samplers = ["always_on", "always_off", "traceidratio"];

function readSampler(
  { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }: TraceVariables,
  report: (problem: string) => void,
): TraceSampler {
  const given = name ?? "parentbased_always_on";
  const followsParent = given.startsWith("parentbased_");
  const root = followsParent ? given.slice("parentbased_".length) : given;
  if (!samplers.includes(root))
    report(
      `OTEL_TRACES_SAMPLER was ${JSON.stringify(name)}; it must be ` +
        `${samplers.join(", ")}, or one of these after parentbased_.`,
    );
  if (root !== "traceidratio") return { ratio: root === "always_off" ? 0 : 1, followsParent };
  const ratio = Number(argument ?? "1");
  if (!(ratio >= 0 && ratio <= 1))
    report(
      `OTEL_TRACES_SAMPLER_ARG was ${JSON.stringify(argument)}; it must be a number from 0 to 1.`,
    );
  return { ratio, followsParent };
}
