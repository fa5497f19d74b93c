import type { ProviderKind } from "@beckon/contract";

/**
 * Returns what is wrong with a model's name; undefined if nothing is wrong. The check sends no
 * request, because the models of an account change from day to day and because a user who changes
 * an agent must not wait for a provider.
 *
 * Requests to Google contain the model's name in the URL. A name with `..`, `?` or `#` could change
 * the URL to that of another service of Google, which would be called with the provider's key. The
 * key can be the operator's.
 */
export function modelMistake(kind: ProviderKind, modelId: string): string | undefined {
  if (kind !== "google" || /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(modelId)) return undefined;
  return "a model of Google is named by letters, digits and . _ - only, for example gemini-3-flash";
}
