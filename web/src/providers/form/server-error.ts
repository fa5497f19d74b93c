import { codeOf, failureOf, fieldErrorOf, isOutcomeUnknown } from "../../data/index.ts";
import { type ProviderFields, sources } from "./provider-fields.ts";

/** An error of the API at the field that it is about. */
export interface ServerError {
  /** The field that the error is about; undefined if it is about the form as a whole. */
  readonly field: keyof ProviderFields | undefined;
  readonly message: string;
}

/**
 * Returns the form field that an error of the API is about, and the message to show there. The
 * field is undefined if the error is about the form as a whole.
 * @param retry sentence that says what happens if the form is sent again. The message contains it
 *   only if the response was lost.
 */
export function serverError(thrown: unknown, retry: string): ServerError {
  const message = failureOf(thrown, "the provider was saved", retry);
  if (isOutcomeUnknown(thrown)) return { field: undefined, message };
  const error = fieldErrorOf(thrown, sources);
  if (error !== undefined) return error;
  // The only field of the form that can cause a conflict is the name.
  return { field: codeOf(thrown) === "conflict" ? "name" : undefined, message };
}
