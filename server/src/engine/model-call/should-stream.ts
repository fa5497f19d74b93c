import type { ModelSettings } from "@beckon/contract";

const maxPlainOutputTokens = 8_192;
const briefReasoning = new Set(["none", "minimal", "low"]);

/**
 * Returns whether a call is streamed. With the setting `auto` it is streamed if the run has a
 * subscriber. It is also streamed if the answer may take minutes, because proxies disconnect
 * requests on which no data arrives for a long time. Other calls are not streamed, because parsing
 * a stream costs several times the CPU time of parsing one JSON body.
 */
export function shouldStream(settings: ModelSettings, hasSubscriber: () => boolean): boolean {
  if (settings.stream !== "auto") return settings.stream === "always";
  const effort = settings.reasoning_effort;
  return (
    hasSubscriber() ||
    (settings.max_output_tokens ?? 0) > maxPlainOutputTokens ||
    (effort !== undefined && !briefReasoning.has(effort))
  );
}
