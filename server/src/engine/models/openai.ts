import { createOpenAI, type OpenAIProvider } from "@ai-sdk/openai";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { cacheModels, type ModelAddress } from "./cache-models.ts";
import { type ChatDialect, inAcceptedDialect } from "./chat-dialect.ts";
import { withoutInheritedNames } from "./earlier-calls.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { unstreamedAnswers } from "./unstreamed-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * Builds a model. The key and the URL are always passed, because the library would read missing
 * ones from the environment, which belongs to the operator.
 */
const build = (
  { baseUrl, apiKey = "", transport }: ModelAddress,
  model: (provider: OpenAIProvider) => LanguageModelV4,
) =>
  unstreamedAnswers(transport.fetch, (transported) =>
    repairedAnswers(transported, (fetch) =>
      model(createOpenAI({ baseURL: baseUrl, apiKey, fetch })),
    ),
  );

/**
 * Matches the names by which the library knows whether a model of OpenAI reasons. A deployment at
 * Azure, a fine-tuned model and a model behind a gateway have other names.
 */
const knownNames = /^(?:o\d+|gpt-\d+(?:\.\d+)?|gpt-4o)(?:-|$)/;

/**
 * A model of OpenAI's Responses API. Nothing is stored at OpenAI (`store: false`): the conversation
 * is rebuilt from the journal, and encrypted reasoning is sent back with the next step. Reasoning
 * summaries are not requested, because OpenAI rejects them for organisations that it has not
 * verified.
 */
export const openAIModel = cacheModels((address) =>
  withCallOptions(
    build(address, (provider) => provider.responses(address.modelId)),
    (options) => ({
      ...withOpenAIOptions(options, {
        store: false,
        reasoningSummary: null,
        ...forcedReasoning(address.modelId, options),
      }),
      ...withoutInheritedNames(options),
      // Adds the unparsed events to the stream. One of them can be a `response.incomplete` without
      // a reason, which the AI SDK would accept as a complete response. `throwInBandError` rejects
      // it (`model-call/in-band-error.ts`).
      includeRawChunks: true,
    }),
  ),
);

/**
 * Returns the options with which the library sends the reasoning effort, if the agent has one, to a
 * model that it does not know. The role of the instructions stays `system`: servers of others may
 * not know `developer`, which the library uses for models that reason.
 */
function forcedReasoning(modelId: string, { reasoning }: LanguageModelV4CallOptions) {
  if (knownNames.test(modelId) || reasoning === undefined || reasoning === "none") return {};
  return { forceReasoning: true, systemMessageMode: "system" } as const;
}

/**
 * A model of OpenAI's chat completions API, for servers without the Responses API. The model's
 * reasoning is lost between steps.
 */
export const openAIChatModel = cacheModels((address): LanguageModelV4 => {
  const model = build(address, (provider) => provider.chat(address.modelId));
  // The library renames `max_tokens` for the models that it knows by their name. A deployment at
  // Azure can have any name.
  const call = inAcceptedDialect(({ maxTokensField }) => maxTokensField, {
    reasoningFields: [],
    requiresReasoning: false,
    hasReasoningDetails: false,
    hasStreamOptions: false,
    maxTokensField: "max_tokens",
  });
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => call((field) => model.doGenerate(chatOptions(options, field))),
    doStream: (options) => call((field) => model.doStream(chatOptions(options, field))),
  };
});

function chatOptions(
  { maxOutputTokens, ...options }: LanguageModelV4CallOptions,
  field: ChatDialect["maxTokensField"],
): LanguageModelV4CallOptions {
  const isRenamed = field === "max_completion_tokens" && maxOutputTokens !== undefined;
  return {
    ...options,
    ...(maxOutputTokens !== undefined && !isRenamed && { maxOutputTokens }),
    ...withOpenAIOptions(options, {
      store: false,
      ...(isRenamed && { maxCompletionTokens: maxOutputTokens }),
    }),
  };
}

/**
 * Returns the options with OpenAI's additions. Tools get `strict: false`, because the Responses API
 * by default makes every parameter required and rejects many valid schemas of HTTP tools.
 */
function withOpenAIOptions(
  options: LanguageModelV4CallOptions,
  openai: {
    store: false;
    reasoningSummary?: null;
    forceReasoning?: true;
    systemMessageMode?: "system";
    maxCompletionTokens?: number;
  },
): Partial<LanguageModelV4CallOptions> {
  const tools = options.tools?.map((tool) =>
    tool.type === "function" ? { strict: false, ...tool } : tool,
  );
  return { providerOptions: { openai }, ...(tools !== undefined && { tools }) };
}
