import { ApiError } from "../errors.ts";
import { parseExactly, rawNumber } from "./exact-integers.ts";

/**
 * Returns the parsed JSON. Skips a byte order mark, as RFC 8259 allows: some editors add one.
 * @param isExact whether integers outside of ±2^53 become raw numbers (`RawNumber`). Default false.
 * @throws ApiError `bad_request` if the text is empty or not JSON. The message contains the
 *   position of the mistake, if `JSON.parse` reports it.
 */
export function parseJson(text: string, isExact = false): unknown {
  if (text === "") throw new ApiError("bad_request", "The body is empty. Send JSON.");
  try {
    const json = text.startsWith("\ufeff") ? text.slice(1) : text;
    return isExact ? parseExactly(json, rawNumber) : JSON.parse(json);
  } catch (thrown) {
    throw new ApiError("bad_request", `The body is not valid JSON${positionIn(thrown)}.`);
  }
}

/** Returns the value of a JSON text; undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the end of the error message, which says where the text is not JSON; empty if unknown.
 * The message of `JSON.parse` is not returned, because it repeats parts of the body.
 */
function positionIn(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : "";
  if (message.includes("end of JSON input")) return ": it is truncated";
  const position = /at position \d+( \(line \d+ column \d+\))?/.exec(message)?.[0];
  return position === undefined ? "" : `: unexpected character ${position}`;
}
