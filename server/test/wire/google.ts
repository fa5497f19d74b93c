import {
  defaultUsage,
  finishOf,
  type ModelOutput,
  type OutputUsage,
  parsed,
  words,
} from "./model-output.ts";
import type { Wire } from "./wire.ts";

/**
 * Google's Gemini API. Even a stream has the arguments of a tool call in one piece, as a JSON value
 * and not as text. Arguments that are invalid JSON are sent as a string.
 */
export const google: Wire = {
  name: "generateContent",
  path: (model, streamed) =>
    `/models/${model}:${streamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  matches: (path) => /:(streamG|g)enerateContent/.test(path),
  streamed: (path) => path.includes(":streamGenerateContent"),
  lastInput: (body) => {
    const contents = body.contents as readonly {
      role: string;
      parts: readonly { text?: string }[];
    }[];
    const parts = contents
      .filter(({ role }) => role === "user")
      .flatMap((content) => content.parts);
    return parts.findLast(({ text }) => text !== undefined)?.text ?? "";
  },
  plain: (said, model) =>
    answer(
      said,
      model,
      partsOf(said, (text) => [text]),
      finishReason(said),
    ),
  stream: (said, model) => {
    const silent: ModelOutput = { ...said, usage: null };
    const opening = partsOf(said, words).map((part) => answer(silent, model, [part], null));
    const finish = finishReason(said);
    const closing = finish === null ? [] : [answer(said, model, [{ text: "" }], finish)];
    return { events: [...opening, ...closing], closing: closing.length };
  },
  error: (code, message) => ({ error: { code, message, status: statuses[code] ?? "UNKNOWN" } }),
  inBand: ({ message, type, code }) => {
    const number = typeof code === "number" ? code : type === "invalid_request_error" ? 400 : 500;
    return { error: { code: number, message, status: statuses[number] ?? "UNKNOWN" } };
  },
};

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const finishReasons: Readonly<Record<string, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  error: "MALFORMED_FUNCTION_CALL",
};

function finishReason(said: ModelOutput): string | null {
  const finish = finishOf(said);
  return finish === null ? null : (finishReasons[finish] ?? finish);
}

/**
 * Returns the parts of a response. The signature is on the first call or, if there are no calls, on
 * the last piece of the text.
 */
function partsOf(
  { text, reasoning, signature, calls = [] }: ModelOutput,
  pieces: (text: string) => readonly string[],
): readonly object[] {
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  const textPieces = text === undefined ? [] : pieces(text);
  return [
    ...(reasoning === undefined
      ? []
      : pieces(reasoning).map((word) => ({ text: word, thought: true }))),
    ...textPieces.map((word, index) => ({
      text: word,
      ...(calls.length === 0 && index === textPieces.length - 1 ? signed : {}),
    })),
    ...calls.map(({ id, name, arguments: args }, index) => ({
      functionCall: { id, name, args: parsed(args) },
      ...(index === 0 ? signed : {}),
    })),
  ];
}

function answer(
  { usage = defaultUsage }: ModelOutput,
  modelVersion: string,
  parts: readonly object[],
  finish: string | null,
): object {
  return {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts },
        ...(finish !== null && { finishReason: finish }),
      },
    ],
    ...(usage !== null && { usageMetadata: usageOf(usage) }),
    modelVersion,
    responseId: "response_1",
  };
}

function usageOf({
  prompt_tokens,
  completion_tokens,
  cached_tokens,
  reasoning_tokens = 0,
}: OutputUsage): object {
  return {
    promptTokenCount: prompt_tokens,
    candidatesTokenCount: completion_tokens - reasoning_tokens,
    totalTokenCount: prompt_tokens + completion_tokens,
    ...(reasoning_tokens > 0 && { thoughtsTokenCount: reasoning_tokens }),
    ...(cached_tokens !== undefined && { cachedContentTokenCount: cached_tokens }),
  };
}
