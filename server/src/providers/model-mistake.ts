import type { ProviderKind } from "@beckon/contract";

/**
 * What is wrong with a model's name as far as it can be known without asking the provider; undefined: nothing. Which models an
 * account has changes from day to day, and asking would make the change of an agent wait for a stranger: `check` lists them.
 *
 * Google takes the name as part of the URL. Anything but plain segments would lead to another of its services, with a key that
 * may be the operator's.
 */
export function modelMistake(kind: ProviderKind, modelId: string): string | undefined {
  if (kind !== "google" || /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(modelId)) return undefined;
  return "a model of Google is named by letters, digits and . _ - only, for example gemini-3-flash";
}
