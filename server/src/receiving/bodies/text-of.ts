import { isUtf8 } from "node:buffer";
import { ApiError } from "../../base/errors.ts";

/**
 * Returns the body as text.
 * @throws ApiError `bad_request` if it is not UTF-8 or has a NUL, which PostgreSQL cannot store.
 */
export function textOf(bytes: Buffer): string {
  if (bytes.includes(0))
    throw new ApiError(
      "bad_request",
      "The body contains a NUL byte (0x00), which text cannot hold. Send text without it.",
    );
  if (!isUtf8(bytes))
    throw new ApiError("bad_request", "The body is not valid UTF-8. Send text encoded as UTF-8.");
  return bytes.toString();
}
