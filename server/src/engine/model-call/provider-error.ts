import { isJsonObject } from "../../base/json-object.ts";

/** A provider's error, normalised from the shapes seen in practice. */
export interface ProviderError {
  readonly text: string;
  /** `code`, `type` and `status`, as text. */
  readonly labels: readonly string[];
  /** The library's own classification, if any. */
  readonly retryable: boolean | undefined;
}

/**
 * Returns the error in `{error: {message, code, type, status}}`, `{error: "text"}`, `{message:
 * "text"}`, `{detail: "text"}`, or nested in `{response: {error: …}}` (OpenAI's streams). Undefined
 * if the body reports none.
 */
export function providerErrorIn(body: unknown): ProviderError | undefined {
  if (!isJsonObject(body)) return undefined;
  if (isJsonObject(body.response) && body.error === undefined)
    return providerErrorIn(body.response);
  const inner = isJsonObject(body.error) ? body.error : body;
  const text = [inner.message, body.error, body.message, body.detail].find(
    (candidate) => typeof candidate === "string",
  );
  if (text === undefined && (body.error === undefined || body.error === null)) return undefined;
  const labels = [inner.code, inner.type, inner.status].flatMap((label) =>
    typeof label === "string" || typeof label === "number" ? [String(label)] : [],
  );
  return {
    text: String(text ?? ""),
    labels,
    retryable: typeof inner.isRetryable === "boolean" ? inner.isRetryable : undefined,
  };
}
