import { createAnthropic } from "@ai-sdk/anthropic";
import { getModelCapabilities } from "@ai-sdk/anthropic/internal";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
} from "@ai-sdk/provider";
import { cacheModels, type ModelAddress } from "./cache-models.ts";
import { boundInHeader, capOutput } from "./cap-output.ts";
import { objectInputs, withoutInheritedNames } from "./earlier-calls.ts";
import { exactArguments } from "./exact-arguments.ts";
import { withCacheMarks } from "./prompt-cache.ts";
import { repairedAnswers } from "./repaired-answers.ts";
import { repairMessageEvent } from "./repairs/index.ts";
import { unstreamedAnswers } from "./unstreamed-answers.ts";
import { withCallOptions } from "./with-call-options.ts";

/**
 * A model of Anthropic, or of another server with Anthropic's Messages API. A missing key is passed
 * as an empty text, because the library would otherwise read the operator's key from the
 * environment.
 */
export const anthropicModel = cacheModels((address) => ({
  ...build(address),
  // Without a bound, the library sends 4,096 for a model that it does not know, or 128,000 if the
  // name contains `claude-`.
  requiresBound: !getModelCapabilities(address.modelId).isKnownModel,
  addsThinking: true,
}));

const build = ({ baseUrl, apiKey = "", modelId, transport }: ModelAddress): LanguageModelV4 => {
  const isAnthropic = baseUrl.startsWith("https://api.anthropic.com/");
  return unstreamedAnswers(transport.fetch, (transported) =>
    exactArguments(capOutput(transported), (exactFetch) =>
      repairedAnswers(
        exactFetch,
        (fetch) =>
          withCallOptions(
            createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId),
            (options) => {
              const repaired = { ...options, ...withoutInheritedNames(objectInputs(options)) };
              const accepted = isAnthropic ? repaired : forOtherServers(repaired);
              return { ...accepted, ...withCacheMarks(accepted), ...boundInHeader(options) };
            },
          ),
        repairMessageEvent,
      ),
    ),
  );
};

/**
 * Returns the options of a call of another server than Anthropic's.
 *
 * - Thinking without a signature gets an empty one. The library would leave it out, and servers
 *   such as Kimi, which do not sign, reject a request without it.
 * - `toolStreaming` is off. With it, tools of a streamed request have the field
 *   `eager_input_streaming`, which gateways to Amazon Bedrock and Vertex AI reject.
 */
function forOtherServers(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { prompt, providerOptions } = options;
  return {
    ...options,
    prompt: prompt.map(withSignatures),
    providerOptions: {
      ...providerOptions,
      anthropic: { ...providerOptions?.anthropic, toolStreaming: false },
    },
  };
}

function withSignatures(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "assistant") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "reasoning" && part.providerOptions?.anthropic === undefined
        ? { ...part, providerOptions: { anthropic: { signature: "" } } }
        : part,
    ),
  };
}
