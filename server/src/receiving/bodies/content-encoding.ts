import { ApiError } from "../../base/errors.ts";

/**
 * Returns the Content-Encoding of a body in lower case; undefined if the body is not encoded.
 * @param header the header `Content-Encoding`
 */
export function encodingOf(header: string | undefined): string | undefined {
  const encoding = (header ?? "").trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? undefined : encoding;
}

/** The error for a body with a Content-Encoding where none is accepted. */
export function encodedBody(): ApiError {
  return new ApiError(
    "unsupported_type",
    "The body has a Content-Encoding. Send it uncompressed, without that header.",
  );
}
