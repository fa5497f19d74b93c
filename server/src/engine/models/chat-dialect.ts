import { APICallError } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json/index.ts";

type ReasoningField = "reasoning_content" | "reasoning";

/** What a server accepts in requests, where servers with OpenAI's chat completions API differ. */
export interface ChatDialect {
  /**
   * Fields of an assistant message for the model's reasoning. It is sent in the field in which it
   * came or, if that one is not accepted, in the first. DeepSeek and Kimi read `reasoning_content`,
   * Ollama, vLLM, Groq and Cerebras only `reasoning`. Empty if none is accepted, as by Mistral.
   */
  readonly reasoningFields: readonly ReasoningField[];
  /**
   * Whether each assistant message with tool calls must have `reasoning_content`, empty if there
   * was no reasoning. DeepSeek V4 and Kimi K2.5 require it while they think.
   */
  readonly requiresReasoning: boolean;
  /**
   * Whether an assistant message can have `reasoning_details`, as at OpenRouter. They are sent only
   * if the server sent them itself.
   */
  readonly hasReasoningDetails: boolean;
  /** Whether `stream_options` is accepted, which requests usage at the end of a stream. */
  readonly hasStreamOptions: boolean;
  /**
   * Field for the maximum number of output tokens. Newer models of OpenAI and Azure accept only
   * `max_completion_tokens`, many other servers only `max_tokens`.
   */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
}

type RequestBody = Record<string, unknown>;

/**
 * Returns the body, which the library has built with `reasoning_content` and `max_tokens`, in the
 * dialect. A message whose reasoning came in `reasoning` has this field as well. Fields that are
 * not sent are undefined.
 */
export function inDialect(body: RequestBody, dialect: ChatDialect): RequestBody {
  const { messages, max_tokens } = body;
  return {
    ...body,
    ...(Array.isArray(messages) && {
      messages: messages.map((message) => messageInDialect(message, dialect)),
    }),
    max_tokens: undefined,
    [dialect.maxTokensField]: max_tokens,
  };
}

function messageInDialect(message: RequestBody, dialect: ChatDialect): RequestBody {
  if (message.role !== "assistant") return message;
  const { reasoningFields, requiresReasoning, hasReasoningDetails } = dialect;
  const { tool_calls, reasoning_content: text, reasoning, reasoning_details } = message;
  const received: ReasoningField = reasoning === undefined ? "reasoning_content" : "reasoning";
  const accepted = reasoningFields.includes(received) ? received : reasoningFields[0];
  const isRequired = requiresReasoning && tool_calls !== undefined;
  const field = isRequired ? "reasoning_content" : accepted;
  return {
    ...message,
    reasoning_content: undefined,
    reasoning: undefined,
    ...(field !== undefined && { [field]: text ?? (isRequired ? "" : undefined) }),
    reasoning_details: hasReasoningDetails ? reasoning_details : undefined,
  };
}

/**
 * Returns a function that makes calls in the dialect of a server. If the server rejects a field
 * that not every server knows, the request is repeated without it, or with the field's other name.
 * If the server requires a field that others reject, the request is repeated with it. Servers
 * reject such requests before they call the model, so they do not bill them. The dialect is kept
 * for further calls only once a call in it succeeds, because an error can name a field for another
 * reason.
 *
 * @param chatOf returns a client for the dialect.
 * @param usual the dialect of the first call. A field that it does not have is not left out.
 */
export function inAcceptedDialect<Chat>(
  chatOf: (dialect: ChatDialect) => Chat,
  usual: ChatDialect,
): <T>(send: (chat: Chat) => PromiseLike<T>) => Promise<T> {
  let accepted = { dialect: usual, chat: chatOf(usual) };
  return async (send) => {
    const first = accepted;
    let tried = first;
    for (;;) {
      try {
        const result = await send(tried.chat);
        // Without this condition, a slow call could replace what a later one has found out.
        if (tried !== first) accepted = tried;
        return result;
      } catch (thrown) {
        const dialect = dialectAfter(thrown, tried.dialect);
        if (dialect === undefined) throw thrown;
        tried = { dialect, chat: chatOf(dialect) };
      }
    }
  };
}

/**
 * Returns the dialect to try after an error; undefined if the error names no field that the request
 * has and that can be left out or renamed, or that it lacks and that can be added. No field is sent
 * again after it was left out, so a call is repeated at most six times. The field for the output
 * tokens is renamed only if the error has both of its names: an error with one of them can also
 * mean that the number is too large.
 */
function dialectAfter(thrown: unknown, dialect: ChatDialect): ChatDialect | undefined {
  if (!APICallError.isInstance(thrown)) return undefined;
  const { statusCode, responseBody, requestBodyValues: sent } = thrown;
  if ((statusCode !== 400 && statusCode !== 422) || !isJsonObject(sent)) return undefined;
  const names = (field: string) => new RegExp(`\\b${field}\\b`).test(String(responseBody ?? ""));
  const { reasoningFields, requiresReasoning, hasReasoningDetails, hasStreamOptions } = dialect;
  // The error can mean that the field is missing or that it is not accepted. It is added first: if
  // it is not accepted, the next error names it again.
  const isReasoningMissing =
    reasoningFields.includes("reasoning_content") &&
    !requiresReasoning &&
    names("reasoning_content") &&
    lacksReasoning(sent);
  const rejectedField = isReasoningMissing
    ? undefined
    : reasoningFields.find((field) => names(field) && hasInMessages(sent, field));
  const areDetailsRejected =
    hasReasoningDetails && names("reasoning_details") && hasInMessages(sent, "reasoning_details");
  const areOptionsRejected =
    hasStreamOptions && sent.stream_options !== undefined && names("stream_options");
  const isMaxTokensRejected =
    sent.max_tokens !== undefined && names("max_tokens") && names("max_completion_tokens");
  const changes: Partial<ChatDialect> = {
    ...(isReasoningMissing && { requiresReasoning: true }),
    ...(rejectedField !== undefined && {
      reasoningFields: reasoningFields.filter((field) => field !== rejectedField),
      requiresReasoning: false,
    }),
    ...(areDetailsRejected && { hasReasoningDetails: false }),
    ...(areOptionsRejected && { hasStreamOptions: false }),
    ...(isMaxTokensRejected && { maxTokensField: "max_completion_tokens" }),
  };
  return Object.keys(changes).length === 0 ? undefined : { ...dialect, ...changes };
}

function hasInMessages({ messages }: RequestBody, field: string): boolean {
  return Array.isArray(messages) && messages.some((message) => message[field] !== undefined);
}

function lacksReasoning({ messages }: RequestBody): boolean {
  return (
    Array.isArray(messages) &&
    messages.some(
      ({ tool_calls, reasoning_content }) =>
        tool_calls !== undefined && reasoning_content === undefined,
    )
  );
}
