import { createAnthropic } from "@ai-sdk/anthropic";
import { cacheModels } from "./cache-models.ts";
import { boundInHeader, capOutput } from "./cap-output.ts";
import { objectInputs } from "./object-inputs.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * A model of Anthropic, or of another server with Anthropic's Messages API. The key and the URL are
 * never read from the environment.
 */
export const anthropicModel = cacheModels(({ baseUrl, apiKey = "", modelId, transport }) =>
  repairedAnswers(capOutput(transport.fetch), (fetch) =>
    withCallOptions(
      createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
      (options) => ({ ...objectInputs(options), ...boundInHeader(options) }),
    ),
  ),
);
