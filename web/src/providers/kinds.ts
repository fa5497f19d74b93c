import type { ProviderKind } from "@beckon/contract";

/** The APIs that a provider can have, as the form names them. */
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
