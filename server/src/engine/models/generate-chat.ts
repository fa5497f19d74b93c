import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4GenerateResult,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { Transport } from "../../base/egress/index.ts";
import { repairAnswer } from "./repairs/index.ts";

interface Chat {
  readonly chat: Pick<OpenAICompatibleChatLanguageModel, "prepareRequest" | "convertResponse">;
  /** Throws if the URL or the headers are invalid. */
  readonly endpoint: () => {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly call: Transport["call"];
}

/**
 * Does what `doGenerate` of `@ai-sdk/openai-compatible` does, with that library's converters and
 * Beckon's transport. It does not use fetch's `Headers`, `Response` and streams, whose cost is too
 * high for a small response. `options.headers` is ignored.
 *
 * @throws the library's errors (see `read-failure.ts`).
 */
export async function generateChat(
  { chat, endpoint, call }: Chat,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const { body: request, warnings } = await chat.prepareRequest(options);
  const { url, headers } = endpoint();
  const sent = JSON.stringify(request);
  const response = await call(url, {
    method: "POST",
    headers,
    body: sent,
    signal: options.abortSignal,
  });
  const callError = (message: string, cause?: unknown) =>
    new APICallError({
      message,
      cause,
      url: url.href,
      requestBodyValues: request,
      statusCode: response.status,
      responseHeaders: response.headers,
      responseBody: response.text,
    });
  if (response.status < 200 || response.status > 299) throw callError("Not answered");
  const read = async (text: string) => {
    // A field `__proto__` does no harm: JSON.parse makes it an own property, and the library's
    // schema drops it.
    const body: unknown = JSON.parse(text);
    const result = await chat.convertResponse({
      body,
      ...(options.providerOptions && { providerOptions: options.providerOptions }),
    });
    return {
      ...result,
      warnings,
      request: { body: sent },
      response: { ...result.response, headers: response.headers, body },
    };
  };
  try {
    return await read(response.text);
  } catch (thrown) {
    if (!isUnreadable(thrown)) throw thrown;
    const repaired = repairAnswer(response.text);
    if (repaired === undefined) throw callError("Invalid JSON response", thrown);
    return read(repaired).catch((again) => {
      throw isUnreadable(again) ? callError("Invalid JSON response", again) : again;
    });
  }
}

function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof SyntaxError || TypeValidationError.isInstance(thrown);
}
