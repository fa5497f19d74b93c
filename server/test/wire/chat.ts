import { defaultUsage, finishOf, halves, type OutputUsage, words } from "./model-output.ts";
import type { Wire } from "./wire.ts";

/** OpenAI's chat completions. `reasoning_content` is a field of other servers with this API. */
export const chat: Wire = {
  name: "chat completions",
  path: () => "/chat/completions",
  matches: (path) => path.endsWith("/chat/completions"),
  streamed: (_path, body) => body.stream === true,
  lastInput: (body) => {
    const content = (body.messages as readonly { role: string; content: unknown }[]).findLast(
      ({ role }) => role === "user",
    )?.content;
    return typeof content === "string" ? content : "";
  },
  plain: (said, model) => {
    const { text, reasoning, calls = [], usage = defaultUsage } = said;
    const finish = finishOf(said);
    const toolCalls = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    }));
    const message = {
      role: "assistant",
      content: text ?? null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_700_000_000,
      model,
      choices: [{ index: 0, message, ...(finish !== null && { finish_reason: finish }) }],
      ...(usage !== null && { usage: usageOf(usage) }),
    };
  },
  stream: (said, model) => {
    const { text, reasoning, calls = [], usage = defaultUsage } = said;
    const finish = finishOf(said);
    const closing = [
      ...(finish === null ? [] : [chunk(model, {}, finish)]),
      ...(usage === null
        ? []
        : [
            {
              id: "chatcmpl-1",
              object: "chat.completion.chunk",
              model,
              choices: [],
              usage: usageOf(usage),
            },
          ]),
      "[DONE]",
    ];
    const events = [
      ...words(reasoning).map((word) => chunk(model, { reasoning_content: word })),
      ...words(text).map((word) => chunk(model, { content: word })),
      ...calls.flatMap(({ id, name, arguments: args }, index) => {
        const [first, rest] = halves(args);
        return [
          chunk(model, {
            tool_calls: [{ index, id, type: "function", function: { name, arguments: first } }],
          }),
          chunk(model, { tool_calls: [{ index, function: { arguments: rest } }] }),
        ];
      }),
      ...closing,
    ];
    return { events, closing: closing.length };
  },
  error: (_status, message) => ({ error: { message, type: "scripted", code: null } }),
  inBand: (error) => ({ error }),
};

/** Returns one event of a stream. */
export function chunk(model: string, delta: object, finish: string | null = null): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function usageOf({ cached_tokens, reasoning_tokens, ...usage }: OutputUsage): object {
  return {
    ...usage,
    ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
    ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
  };
}
