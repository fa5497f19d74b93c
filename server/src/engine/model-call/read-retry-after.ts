import { parseRetryAfter } from "../../base/egress/index.ts";
import { fieldOf } from "../../base/json/index.ts";

/**
 * Returns the wait in milliseconds that a response asks for. Reads `retry-after-ms`, or
 * `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3). Returns undefined if
 * neither header is readable, and 0 if the date has passed.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now = Date.now(),
): number | undefined {
  const milliseconds = nonNegative(headers?.["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;

  // Some providers send a fraction of seconds, which RFC 9110 does not allow.
  const header = headers?.["retry-after"];
  const seconds = nonNegative(header);
  return seconds === undefined ? parseRetryAfter(header, now) : seconds * 1000;
}

function nonNegative(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the wait in milliseconds that the body of an error asks for; undefined if it asks for
 * none. Two providers send the wait in the body and not in a header: Google in `{error: {details:
 * [{"@type": "…google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}`, OpenRouter in `{error: {metadata:
 * {retry_after_seconds: 17}}}`.
 */
export function readRetryDelay(body: unknown): number | undefined {
  const error = fieldOf(body, "error");
  const waitSeconds = fieldOf(fieldOf(error, "metadata"), "retry_after_seconds");
  if (typeof waitSeconds === "number" && waitSeconds >= 0) return waitSeconds * 1000;
  const details = fieldOf(error, "details");
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = fieldOf(detail, "retryDelay");
    const seconds =
      typeof delay === "string" && delay.endsWith("s")
        ? nonNegative(delay.slice(0, -1))
        : undefined;
    if (seconds !== undefined) return seconds * 1000;
  }
  return undefined;
}
