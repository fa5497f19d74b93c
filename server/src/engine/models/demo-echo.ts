import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

/** The value of `model` with which an agent uses the demo model. */
export const demoEchoName = "demo/echo";

/**
 * `demo/echo`: a deterministic model without account or network, so that Beckon works right after
 * installation.
 *
 * 1. After tool results, the model answers with one line for each: `<tool> answered: <result>`.
 * 2. Otherwise each line `/call <tool> <arguments as JSON>` of the last user message becomes a tool
 *    call. Tool names and arguments are not validated, so that users can also see how calls are
 *    rejected.
 * 3. Otherwise the model repeats the last user message. If that is blank, it says so, because a
 *    blank answer counts as none.
 *
 * The reported number of tokens is a quarter of the number of characters, for the prompt and for
 * the answer.
 */
export const demoEcho: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "demo",
  modelId: "echo",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => answer(prompt),
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(streamParts(answer(prompt))) }),
};

function answer(prompt: LanguageModelV4Prompt): LanguageModelV4GenerateResult {
  const content = reply(prompt);
  const calls = content.some((part) => part.type === "tool-call");
  const input = Math.ceil(charactersIn(prompt) / 4);
  const output = Math.ceil(charactersIn(content) / 4);
  return {
    content,
    finishReason: calls
      ? { unified: "tool-calls", raw: "tool_calls" }
      : { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
    warnings: [],
  };
}

function reply(prompt: LanguageModelV4Prompt): LanguageModelV4Content[] {
  const last = prompt.at(-1);
  if (last?.role === "tool") return [{ type: "text", text: toolResults(last.content) }];

  const message = prompt.findLast((candidate) => candidate.role === "user");
  const text =
    message?.content.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
  const calls = [...text.matchAll(/^\/call[ \t]+(\S+)[ \t]*(.*)$/gm)].map(
    ([, tool = "", args = ""], position): LanguageModelV4Content => ({
      type: "tool-call",
      toolCallId: `echo_${prompt.length}_${position + 1}`,
      toolName: tool,
      input: args.trim(),
    }),
  );
  if (calls.length > 0) return calls;
  return [{ type: "text", text: text.trim() === "" ? "The message is blank." : text }];
}

function toolResults(
  parts: Extract<LanguageModelV4Prompt[number], { role: "tool" }>["content"],
): string {
  const lines = parts.flatMap((part) => {
    if (part.type !== "tool-result") return [];
    const value = "value" in part.output ? part.output.value : part.output.reason;
    return [
      `${part.toolName} answered: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    ];
  });
  return lines.join("\n");
}

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + charactersIn(member), 0);
}

function* streamParts({
  content,
  finishReason,
  usage,
}: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  for (const [position, part] of content.entries()) {
    if (part.type === "tool-call") yield part;
    if (part.type !== "text") continue;
    const id = String(position);
    yield { type: "text-start", id };
    for (const [delta] of part.text.matchAll(/\s*\S+\s*$|\s*\S+|\s+$/g))
      yield { type: "text-delta", id, delta };
    yield { type: "text-end", id };
  }
  yield { type: "finish", finishReason, usage };
}
