import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TokenUsage } from "@beckon/contract";

/** Maximum plausible token count. A higher count is treated as a mistake of the provider. */
const maxPlausibleTokens = 1_000_000_000;

const isCount = (value: number | undefined): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxPlausibleTokens;

/**
 * Returns the usage that the provider reports; undefined if it is implausible. A count of 0 is
 * implausible for any prompt and for an answer with content: the libraries write 0 if the provider
 * sent no count.
 */
export function reportedUsage(
  usage: LanguageModelV4Usage,
  hasContent: boolean,
): TokenUsage | undefined {
  const { total: input, cacheRead } = usage.inputTokens;
  const { total: output } = usage.outputTokens;
  if (!isCount(input) || !isCount(output) || input === 0 || (output === 0 && hasContent))
    return undefined;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: isCount(cacheRead) ? Math.min(cacheRead, input) : 0,
  };
}

/**
 * Returns an estimate of one token for every four characters (the rule of thumb for English),
 * marked as estimated.
 */
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

/** Returns the sum of the parts. It is marked as estimated if any part is. */
export function totalUsage(parts: readonly TokenUsage[]): TokenUsage {
  const total = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
  for (const part of parts) {
    total.input_tokens += part.input_tokens;
    total.output_tokens += part.output_tokens;
    total.cached_input_tokens += part.cached_input_tokens;
  }
  return parts.some((part) => part.estimated) ? { ...total, estimated: true } : total;
}
