import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import { cacheModels } from "./cache-models.ts";
import { generateChat } from "./generate-chat.ts";
import { repairEvents } from "./repaired-answers.ts";

/**
 * A model of any server with OpenAI's chat completions API: Ollama, vLLM, llama.cpp, LM Studio and
 * hosted ones.
 */
export const openAICompatibleModel = cacheModels(
  ({ name, baseUrl, apiKey, modelId, transport }) => {
    // Built on the first call, so that an invalid URL or key fails the call and not the
    // construction.
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
    const chat = new OpenAICompatibleChatLanguageModel(modelId, {
      provider: `${name}.chat`,
      url: () => endpoint().url.href,
      headers: () => endpoint().headers,
      fetch: repairEvents(transport.fetch),
      // Requests usage at the end of a stream; servers that do not know the option ignore it.
      includeUsage: true,
    });
    return {
      specificationVersion: chat.specificationVersion,
      provider: chat.provider,
      modelId,
      supportedUrls: chat.supportedUrls,
      doGenerate: (options) => generateChat({ chat, endpoint, call: transport.call }, options),
      doStream: (options) => chat.doStream(options),
    };
  },
);

/** Uses `Headers` because it trims the key and throws if it is no valid header value. */
function headersFor(apiKey: string | undefined): Record<string, string> {
  const headers = new Headers({ "content-type": "application/json", "user-agent": "Beckon" });
  if (apiKey !== undefined && apiKey !== "") headers.set("authorization", `Bearer ${apiKey}`);
  return Object.fromEntries(headers);
}
