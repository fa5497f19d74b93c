import { sentenceOf } from "../ui/index.ts";
import { isOutcomeUnknown } from "./errors.ts";

/**
 * Returns the sentence that explains a failed call. If its response was lost, the sentence also
 * says that the result is not known.
 * @param what what the call was to do: "the agent was created"
 * @param again what another attempt does: "Press Create agent again without changes: it is created
 *   once only."
 */
export function failureOf(thrown: unknown, what: string, again: string): string {
  const sentence = sentenceOf(thrown);
  return isOutcomeUnknown(thrown)
    ? `${sentence} It is not known whether ${what}. ${again}`
    : sentence;
}

/**
 * Returns the title and the description of a failed call for a toast. The other parameters are
 * those of `failureOf`.
 * @param failed the title unless the response was lost: "The agent was not created."
 */
export function failureWords(thrown: unknown, failed: string, what: string, again: string) {
  return {
    title: isOutcomeUnknown(thrown) ? "The response was lost." : failed,
    description: failureOf(thrown, what, again),
  };
}
