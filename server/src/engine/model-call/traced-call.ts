import type { SpanAttributes, TraceSpan } from "../../base/tracing/index.ts";
import { LimitStop } from "../call-limit.ts";
import { RunStopped } from "../journal.ts";
import { type MeteredCall, spentBy } from "../metered-call.ts";
import { ModelFailure } from "../model-failure.ts";
import type { RunRequest } from "../run-request.ts";
import { type AnsweredCall, callModel as call, UnansweredCall } from "./call-model.ts";
import { shouldStream } from "./should-stream.ts";

/**
 * Makes the model call of one step. If traces are on, it records one span, which covers all
 * attempts and the waits between them, as OpenTelemetry's semantic conventions require.
 * @throws {UnansweredCall} see `call-model.ts`.
 */
export function callModel(...given: Parameters<typeof call>): Promise<AnsweredCall> {
  const [{ span }] = given;
  // Without traces, `callTraced` is not used, so that a waiting run does not keep one more
  // suspended function in memory.
  return span === undefined ? call(...given) : callTraced(span, ...given);
}

async function callTraced(
  runSpan: TraceSpan,
  ...given: Parameters<typeof call>
): Promise<AnsweredCall> {
  const [request, step] = given;
  const { model, settings } = request;
  const span = runSpan.child(`chat ${model.modelId}`, "client", {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(request),
    "gen_ai.request.model": model.modelId,
    "gen_ai.request.stream": shouldStream(request) || undefined,
    "gen_ai.request.max_tokens": settings.max_output_tokens,
    "gen_ai.request.temperature": settings.temperature,
    "gen_ai.request.reasoning.level": settings.reasoning_effort,
    "beckon.step": step,
  });
  try {
    const answer = await call(...given);
    span.set({
      ...usageOf(answer.calls),
      "gen_ai.response.model": answer.responseModel,
      "gen_ai.response.finish_reasons": [answer.finish],
    });
    span.end();
    return answer;
  } catch (thrown) {
    if (thrown instanceof UnansweredCall) span.set(usageOf(thrown.calls));
    span.end(errorType(thrown instanceof UnansweredCall ? thrown.reason : thrown));
    throw thrown;
  }
}

/**
 * Names of providers in OpenTelemetry's semantic conventions, by the name that the provider's
 * library uses. Contains only names that differ.
 */
const conventionalNames: Readonly<Record<string, string>> = { google: "gcp.gemini" };

/**
 * Returns the provider's name in OpenTelemetry's conventions. The provider's library appends the
 * name of its API, which is removed: `openai.responses` becomes `openai`.
 */
function providerName({ model }: RunRequest): string {
  const name = model.provider.replace(/\.[^.]*$/, "");
  return conventionalNames[name] ?? name;
}

function usageOf(calls: readonly MeteredCall[]): SpanAttributes {
  const { usage } = spentBy(calls);
  return {
    "beckon.attempts": calls.length,
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens || undefined,
    "gen_ai.usage.cache_write.input_tokens": usage.cache_write_tokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
  };
}

/** Returns the span attribute `error.type`: the provider's status, or why there was no answer. */
function errorType(reason: unknown): string {
  if (reason instanceof RunStopped) return reason.reason;
  if (reason instanceof LimitStop) return reason.end.error.code;
  if (!(reason instanceof ModelFailure)) return "internal_error";
  if (reason.status !== undefined) return String(reason.status);
  if (reason.kind === "timeout") return "timeout";
  return reason.unreachable ? "unreachable" : "model_error";
}
