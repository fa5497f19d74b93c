import type { ProviderKind } from "@beckon/contract";

/**
 * Returns what is wrong with a model's name, undefined if nothing is. It is checked without a
 * request: which models an account has changes from day to day, and changing an agent must not wait
 * for a provider.
 *
 * Google has the name in the URL. Anything but plain segments would call another of its services,
 * with a key that can be the operator's.
 */
export function modelMistake(kind: ProviderKind, modelId: string): string | undefined {
  if (kind !== "google" || /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(modelId)) return undefined;
  return "a model of Google is named by letters, digits and . _ - only, for example gemini-3-flash";
}
