import { APICallError } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json/index.ts";

/** What a server accepts in requests, where servers with OpenAI's chat completions API differ. */
export interface ChatDialect {
  /**
   * Field of an assistant message for the model's reasoning. DeepSeek, Kimi and most servers read
   * `reasoning_content`, Groq and Cerebras only `reasoning`. Undefined if none is accepted, as by
   * Mistral.
   */
  readonly reasoningField: "reasoning_content" | "reasoning" | undefined;
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
 * dialect.
 */
export function inDialect(body: RequestBody, dialect: ChatDialect): RequestBody {
  const translated = withReasoning(body, dialect);
  if (dialect.maxTokensField === "max_tokens" || translated.max_tokens === undefined)
    return translated;
  const { max_tokens, ...rest } = translated;
  return { ...rest, [dialect.maxTokensField]: max_tokens };
}

function withReasoning(
  body: RequestBody,
  { reasoningField, hasReasoningDetails }: ChatDialect,
): RequestBody {
  const isUnchanged = reasoningField === "reasoning_content" && hasReasoningDetails;
  if (isUnchanged || !Array.isArray(body.messages)) return body;
  const messages = body.messages.map((message: RequestBody) => {
    const { reasoning_content: reasoning, reasoning_details: details, ...rest } = message;
    return {
      ...rest,
      ...(reasoningField && reasoning !== undefined && { [reasoningField]: reasoning }),
      ...(hasReasoningDetails && details !== undefined && { reasoning_details: details }),
    };
  });
  return { ...body, messages };
}

/**
 * Returns a function that makes calls in the dialect of a server. If the server rejects a field
 * that not every server knows, the request is repeated without it, or with the field's other name.
 * Servers reject a request with such a field before they call the model, so they do not bill it.
 * The dialect is kept for further calls only once a call in it succeeds, because an error can name
 * a field for another reason, for example that it is missing in one of the messages.
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
 * has and that can be left out or renamed. No field is sent again after that, so a call is repeated
 * at most five times. The field for the output tokens is renamed only if the error has both of its
 * names: an error with one of them can also mean that the number is too large.
 */
function dialectAfter(thrown: unknown, dialect: ChatDialect): ChatDialect | undefined {
  if (!APICallError.isInstance(thrown)) return undefined;
  const { statusCode, responseBody, requestBodyValues: sent } = thrown;
  if ((statusCode !== 400 && statusCode !== 422) || !isJsonObject(sent)) return undefined;
  const names = (field: string) => new RegExp(`\\b${field}\\b`).test(String(responseBody ?? ""));
  const { reasoningField, hasReasoningDetails, hasStreamOptions, maxTokensField } = dialect;
  const isReasoningRejected =
    reasoningField !== undefined && names(reasoningField) && hasInMessages(sent, reasoningField);
  const areDetailsRejected =
    hasReasoningDetails && names("reasoning_details") && hasInMessages(sent, "reasoning_details");
  const areOptionsRejected =
    hasStreamOptions && sent.stream_options !== undefined && names("stream_options");
  const isMaxTokensRejected =
    sent.max_tokens !== undefined && names("max_tokens") && names("max_completion_tokens");
  if (!isReasoningRejected && !areDetailsRejected && !areOptionsRejected && !isMaxTokensRejected)
    return undefined;
  return {
    reasoningField: isReasoningRejected ? fieldAfter(reasoningField) : reasoningField,
    hasReasoningDetails: hasReasoningDetails && !areDetailsRejected,
    hasStreamOptions: hasStreamOptions && !areOptionsRejected,
    maxTokensField: isMaxTokensRejected ? "max_completion_tokens" : maxTokensField,
  };
}

const fieldAfter = (rejected: ChatDialect["reasoningField"]): ChatDialect["reasoningField"] =>
  rejected === "reasoning_content" ? "reasoning" : undefined;

function hasInMessages({ messages }: RequestBody, field: string): boolean {
  return Array.isArray(messages) && messages.some((message) => message[field] !== undefined);
}
