import { isJsonObject } from "../../base/json/index.ts";

/** An error that a provider reported, in one format for all providers. */
export interface ProviderError {
  readonly text: string;
  /** The values of `code`, `type` and `status`, as text. */
  readonly labels: readonly string[];
  /**
   * Whether the provider library considers the error retryable; undefined if the library does not
   * classify it.
   */
  readonly retryable: boolean | undefined;
}

/**
 * Returns the error in `{error: {message, code, type, status}}`, `{error: "text"}`, `{message:
 * "text"}`, `{detail: "text"}`, or nested in `{response: {error: …}}` (OpenAI's streams). Returns
 * undefined if the body contains no error.
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
