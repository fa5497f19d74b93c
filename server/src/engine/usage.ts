import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TokenUsage } from "@beckon/contract";

/** Maximum plausible token count. A higher count is treated as a mistake of the provider. */
const maxPlausibleTokens = 1_000_000_000;

const isCount = (value: number | undefined): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxPlausibleTokens;

/**
 * Returns the usage that the provider reports; undefined if it is implausible. 0 input tokens are
 * always implausible, and 0 output tokens are if the response has content. The AI SDK's libraries
 * write 0 if the provider sent no count.
 */
export function reportedUsage(
  usage: LanguageModelV4Usage,
  hasContent: boolean,
): TokenUsage | undefined {
  const { total: input, cacheRead, cacheWrite } = usage.inputTokens;
  const { total: output, reasoning } = usage.outputTokens;
  if (!isCount(input) || !isCount(output) || input === 0 || (output === 0 && hasContent))
    return undefined;
  const cached = isCount(cacheRead) ? Math.min(cacheRead, input) : 0;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: cached,
    ...parts(
      isCount(cacheWrite) ? Math.min(cacheWrite, input - cached) : 0,
      isCount(reasoning) ? Math.min(reasoning, output) : 0,
    ),
  };
}

/**
 * Maximum plausible number of hidden reasoning tokens of one call. Beckon does not get their text,
 * so it cannot derive a limit from the number of bytes. Models with hidden reasoning write up to
 * this many tokens if `max_output_tokens` is not set.
 */
export const maxUnseenTokens = 128_000;

/**
 * Returns whether one call can have used this many tokens. A tokenizer produces at most one token
 * per byte. Our estimate is one token for four bytes, so text has at most four times as many tokens
 * as the estimate. Hidden reasoning is added to this.
 *
 * @param limits `maxOutputTokens` is the output limit that was sent, if any. The model can use all
 *   of it for reasoning. `estimate` returns our own estimate. It is called only if the usage is
 *   large.
 */
export function isPlausible(
  { input_tokens, output_tokens }: TokenUsage,
  limits: {
    readonly maxOutputTokens: number | undefined;
    readonly estimate: () => TokenUsage;
  },
): boolean {
  const { maxOutputTokens = 0 } = limits;
  const sum = input_tokens + output_tokens;
  const unseen = Math.max(maxUnseenTokens, maxOutputTokens);
  if (sum <= unseen) return true;
  const estimate = limits.estimate();
  return sum <= 4 * (estimate.input_tokens + estimate.output_tokens) + unseen;
}

/**
 * Returns an estimate of one token for every four bytes of UTF-8 (the rule of thumb for English
 * texts), marked as estimated.
 */
export function estimatedUsage(bytes: {
  readonly input: number;
  readonly output: number;
}): TokenUsage {
  return {
    input_tokens: Math.ceil(bytes.input / 4),
    output_tokens: Math.ceil(bytes.output / 4),
    cached_input_tokens: 0,
    estimated: true,
  };
}

/** Usage of a call that the provider does not bill. */
export const noUsage: TokenUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };

/** Returns the sum of the usages in `all`. It is marked as estimated if any of them is. */
export function totalUsage(all: readonly TokenUsage[]): TokenUsage {
  const total = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
  let cacheWrite = 0;
  let reasoning = 0;
  for (const each of all) {
    total.input_tokens += each.input_tokens;
    total.output_tokens += each.output_tokens;
    total.cached_input_tokens += each.cached_input_tokens;
    cacheWrite += each.cache_write_tokens ?? 0;
    reasoning += each.reasoning_tokens ?? 0;
  }
  return {
    ...total,
    ...parts(cacheWrite, reasoning),
    ...(all.some((each) => each.estimated) ? { estimated: true } : {}),
  };
}

/** Returns the two counts as fields, each only if it is not 0. */
function parts(
  cacheWrite: number,
  reasoning: number,
): Pick<TokenUsage, "cache_write_tokens" | "reasoning_tokens"> {
  return {
    ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  };
}
