import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

const mark = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Marks where the cached part of a prompt ends, for APIs that cache only what is marked. There are
 * three marks, and Anthropic allows four:
 *
 * - the instructions, or the last tool if there are none: this part is the same in all runs;
 * - the last message, to which the next step adds its answer and the results of its tools;
 * - the message that was the last one in the previous step: Anthropic searches only the 20 blocks
 *   before a mark for a part that is in its cache, and a step can add more.
 *
 * Without tools there are no marks. A run then has one step, and writing to the cache costs more
 * than uncached input.
 */
export function withCacheMarks({
  prompt,
  tools = [],
}: Pick<LanguageModelV4CallOptions, "prompt" | "tools">): Pick<
  LanguageModelV4CallOptions,
  "prompt" | "tools"
> {
  const lastTool = tools.at(-1);
  if (lastTool === undefined) return { prompt };
  const hasInstructions = prompt[0]?.role === "system";
  const marked = new Set([hasInstructions ? 0 : -1, prompt.length - 3, prompt.length - 1]);
  return {
    prompt: prompt.map((message, index) =>
      marked.has(index)
        ? { ...message, providerOptions: { ...message.providerOptions, ...mark } }
        : message,
    ),
    tools:
      hasInstructions || lastTool.type !== "function"
        ? tools
        : [...tools.slice(0, -1), { ...lastTool, providerOptions: mark }],
  };
}
