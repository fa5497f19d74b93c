import {
  defaultUsage,
  finishOf,
  halves,
  type ModelOutput,
  type OutputUsage,
  words,
} from "./model-output.ts";
import type { Wire } from "./wire.ts";

/** OpenAI's Responses API. */
export const responses: Wire = {
  name: "responses",
  path: () => "/responses",
  matches: (path) => path.endsWith("/responses"),
  streamed: (_path, body) => body.stream === true,
  lastInput: (body) => {
    const input = body.input as readonly {
      role?: string;
      content?: readonly { text?: string }[];
    }[];
    return input.findLast(({ role }) => role === "user")?.content?.[0]?.text ?? "";
  },
  plain: (said, model) => response(said, model, finishOf(said), itemsOf(said)),
  stream: (said, model) => {
    const created = response({ usage: null }, model, null, []);
    const completed = response(said, model, finishOf(said), itemsOf(said));
    const opening = [
      { type: "response.created", response: created },
      { type: "response.in_progress", response: created },
      ...itemsOf(said).flatMap((item, index) => item.events(index)),
    ];
    const closing =
      finishOf(said) === null
        ? []
        : [{ type: `response.${completed.status}`, response: completed }];
    const events = [...opening, ...closing].map((event, sequence_number) => ({
      ...event,
      sequence_number,
    }));
    return { events, closing: closing.length };
  },
  error: (_status, message) => ({
    error: { message, type: "scripted", param: null, code: null },
  }),
  inBand: ({ message, type, code = null }, streamed) =>
    streamed
      ? {
          type: "error",
          sequence_number: 1,
          error: { type: type ?? "server_error", code, message, param: null },
        }
      : {
          ...response({}, "scripted", "failed", []),
          error: { code: code ?? type ?? "server_error", message },
        },
};

interface Item {
  readonly item: object;
  /** The stream events of the item. */
  events(output_index: number): readonly object[];
}

function itemsOf({ text, reasoning, signature, calls = [] }: ModelOutput): readonly Item[] {
  return [
    ...(reasoning === undefined && signature === undefined
      ? []
      : [reasoningItem(reasoning, signature ?? null)]),
    ...(text === undefined ? [] : [messageItem(text)]),
    ...calls.map((call, index) => callItem(call, `fc_${index + 1}`)),
  ];
}

function reasoningItem(reasoning: string | undefined, encrypted_content: string | null): Item {
  const id = "rs_1";
  const summary = reasoning === undefined ? [] : [{ type: "summary_text", text: reasoning }];
  const item = { type: "reasoning", id, summary, encrypted_content };
  return {
    item,
    events: (output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, summary: [], encrypted_content: null },
      },
      ...summary.flatMap(({ text }, summary_index) => {
        const at = { item_id: id, output_index, summary_index };
        return [
          {
            type: "response.reasoning_summary_part.added",
            ...at,
            part: { type: "summary_text", text: "" },
          },
          ...words(text).map((delta) => ({
            type: "response.reasoning_summary_text.delta",
            ...at,
            delta,
          })),
          { type: "response.reasoning_summary_text.done", ...at, text },
          {
            type: "response.reasoning_summary_part.done",
            ...at,
            part: { type: "summary_text", text },
          },
        ];
      }),
      { type: "response.output_item.done", output_index, item: item },
    ],
  };
}

function messageItem(text: string): Item {
  const id = "msg_1";
  const part = { type: "output_text", text, annotations: [] };
  const item = { type: "message", id, role: "assistant", status: "completed", content: [part] };
  return {
    item,
    events: (output_index) => {
      const at = { item_id: id, output_index, content_index: 0 };
      return [
        {
          type: "response.output_item.added",
          output_index,
          item: { ...item, status: "in_progress", content: [] },
        },
        { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
        ...words(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
        { type: "response.output_text.done", ...at, text },
        { type: "response.content_part.done", ...at, part },
        { type: "response.output_item.done", output_index, item: item },
      ];
    },
  };
}

function callItem(
  { id: call_id, name, arguments: args }: NonNullable<ModelOutput["calls"]>[number],
  id: string,
): Item {
  const item = { type: "function_call", id, call_id, name, arguments: args, status: "completed" };
  return {
    item,
    events: (output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, arguments: "", status: "in_progress" },
      },
      ...halves(args).map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: id,
        output_index,
        delta,
      })),
      { type: "response.function_call_arguments.done", item_id: id, output_index, arguments: args },
      { type: "response.output_item.done", output_index, item: item },
    ],
  };
}

const reasons: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/**
 * Returns a response object. `finish` decides its status: `stop` and `tool_calls` complete it,
 * `failed` fails it, null leaves it in progress, any other value is the reason why it is
 * incomplete.
 */
function response(
  { usage = defaultUsage }: ModelOutput,
  model: string,
  finish: string | null,
  items: readonly Item[],
) {
  const complete = finish === "stop" || finish === "tool_calls";
  const status =
    finish === null
      ? "in_progress"
      : complete
        ? "completed"
        : finish === "failed"
          ? "failed"
          : "incomplete";
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    model,
    status,
    error: null,
    incomplete_details:
      status === "incomplete" && finish !== null ? { reason: reasons[finish] ?? finish } : null,
    output: items.map(({ item }) => item),
    usage: usage === null ? null : usageOf(usage),
  };
}

function usageOf({
  prompt_tokens,
  completion_tokens,
  cached_tokens = 0,
  reasoning_tokens = 0,
}: OutputUsage): object {
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens: prompt_tokens + completion_tokens,
  };
}
