import {
  defaultUsage,
  finishOf,
  halves,
  type ModelOutput,
  type OutputUsage,
  parsed,
  words,
} from "./model-output.ts";
import type { Wire } from "./wire.ts";

/** Anthropic's Messages API. */
export const anthropic: Wire = {
  name: "messages",
  path: () => "/messages",
  matches: (path) => path.endsWith("/messages"),
  streamed: (_path, body) => body.stream === true,
  lastInput: (body) => {
    const messages = body.messages as readonly {
      role: string;
      content: readonly { type: string; text?: string }[];
    }[];
    const texts = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
    return texts.findLast(({ type }) => type === "text")?.text ?? "";
  },
  plain: (said, model) => ({
    ...message(model),
    content: blocksOf(said).map(({ completeBlock }) => completeBlock),
    stop_reason: stopReason(said),
    ...(said.usage === null ? {} : { usage: usageOf(said.usage) }),
  }),
  stream: (said, model) => {
    const { input_tokens, cache_read_input_tokens, output_tokens } = usageOf(
      said.usage ?? defaultUsage,
    );
    const started = { input_tokens: input_tokens, cache_read_input_tokens, output_tokens: 1 };
    const opening = [
      {
        type: "message_start",
        message: {
          ...message(model),
          content: [],
          stop_reason: null,
          ...(said.usage !== null && { usage: started }),
        },
      },
      { type: "ping" },
      ...blocksOf(said).flatMap(({ emptyBlock, deltas }, index) => [
        { type: "content_block_start", index, content_block: emptyBlock },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
    ];
    const reason = stopReason(said);
    const closing =
      reason === null
        ? []
        : [
            {
              type: "message_delta",
              delta: { stop_reason: reason, stop_sequence: null },
              ...(said.usage !== null && { usage: { output_tokens } }),
            },
            { type: "message_stop" },
          ];
    return { events: [...opening, ...closing], closing: closing.length };
  },
  error: (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "api_error", message },
  }),
  inBand: ({ message, type, code }) => ({
    type: "error",
    error: {
      type: type ?? (typeof code === "number" ? errorTypes[code] : undefined) ?? "api_error",
      message,
    },
  }),
};

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

function stopReason(said: ModelOutput): string | null {
  const finish = finishOf(said);
  return finish === null ? null : (stopReasons[finish] ?? finish);
}

function message(model: string): object {
  return { id: "msg_1", type: "message", role: "assistant", model, stop_sequence: null };
}

interface Block {
  readonly completeBlock: object;
  readonly emptyBlock: object;
  readonly deltas: readonly object[];
}

function blocksOf({ text, reasoning, signature, calls = [] }: ModelOutput): readonly Block[] {
  const thought = { type: "thinking", thinking: reasoning ?? "", signature: signature ?? "" };
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            completeBlock: thought,
            emptyBlock: { ...thought, thinking: "", signature: "" },
            deltas: [
              ...words(reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
              { type: "signature_delta", signature: signature ?? "" },
            ],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            completeBlock: { type: "text", text },
            emptyBlock: { type: "text", text: "" },
            deltas: words(text).map((word) => ({ type: "text_delta", text: word })),
          },
        ]),
    ...calls.map(({ id, name, arguments: args }) => ({
      completeBlock: { type: "tool_use", id, name, input: parsed(args) },
      emptyBlock: { type: "tool_use", id, name, input: {} },
      deltas: halves(args).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    })),
  ];
}

function usageOf(usage: OutputUsage = defaultUsage) {
  const { prompt_tokens, completion_tokens, cached_tokens = 0 } = usage;
  return {
    input_tokens: prompt_tokens - cached_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens: completion_tokens,
  };
}
