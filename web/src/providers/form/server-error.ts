import { codeOf, failureOf, fieldNamed, isOutcomeUnknown } from "../../data/index.ts";
import { fieldNames, type ProviderFields } from "./provider-fields.ts";

/** An error of the API at the field that it is about. */
export interface ServerError {
  /** The field that the error is about; undefined if it is about the form as a whole. */
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
  // The message is shown below the field, so the field's API name at its beginning is removed.
  if (field !== undefined) return { field, message: sentence.replace(/^\w+: ?/, "") };
  // The only field of the form that can cause a conflict is the name.
  return { field: codeOf(thrown) === "conflict" ? "name" : undefined, message: sentence };
}
