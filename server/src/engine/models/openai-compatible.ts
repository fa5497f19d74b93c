import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import { generateChat } from "./generate-chat.ts";
import { keepModels } from "./keep-models.ts";
import { repairEvents } from "./repaired-answers.ts";

/** A model of any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio, and many that are hosted. */
export const openAICompatibleModel = keepModels(({ name, baseUrl, apiKey, modelId, transport }) => {
  // Made with the first call: an address that nobody can call fails the call, not the making of the model.
  let made: { readonly url: URL; readonly headers: Readonly<Record<string, string>> } | undefined;
  const endpoint = () => {
    made ??= {
      url: new URL(`${baseUrl.replace(/\/$/, "")}/chat/completions`),
      headers: headersFor(apiKey),
    };
    return made;
  };
  const chat = new OpenAICompatibleChatLanguageModel(modelId, {
    provider: `${name}.chat`,
    url: () => endpoint().url.href,
    headers: () => endpoint().headers,
    fetch: repairEvents(transport.fetch),
    // Asks for usage at the end of a stream; servers that do not know the option ignore it.
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
});

/** By way of `Headers`: it trims a key, and throws for one that no header can hold. */
function headersFor(apiKey: string | undefined): Record<string, string> {
  const headers = new Headers({ "content-type": "application/json", "user-agent": "Beckon" });
  if (apiKey !== undefined && apiKey !== "") headers.set("authorization", `Bearer ${apiKey}`);
  return Object.fromEntries(headers);
}
