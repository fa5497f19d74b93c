import type { ModelSettings } from "@beckon/contract";

const maxPlainOutputTokens = 8_192;
const briefReasoning = new Set(["none", "minimal", "low"]);

/**
 * Returns whether a call is streamed. `auto` streams if the run has a subscriber, or if the answer
 * may take minutes: proxies disconnect silent requests. Otherwise it does not, because parsing a
 * stream costs several times the CPU of one JSON body.
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
