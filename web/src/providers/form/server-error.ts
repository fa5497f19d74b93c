import { codeOf, failureOf, fieldNamed, isOutcomeUnknown } from "../../data/index.ts";
import { fieldNames, type ProviderFields } from "./provider-fields.ts";

/** An error of the API at the field that it is about. */
export interface ServerError {
  /** Undefined if it is about the form as a whole. */
  readonly field: keyof ProviderFields | undefined;
  readonly message: string;
}

/**
 * Returns the form field that an error of the API is about, and the message to show there. The
 * field is undefined if the error is about the form as a whole.
 * @param retry says what happens if the form is sent again, for the case that the response was lost
 */
export function serverError(thrown: unknown, retry: string): ServerError {
  const sentence = failureOf(thrown, "the provider was saved", retry);
  if (isOutcomeUnknown(thrown)) return { field: undefined, message: sentence };
  const field = fieldNamed(thrown, fieldNames);
  // The field is named by its label, so the message need not begin with its name in the API.
  if (field !== undefined) return { field, message: sentence.replace(/^\w+: ?/, "") };
  // Of the things that can be in conflict, the form has only the name.
  return { field: codeOf(thrown) === "conflict" ? "name" : undefined, message: sentence };
}
