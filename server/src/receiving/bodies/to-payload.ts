import { ApiError } from "../../base/errors.ts";
import { parseJson } from "../../base/json/index.ts";
import { mediaTypeOf } from "../raw-request.ts";
import { formAsJson } from "./body-limits.ts";
import { urlEncodedFields } from "./form-fields.ts";

/**
 * Converts the body of a request to the payload of a run, for a trigger without the settings
 * `receiving`. Text and JSON are unchanged; a URL-encoded form is converted to JSON, which models
 * understand better.
 * @param contentType value of the header; if it is undefined or empty, the body is text.
 * @param readText returns the body as text; called only if the content type is supported.
 * @throws ApiError `unsupported_type`; `bad_request` if the body is not what its type says;
 *   `too_large` if a form is too large as JSON; the errors of `readText`.
 */
export function toPayload(contentType: string | undefined, readText: () => string): string {
  const type = mediaTypeOf(contentType);
  // JSON first, because `text/json` is also a type of text.
  if (isJsonType(type)) {
    const text = readText();
    if (text !== "") parseJson(text);
    return text;
  }
  if (isTextType(type)) return readText();
  if (type === formType) {
    const text = readText();
    const fields = urlEncodedFields(text, { contentType, maxFields: Infinity });
    return fields === undefined ? text : formAsJson(fields, { isInput: true });
  }
  throw new ApiError(
    "unsupported_type",
    `A trigger does not accept ${type}. Send JSON, text or a URL-encoded form.`,
  );
}

/** Media type of a URL-encoded form. */
export const formType = "application/x-www-form-urlencoded";

/** Returns whether a media type is text. An absent media type counts as text. */
export function isTextType(type: string): boolean {
  return type === "" || type.startsWith("text/");
}

/** Returns whether a media type is JSON, such as `application/json` or `application/x+json`. */
export function isJsonType(type: string): boolean {
  return /^[^/]+\/(.+\+)?json$/.test(type);
}
