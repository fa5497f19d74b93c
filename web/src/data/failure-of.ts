import { sentenceOf } from "../ui/index.ts";
import { isOutcomeUnknown } from "./errors.ts";

/**
 * Returns the sentence about a failed call, and what is not known if its response was lost.
 * @param what what the call was to do: "the agent was created"
 * @param again what another attempt does: "Press Create agent again: it is created once only."
 */
export function failureOf(thrown: unknown, what: string, again: string): string {
  const sentence = sentenceOf(thrown);
  return isOutcomeUnknown(thrown)
    ? `${sentence} It is not known whether ${what}. ${again}`
    : sentence;
}
