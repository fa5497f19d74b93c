import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions as Options } from "@ai-sdk/provider";
import { z } from "zod";
import type { Transport } from "../../base/egress/index.ts";
import { cacheModels } from "./cache-models.ts";
import { type ChatDialect, inAcceptedDialect, inDialect } from "./chat-dialect.ts";
import { chatUsage } from "./chat-usage.ts";
import { objectInputs } from "./earlier-calls.ts";
import { generateChat } from "./generate-chat.ts";
import {
  fieldsExtractor,
  sendKeptFields,
  withKeptFields,
  withKeptStreamedFields,
} from "./kept-fields/index.ts";
import { repairEvents } from "./repaired-answers.ts";
import { onlyStreams, streamOrGenerate } from "./unstreamed-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/** Errors in a stream, with all of their fields. The library's own structure drops `metadata`. */
const errorStructure = {
  errorSchema: z.object({ error: z.looseObject({ message: z.string() }) }),
  errorToMessage: ({ error }: { error: { message: string } }) => error.message,
};

type Chat = OpenAICompatibleChatLanguageModel;

/**
 * A model of any server with OpenAI's chat completions API, for example Ollama, vLLM, llama.cpp, LM
 * Studio or a hosted service.
 */
export const openAICompatibleModel = cacheModels(
  ({ name, baseUrl, apiKey, modelId, transport }) => {
    // The endpoint is built on the first call. An invalid URL or key therefore makes the call fail
    // and not the construction of the model.
    let cachedEndpoint:
      | { readonly url: URL; readonly headers: Readonly<Record<string, string>> }
      | undefined;
    const endpoint = () => {
      cachedEndpoint ??= {
        url: new URL(`${baseUrl.replace(/\/$/, "")}/chat/completions`),
        headers: headersFor(apiKey),
      };
      return cachedEndpoint;
    };
    const chatOf = (dialect: ChatDialect) =>
      new OpenAICompatibleChatLanguageModel(modelId, {
        provider: `${name}.chat`,
        url: () => endpoint().url.href,
        headers: () => endpoint().headers,
        fetch: repairEvents(onlyStreams(transport.fetch)),
        includeUsage: dialect.hasStreamOptions,
        transformRequestBody: (body) => inDialect(body, dialect),
        convertUsage: chatUsage,
        metadataExtractor: fieldsExtractor(name),
        errorStructure,
      });
    const call = inAcceptedDialect(chatOf, {
      reasoningFields: ["reasoning_content", "reasoning"],
      requiresReasoning: false,
      hasReasoningDetails: true,
      hasStreamOptions: true,
      maxTokensField: "max_tokens",
    });
    const generate = async (chat: Chat, send: Transport["call"], options: Options) =>
      withKeptFields(name, await generateChat({ chat, endpoint, call: send }, options));
    const stream = async (chat: Chat, options: Options) =>
      withKeptStreamedFields(name, await chat.doStream(options));
    const model: LanguageModelV4 = {
      specificationVersion: "v4",
      provider: `${name}.chat`,
      modelId,
      supportedUrls: {},
      doGenerate: (options) => call((chat) => generate(chat, transport.call, options)),
      doStream: (options) =>
        call((chat) =>
          streamOrGenerate(stream(chat, options), (response) =>
            generate(chat, () => wholeResponse(response), options),
          ),
        ),
    };
    return withCallOptions(model, (options) => sendKeptFields(objectInputs(options), name));
  },
);

/**
 * Returns the headers of a request. `Headers` is used because it removes whitespace after the key,
 * for example a newline, and throws if the key is not valid in a header.
 */
function headersFor(apiKey: string | undefined): Record<string, string> {
  const headers = new Headers({ "content-type": "application/json", "user-agent": "Beckon" });
  if (apiKey !== undefined && apiKey !== "") headers.set("authorization", `Bearer ${apiKey}`);
  return Object.fromEntries(headers);
}

async function wholeResponse(response: Response) {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}
