import type { TokenUsage } from "@beckon/contract";
import { isJsonObject } from "../../base/json/index.ts";
import { reportedUsage } from "../usage.ts";

/**
 * Returns the usage in the body of a provider's error: `{usage: {…}, error}` or `{error: {usage:
 * {…}}}`, with the field names of OpenAI or Anthropic. Returns undefined if there is none, which is
 * usual because errors are not billed.
 */
export function usageInError(body: unknown): TokenUsage | undefined {
  if (!isJsonObject(body)) return undefined;
  const inner = isJsonObject(body.error) ? body.error.usage : undefined;
  const usage = isJsonObject(body.usage) ? body.usage : inner;
  if (!isJsonObject(usage)) return undefined;
  const count = (...names: readonly string[]) =>
    names.map((name) => usage[name]).find((value) => typeof value === "number");
  const input = count("prompt_tokens", "input_tokens");
  const output = count("completion_tokens", "output_tokens") ?? 0;
  return reportedUsage(
    {
      inputTokens: {
        total: input,
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: output, text: undefined, reasoning: undefined },
    },
    false,
  );
}
