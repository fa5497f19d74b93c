import { createOpenAI, type OpenAIProvider } from "@ai-sdk/openai";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { keepModels, type ModelAddress } from "./keep-models.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/** Key and URL are always handed over: left out, the library would take the operator's from the environment. */
const build = (
  { baseUrl, apiKey = "", transport }: ModelAddress,
  model: (provider: OpenAIProvider) => LanguageModelV4,
) =>
  repairedAnswers(transport.fetch, (fetch) =>
    model(createOpenAI({ baseURL: baseUrl, apiKey, fetch })),
  );

/**
 * A model of OpenAI through its responses API. Nothing is kept at the provider (`store: false`): the journal is the conversation,
 * so reasoning comes back encrypted and is handed back with the next step. Summaries of the reasoning are not asked for, since
 * OpenAI refuses them to organisations it has not verified.
 */
export const openAIModel = keepModels((address) =>
  withCallOptions(
    build(address, (provider) => provider.responses(address.modelId)),
    (options) => ({
      ...ours(options, { store: false, reasoningSummary: null }),
      // Shows `response.incomplete` without a reason, which the library takes for a whole answer: see `refuse-in-band.ts`.
      includeRawChunks: true,
    }),
  ),
);

/** The same through chat completions, for what only speaks those. Such models lose their reasoning between two steps. */
export const openAIChatModel = keepModels((address) =>
  withCallOptions(
    build(address, (provider) => provider.chat(address.modelId)),
    (options) => ours(options, { store: false }),
  ),
);

/**
 * `strict: false` is said of every tool: left out, the responses API makes all parameters required, and would refuse many schemas
 * that the operations of a tenant have.
 */
function ours(
  options: LanguageModelV4CallOptions,
  openai: { store: false; reasoningSummary?: null },
): Partial<LanguageModelV4CallOptions> {
  const tools = options.tools?.map((tool) =>
    tool.type === "function" ? { strict: false, ...tool } : tool,
  );
  return { providerOptions: { openai }, ...(tools !== undefined && { tools }) };
}
