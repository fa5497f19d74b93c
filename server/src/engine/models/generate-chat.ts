import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4GenerateResult,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { Transport } from "../../base/egress/index.ts";
import { repairAnswer } from "./repair-answer.ts";

interface Chat {
  readonly chat: Pick<OpenAICompatibleChatLanguageModel, "prepareRequest" | "convertResponse">;
  /** May throw what no call can be made for. */
  readonly endpoint: () => {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly call: Transport["call"];
}

/**
 * The library's `doGenerate` with another transport: its formats at both ends, without the headers, response and stream of the
 * platform between them, which a small answer has no use for. Fails as the library does, with the same errors: see
 * `read-failure.ts`. Headers of a single call are not read.
 */
export async function generateChat(
  { chat, endpoint, call }: Chat,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const { body: request, warnings } = await chat.prepareRequest(options);
  const { url, headers } = endpoint();
  const sent = JSON.stringify(request);
  const answer = await call(url, {
    method: "POST",
    headers,
    body: sent,
    signal: options.abortSignal,
  });
  const refused = (message: string, cause?: unknown) =>
    new APICallError({
      message,
      cause,
      url: url.href,
      requestBodyValues: request,
      statusCode: answer.status,
      responseHeaders: answer.headers,
      responseBody: answer.text,
    });
  if (answer.status < 200 || answer.status > 299) throw refused("Not answered");
  const read = async (text: string) => {
    // A member `__proto__` stays an ordinary member here, and the library's schema drops it.
    const body: unknown = JSON.parse(text);
    const result = await chat.convertResponse({
      body,
      ...(options.providerOptions && { providerOptions: options.providerOptions }),
    });
    return {
      ...result,
      warnings,
      request: { body: sent },
      response: { ...result.response, headers: answer.headers, body },
    };
  };
  return read(answer.text)
    .catch((thrown) => {
      const repaired = isUnreadable(thrown) ? repairAnswer(answer.text) : undefined;
      if (repaired === undefined) throw thrown;
      return read(repaired);
    })
    .catch((thrown) => {
      throw isUnreadable(thrown) ? refused("Invalid JSON response", thrown) : thrown;
    });
}

function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof SyntaxError || TypeValidationError.isInstance(thrown);
}
