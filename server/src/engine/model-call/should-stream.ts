import type { ModelSettings } from "@beckon/contract";
import { isGatewayTimeout, type ModelFailure } from "../model-failure.ts";
import type { RunRequest } from "../run-request.ts";

const maxPlainOutputTokens = 8_192;
const briefReasoning = new Set(["none", "minimal", "low"]);

/**
 * Returns whether a call is streamed. With the setting `auto` it is streamed if the run has a
 * subscriber. It is also streamed if the answer may take minutes, or if a gateway has recently
 * ended a call of the model (see `Circuit.streamNext`), because proxies disconnect requests on
 * which no data arrives for a long time. Other calls are not streamed, because parsing a stream
 * costs several times the CPU time of parsing one JSON body.
 */
export function shouldStream({ settings, hasSubscriber, circuit }: RunRequest): boolean {
  if (settings.stream !== "auto") return settings.stream === "always";
  const effort = settings.reasoning_effort;
  return (
    hasSubscriber() ||
    circuit?.needsStream() === true ||
    (settings.max_output_tokens ?? 0) > maxPlainOutputTokens ||
    (effort !== undefined && !briefReasoning.has(effort))
  );
}

/** Silence after which a lost connection may mean that a proxy closed it, in milliseconds. */
const maxSilenceMs = 30_000;

/**
 * Returns whether the attempts after a failed one are streamed although it was not. With the
 * setting `auto` they are if the wait for the whole answer may have been too long for a proxy:
 * without streaming, the same wait would end in the same way.
 *
 * @param silentMs see `AttemptRecord`.
 */
export function shouldStreamNext(
  settings: ModelSettings,
  failure: ModelFailure,
  silentMs: number,
): boolean {
  const isLost = failure.unreachable && silentMs > maxSilenceMs;
  return settings.stream === "auto" && (isLost || isGatewayTimeout(failure.status));
}
