import type { ProviderKind } from "@beckon/contract";

/** Labels of the kinds of providers. The kind says which API the provider has. */
export const kindLabels: Readonly<Record<ProviderKind, string>> = {
  openai: "OpenAI responses",
  "openai-chat": "OpenAI chat completions",
  anthropic: "Anthropic",
  google: "Google Gemini",
  "openai-compatible": "OpenAI-compatible",
};

/**
 * Returns the label of a kind. A kind that only a later version of Beckon has is shown unchanged.
 */
export function kindLabel(kind: string): string {
  return Object.hasOwn(kindLabels, kind) ? kindLabels[kind as ProviderKind] : kind;
}
