import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TokenUsage } from "@beckon/contract";

/** Above this a count is taken for a provider's error: no model answers a billion tokens in one call. */
const absurd = 1_000_000_000;

const isCount = (value: number | undefined): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= absurd;

/**
 * Returns what the provider reports, or undefined if it cannot be true. The libraries turn an absent
 * count into 0, which no prompt has, nor an answer that says anything.
 */
export function reportedUsage(
  usage: LanguageModelV4Usage,
  saysSomething: boolean,
): TokenUsage | undefined {
  const { total: input, cacheRead } = usage.inputTokens;
  const { total: output } = usage.outputTokens;
  if (!isCount(input) || !isCount(output) || input === 0 || (output === 0 && saysSomething))
    return undefined;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: isCount(cacheRead) ? Math.min(cacheRead, input) : 0,
  };
}

/** Four characters make a token: the rule of thumb for English, flagged because it is no more than that. */
export function estimatedUsage(characters: {
  readonly input: number;
  readonly output: number;
}): TokenUsage {
  return {
    input_tokens: Math.ceil(characters.input / 4),
    output_tokens: Math.ceil(characters.output / 4),
    cached_input_tokens: 0,
    estimated: true,
  };
}

/** The sum, flagged as soon as one part of it is estimated. */
export function totalUsage(parts: readonly TokenUsage[]): TokenUsage {
  const total = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
  for (const part of parts) {
    total.input_tokens += part.input_tokens;
    total.output_tokens += part.output_tokens;
    total.cached_input_tokens += part.cached_input_tokens;
  }
  return parts.some((part) => part.estimated) ? { ...total, estimated: true } : total;
}
