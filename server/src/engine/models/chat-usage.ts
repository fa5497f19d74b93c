import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { JSONObject, LanguageModelV4Usage } from "@ai-sdk/provider";
import { maxUnseenTokens } from "../usage.ts";

type ChatConfig = ConstructorParameters<typeof OpenAICompatibleChatLanguageModel>[1];
type ReportedChatUsage = Parameters<NonNullable<ChatConfig["convertUsage"]>>[0];

const unreported: LanguageModelV4Usage = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/**
 * Returns the usage that a server with OpenAI's chat completions API reports. Unlike the library's
 * conversion, it reads what servers report outside of OpenAI's fields: output tokens that only
 * `total_tokens` contains (reasoning of xAI and of Google's endpoint), the cached tokens of Kimi
 * (`cached_tokens`) and DeepSeek (`prompt_cache_hit_tokens`), and the tokens that OpenRouter writes
 * to a cache (`cache_write_tokens`), which some models charge more for than for other input.
 */
export function chatUsage(usage: ReportedChatUsage): LanguageModelV4Usage {
  if (usage === null || usage === undefined) return unreported;
  const cached =
    usage.prompt_tokens_details?.cached_tokens ??
    [usage.cached_tokens, usage.prompt_cache_hit_tokens].find(
      (count) => typeof count === "number",
    ) ??
    0;
  const written = usage.prompt_tokens_details?.cache_write_tokens;
  const cacheWrite = typeof written === "number" ? written : undefined;
  const input = usage.prompt_tokens ?? 0;
  const output = outputTokens(usage);
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    inputTokens: {
      total: input,
      noCache: Math.max(0, input - cached - (cacheWrite ?? 0)),
      cacheRead: cached,
      cacheWrite,
    },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
    raw: usage as JSONObject,
  };
}

/**
 * Returns the output tokens, including those that are only in the total. A total that is too large
 * to be true is ignored. A missing count is not derived from the total: the usage is then
 * estimated.
 */
function outputTokens({
  prompt_tokens,
  completion_tokens,
  total_tokens,
}: NonNullable<ReportedChatUsage>): number {
  if (typeof completion_tokens !== "number") return 0;
  const uncounted = (total_tokens ?? 0) - (prompt_tokens ?? 0) - completion_tokens;
  const isPlausible = Number.isInteger(uncounted) && uncounted > 0 && uncounted <= maxUnseenTokens;
  return isPlausible ? completion_tokens + uncounted : completion_tokens;
}
