import { createGoogle } from "@ai-sdk/google";
import { cacheModels } from "./cache-models.ts";
import { boundInHeader } from "./cap-output.ts";
import { objectInputs } from "./earlier-calls.ts";
import { exactArguments } from "./exact-arguments.ts";
import { limitContinuations } from "./limit-continuations.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { unstreamedAnswers } from "./unstreamed-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * A model of Google's Gemini API. A missing key is passed as an empty text, because the library
 * would otherwise read the operator's key from the environment.
 */
export const googleModel = cacheModels(({ baseUrl, apiKey = "", modelId, transport }) =>
  unstreamedAnswers(transport.fetch, (transported) =>
    exactArguments(limitContinuations(transported), (exactFetch) =>
      repairedAnswers(exactFetch, (fetch) =>
        withCallOptions(
          createGoogle({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
          (options) => ({ ...objectInputs(options), ...boundInHeader(options) }),
        ),
      ),
    ),
  ),
);
