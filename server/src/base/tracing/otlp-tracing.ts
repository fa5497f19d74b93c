import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { elapsed, undefinedAfter } from "../clock.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { version } from "../version.ts";
import { runTraceIds } from "./run-trace.ts";
import type { TraceSampler, TraceSettings } from "./settings.ts";
import { formatTraceparent, parseTraceparent, type Traceparent } from "./traceparent.ts";
import type {
  RequestTrace,
  SpanAttributes,
  TraceSpan,
  Tracing,
  TracingOptions,
} from "./tracing.ts";

/**
 * Maximum characters of an attribute. Tenants and providers choose the text of some attributes,
 * which could have any length.
 */
const maxAttributeCharacters = 200;

/** Options for starting a span whose parent is not a span of this process. */
interface RootOptions {
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes;
  /** The parent, a span of another process; undefined for none. */
  readonly parent?: Traceparent | undefined;
  /** Ids that the span gets; random ones by default. */
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly links?: readonly Traceparent[];
  /** Unix time in milliseconds. Default: now. */
  readonly startTime?: number;
}

/** Creates tracing that exports spans with OTLP over HTTP, in batches. */
export function createOtlpTracing(
  settings: TraceSettings,
  { log, processId, trustParent }: TracingOptions,
): Tracing {
  const ids = new GivenIds();
  const provider = new TracerProvider({
    idGenerator: ids,
    sampler: samplerOf(settings.sampler),
    spanLimits: { attributeValueLengthLimit: maxAttributeCharacters },
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.version": version,
        "service.instance.id": processId,
        ...settings.resourceAttributes,
        "service.name": settings.serviceName,
      }),
    ),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportFailures(
          new OTLPTraceExporter({ url: settings.url, headers: { ...settings.headers } }),
          log,
        ),
        scheduledDelayMillis: settings.delayMs,
        maxQueueSize: settings.maxQueuedSpans,
      }),
    ],
  });
  // The provider is not registered globally, and no context is ever active: the parent of each span
  // is passed as an argument. Packages that look for a global provider therefore add no spans.
  const tracer = provider.getTracer("beckon", version);

  function startRoot(name: string, options: RootOptions): Span {
    const { kind, attributes = {}, parent, links = [], startTime } = options;
    ids.give(options);
    return tracer.startSpan(
      name,
      {
        kind,
        attributes: given(attributes),
        links: links.map(toLink),
        ...(startTime === undefined ? {} : { startTime }),
      },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote(parent)),
    );
  }

  const startBelow = (parent: Context, name: string, kind: SpanKind, attributes: SpanAttributes) =>
    tracer.startSpan(name, { kind, attributes: given(attributes) }, parent);

  class OtlpSpan implements TraceSpan {
    readonly #span: Span;
    readonly traceparent: string;

    constructor(span: Span) {
      this.#span = span;
      this.traceparent = formatTraceparent(idsOf(span));
    }

    child(name: string, kind: "internal" | "client", attributes: SpanAttributes): TraceSpan {
      const kindOf = kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL;
      return new OtlpSpan(startBelow(contextOf(this.#span), name, kindOf, attributes));
    }

    rename(name: string): void {
      this.#span.updateName(name);
    }

    set(attributes: SpanAttributes): void {
      this.#span.setAttributes(given(attributes));
    }

    end(errorType?: string): void {
      finish(this.#span, errorType);
    }
  }

  /**
   * The span is started only when the request has started a run, or has ended. Before that, it is
   * not known whether the span belongs to the caller's trace, the run's, or one of its own.
   */
  class OtlpRequest implements RequestTrace {
    readonly #startedAt = Date.now();
    readonly #elapsedAt = elapsed();
    readonly #incoming: Traceparent | undefined;
    #span: Span | undefined;
    #runId: string | undefined;

    constructor(incoming: Traceparent | undefined) {
      this.#incoming = incoming;
    }

    get span(): Span | undefined {
      return this.#span;
    }

    startRun(runId: string): void {
      this.#runId = runId;
      const { traceId, requestSpanId: spanId, runSpanId } = runTraceIds(runId);
      // If the request's span is in the caller's trace, it gets a link to the run's trace.
      // Processes that execute the run later add their spans to the run's trace.
      this.#span ??= this.#start({ traceId, spanId }, { traceId, spanId: runSpanId, ...sampled });
    }

    end(name: string, attributes: SpanAttributes, errorType?: string): void {
      this.#span ??= this.#start({});
      this.#span.updateName(name);
      this.#span.setAttributes(given({ ...attributes, "beckon.run.id": this.#runId }));
      finish(this.#span, errorType, this.#startedAt + elapsed() - this.#elapsedAt);
    }

    #start(own: { traceId?: string; spanId?: string }, run?: Traceparent): Span {
      const incoming = this.#incoming;
      const common = { kind: SpanKind.SERVER, startTime: this.#startedAt };
      if (incoming !== undefined && trustParent)
        return startRoot("HTTP", {
          ...common,
          parent: incoming,
          links: run === undefined ? [] : [run],
        });
      return startRoot("HTTP", {
        ...common,
        ...own,
        links: incoming === undefined ? [] : [incoming],
      });
    }
  }

  return {
    request: (traceparent) => new OtlpRequest(parseTraceparent(traceparent)),
    run({ runId, workspaceId, agentId, resumed, trace: request }) {
      const { traceId, requestSpanId, runSpanId } = runTraceIds(runId);
      const attributes: SpanAttributes = {
        "gen_ai.operation.name": "invoke_agent",
        "beckon.run.id": runId,
        "beckon.agent.id": agentId,
        "beckon.workspace.id": workspaceId,
        "beckon.run.resumed": resumed,
      };
      const name = "invoke_agent";
      const parent = request instanceof OtlpRequest ? request.span : undefined;
      if (parent !== undefined) {
        ids.give({ spanId: runSpanId });
        return new OtlpSpan(startBelow(contextOf(parent), name, SpanKind.INTERNAL, attributes));
      }
      const earlier = resumed ? runSpanId : requestSpanId;
      return new OtlpSpan(
        startRoot(name, {
          ...{ kind: SpanKind.INTERNAL, attributes, traceId },
          spanId: resumed ? undefined : runSpanId,
          links: [{ traceId, spanId: earlier, ...sampled }],
        }),
      );
    },
    delivery(runId, attributes) {
      const name = `deliver ${attributes["beckon.event.type"]}`;
      if (runId === null)
        return new OtlpSpan(startRoot(name, { kind: SpanKind.CLIENT, attributes }));
      const { traceId, runSpanId } = runTraceIds(runId);
      const links = [{ traceId, spanId: runSpanId, ...sampled }];
      return new OtlpSpan(startRoot(name, { kind: SpanKind.CLIENT, attributes, traceId, links }));
    },
    async close(maxWaitMs) {
      await undefinedAfter(
        provider.shutdown().catch(() => {}),
        Math.min(flushMs.max, Math.max(flushMs.min, maxWaitMs)),
      );
    },
  };
}

/**
 * Minimum and maximum time that the shutdown waits for the export of the last spans. The maximum is
 * shorter than the time for which the exporter retries, so that a restart is not delayed while the
 * collector is down.
 */
const flushMs = { min: 1_000, max: 5_000 };

/**
 * Links to spans of other processes count as sampled, because this process does not know whether
 * the spans were sampled.
 */
const sampled = { isSampled: true };

/**
 * Generates ids of spans and traces. An id is random unless `give` has set it for the next span.
 */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #traceId: string | undefined;
  #spanId: string | undefined;

  generateTraceId(): string {
    const traceId = this.#traceId ?? this.#random.generateTraceId();
    this.#traceId = undefined;
    return traceId;
  }

  generateSpanId(): string {
    const spanId = this.#spanId ?? this.#random.generateSpanId();
    this.#spanId = undefined;
    return spanId;
  }

  give({ traceId, spanId }: { traceId?: string | undefined; spanId?: string | undefined }): void {
    this.#traceId = traceId;
    this.#spanId = spanId;
  }
}

function samplerOf({ ratio, followsParent }: TraceSampler) {
  const root = new TraceIdRatioBasedSampler(ratio);
  // A span whose parent is in this process always follows its parent, so that traces are complete.
  return followsParent
    ? new ParentBasedSampler({ root })
    : new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}

/** Reports the outcome of each export to the log, which limits the lines about an outage. */
function reportFailures(exporter: SpanExporter, log: Log): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error === undefined && result.code === 0) log.outages.traces.succeeded("");
        else log.outages.traces.failed("", { reason: messageOf(result.error) });
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

const contextOf = (span: Span): Context => trace.setSpan(ROOT_CONTEXT, span);

function idsOf(span: Span): Traceparent {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

function remote({ traceId, spanId, isSampled }: Traceparent): SpanContext {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId, spanId, traceFlags, isRemote: true };
}

const toLink = (to: Traceparent): Link => ({ context: remote(to) });

/** Returns the attributes that have a value. */
function given(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function finish(span: Span, errorType: string | undefined, endTime?: number): void {
  if (errorType !== undefined) {
    span.setAttribute("error.type", errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(endTime);
}
