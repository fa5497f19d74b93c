/**
 * The tokens of a model call. Input includes cached and cache-written tokens, output includes
 * reasoning tokens.
 */
export interface TokenCounts {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
}

type AllCounts = { readonly [Name in keyof TokenCounts]-?: number };

/**
 * Returns the counts with each part at most as large as the whole. For example, some providers
 * report more cached tokens than input tokens.
 */
export function plausibleParts(counts: TokenCounts): AllCounts {
  const { input_tokens, output_tokens } = counts;
  const cached = Math.min(counts.cached_input_tokens, input_tokens);
  return {
    input_tokens,
    output_tokens,
    cached_input_tokens: cached,
    cache_write_tokens: Math.min(counts.cache_write_tokens ?? 0, input_tokens - cached),
    reasoning_tokens: Math.min(counts.reasoning_tokens ?? 0, output_tokens),
  };
}
