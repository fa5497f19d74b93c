import { ApiError } from "../../base/errors.ts";

/**
 * Counts more bytes that a body uses.
 * @returns false if the process cannot hold them
 */
export type HoldBytes = (bytes: number) => boolean;

/** @param when after "larger than N bytes", such as `after it is inflated` */
export function tooLarge(maxBytes: number, when?: string): ApiError {
  const size = `${maxBytes.toLocaleString("en")} bytes${when === undefined ? "" : ` ${when}`}`;
  return new ApiError("too_large", `The body is larger than ${size}. Send less, or a link to it.`);
}

export function tooManyBodies(): ApiError {
  return new ApiError(
    "unavailable",
    "This server is reading as many large request bodies as it can hold. Try again shortly.",
    { retryAfter: 1 },
  );
}
