import { fieldOf } from "../../base/json-object.ts";

/**
 * Milliseconds that an answer asks to wait: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date. Undefined
 * when it asks nothing readable; 0 when the moment has passed.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now = Date.now(),
): number | undefined {
  const milliseconds = nonNegative(headers?.["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;

  const header = headers?.["retry-after"];
  const seconds = nonNegative(header);
  if (seconds !== undefined) return seconds * 1000;

  // Date.parse alone finds a date in almost anything, "-3" included.
  const date =
    header !== undefined && /^[A-Za-z]{3,9},? .* GMT$/.test(header)
      ? Date.parse(header)
      : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function nonNegative(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/**
 * The same from the body of Google's 429, which has no such header: `{error: {details: [{"@type": "…google.rpc.RetryInfo",
 * "retryDelay": "34.5s"}]}}`.
 */
export function readRetryDelay(body: unknown): number | undefined {
  const details = fieldOf(fieldOf(body, "error"), "details");
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
