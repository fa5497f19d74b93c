import { isJsonObject } from "../../base/json-object.ts";

/** What a provider says of its error, in any of the shapes seen in the field. */
export interface ProviderError {
  readonly text: string;
  /** `code`, `type` and `status`, as text. */
  readonly labels: readonly string[];
  /** What the adapter that read it makes of it, if anything. */
  readonly retryable: boolean | undefined;
}

/**
 * `{error: {message, code, type, status}}`, `{error: "text"}`, `{message: "text"}`, `{detail: "text"}`, and inside
 * `{response: {error: …}}`, as OpenAI's streams have it. Undefined when the body complains of nothing.
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
