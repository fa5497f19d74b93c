import { createAnthropic } from "@ai-sdk/anthropic";
import { cacheModels } from "./cache-models.ts";
import { objectInputs } from "./object-inputs.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * A model of Anthropic, or of a server with Anthropic's Messages API. Never reads key or URL from
 * the environment.
 */
export const anthropicModel = cacheModels(({ baseUrl, apiKey = "", modelId, transport }) =>
  repairedAnswers(transport.fetch, (fetch) =>
    withCallOptions(
      createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
      objectInputs,
    ),
  ),
);
