import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";

/** Returns the model with `change` applied to the options of every call. */
export function withCallOptions(
  model: LanguageModelV4,
  change: (options: LanguageModelV4CallOptions) => Partial<LanguageModelV4CallOptions>,
): LanguageModelV4 {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate({ ...options, ...change(options) }),
    doStream: (options) => model.doStream({ ...options, ...change(options) }),
  };
}
