import { ApiError } from "../../base/errors.ts";

/**
 * Checks the value of a header. Node decodes header bytes as Latin-1, so a value in UTF-8 would
 * become another one.
 * @throws ApiError `bad_request` unless all characters are printable ASCII.
 */
export function requirePrintableAscii(header: string, value: string): void {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new ApiError(
      "bad_request",
      `${header} has characters other than printable ASCII. Percent-encode them as UTF-8, for example Z%C3%BCrich.`,
    );
}
