import type { ProviderKind } from "@beckon/contract";
import type { Model } from "../run-request.ts";
import { anthropicModel } from "./anthropic.ts";
import type { ModelAddress } from "./cache-models.ts";
import { googleModel } from "./google.ts";
import { openAIChatModel, openAIModel } from "./openai.ts";
import { openAICompatibleModel } from "./openai-compatible.ts";

const byKind: Readonly<Record<ProviderKind, (address: ModelAddress) => Model>> = {
  openai: openAIModel,
  "openai-chat": openAIChatModel,
  anthropic: anthropicModel,
  google: googleModel,
  "openai-compatible": openAICompatibleModel,
};

/** Returns a model of a provider of this kind. */
export function providerModel(kind: ProviderKind, address: ModelAddress): Model {
  return byKind[kind](address);
}
