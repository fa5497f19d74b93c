import { createAnthropic } from "@ai-sdk/anthropic";
import { keepModels } from "./keep-models.ts";
import { objectInputs } from "./object-inputs.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/** A model of Anthropic, or of a server that speaks its messages API. Key and URL are never taken from the environment. */
export const anthropicModel = keepModels(({ baseUrl, apiKey = "", modelId, transport }) =>
  repairedAnswers(transport.fetch, (fetch) =>
    withCallOptions(
      createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
      objectInputs,
    ),
  ),
);
