import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { keepModels } from "./keep-models.ts";

/** A model of any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio, and many that are hosted. */
export const openAICompatibleModel = keepModels(({ name, baseUrl, apiKey, modelId, fetch }) =>
  createOpenAICompatible({
    name,
    baseURL: baseUrl,
    fetch,
    // Asks for usage at the end of a stream; servers that do not know the option ignore it.
    includeUsage: true,
    ...(apiKey !== undefined && { apiKey }),
  }).languageModel(modelId),
);
