import { maxInputBytes } from "@beckon/contract";
import { ApiError } from "../../base/errors.ts";

/**
 * Bytes of memory that are counted for each byte of a body. They include the chunks, the joined
 * bytes, the text, the parsed JSON and the validated value.
 */
export const heldPerByte = 6;

/**
 * Counts further bytes of a body against the memory budget.
 * @returns false if the process cannot hold them now
 * @throws ApiError `too_large` if it can never hold them
 */
export type HoldBytes = (bytes: number) => boolean;

/**
 * Returns the fields of a form as JSON. JSON can be longer than the form: a control character has
 * one byte in a form and six in JSON.
 * @throws ApiError `too_large` if the JSON is the input of a run, and too large for it
 */
export function formAsJson(fields: object, { isInput }: { readonly isInput: boolean }): string {
  const text = JSON.stringify(fields);
  if (isInput && Buffer.byteLength(text) > maxInputBytes)
    throw tooLarge(maxInputBytes, "after it is converted to JSON");
  return text;
}

/**
 * Returns the error for a body above `maxBytes`.
 * @param when text that follows the size in the message, such as `after it is inflated`
 */
export function tooLarge(maxBytes: number, when?: string): ApiError {
  const mebibytes = maxBytes / 1_048_576;
  const size = [
    `${maxBytes.toLocaleString("en")} bytes`,
    ...(Number.isInteger(mebibytes) ? [`(${mebibytes} MiB)`] : []),
    ...(when === undefined ? [] : [when]),
  ].join(" ");
  return new ApiError("too_large", `The body is larger than ${size}. Send less, or a link to it.`);
}

/**
 * The error for a body that is larger than the whole memory budget. The code is not `unavailable`,
 * because a retry cannot succeed.
 */
export function tooLargeForMemory(): ApiError {
  return new ApiError(
    "too_large",
    "The body is larger than the memory that this server has for it. " +
      "Send less, or raise BECKON_MEMORY_BUDGET_MIB.",
  );
}

/** The error if the process cannot hold another body now. */
export function tooManyBodies(): ApiError {
  return new ApiError(
    "unavailable",
    "This server is reading as many large request bodies as it can hold. Try again shortly.",
    { retryAfter: 1 },
  );
}
