import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { cacheModels, type ModelAddress } from "./cache-models.ts";
import { boundInHeader, capOutput } from "./cap-output.ts";
import { objectInputs, withoutInheritedNames } from "./earlier-calls.ts";
import { exactArguments } from "./exact-arguments.ts";
import { withCacheMarks } from "./prompt-cache.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { unstreamedAnswers } from "./unstreamed-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * A model of Anthropic, or of another server with Anthropic's Messages API. A missing key is passed
 * as an empty text, because the library would otherwise read the operator's key from the
 * environment.
 */
export const anthropicModel = cacheModels((address) => ({
  ...build(address),
  // Without a bound, the library sends 4,096 for a model that it does not know. It knows the
  // longest answer of the models of Anthropic.
  requiresBound: !address.modelId.includes("claude-"),
}));

const build = ({ baseUrl, apiKey = "", modelId, transport }: ModelAddress): LanguageModelV4 =>
  unstreamedAnswers(transport.fetch, (transported) =>
    exactArguments(capOutput(transported), (exactFetch) =>
      repairedAnswers(exactFetch, (fetch) =>
        withCallOptions(
          createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
          (options) => ({
            ...withCacheMarks({ ...options, ...withoutInheritedNames(objectInputs(options)) }),
            ...boundInHeader(options),
          }),
        ),
      ),
    ),
  );
