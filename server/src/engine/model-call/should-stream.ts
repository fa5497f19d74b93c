import type { ModelSettings } from "@beckon/contract";

const longAnswer = 8_192;
const shortThought = new Set(["none", "minimal", "low"]);

/**
 * Whether a call is streamed. `auto` streams when someone watches, or when the answer may be so long that a plain call
 * would stay silent for minutes and be cut by something on the way; else a plain call, since parsing a stream costs
 * several times the CPU of one JSON body.
 */
export function shouldStream(settings: ModelSettings, watched: () => boolean): boolean {
  if (settings.stream !== "auto") return settings.stream === "always";
  const effort = settings.reasoning_effort;
  return (
    watched() ||
    (settings.max_output_tokens ?? 0) > longAnswer ||
    (effort !== undefined && !shortThought.has(effort))
  );
}
