import { fieldOf, isJsonObject, type JsonObject, tryParseJson } from "../../base/json/index.ts";

/** An error that a provider reported, in one format for all providers. */
export interface ProviderError {
  readonly text: string;
  /**
   * What a server behind a router sent, after the name of its provider, if it contains no message.
   * It can be anything, for example a whole body with texts of the run.
   */
  readonly sent: string | undefined;
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
 * "text"}`, `{detail: "text"}`, `{errors: [{message}]}` (Cloudflare), or nested in
 * `{response: {error: …}}` (OpenAI's streams). Instead of a text there can be several errors: see
 * `wordsIn`. The text of an error of OpenRouter is that of the provider that it called. Returns
 * undefined if the body contains no error.
 */
export function providerErrorIn(body: unknown): ProviderError | undefined {
  if (!isJsonObject(body)) return undefined;
  if (isJsonObject(body.response) && body.error === undefined)
    return providerErrorIn(body.response);
  const inner = isJsonObject(body.error) ? body.error : body;
  const upstream = upstreamIn(inner.metadata);
  const text = upstream.text ?? textIn(body);
  if (text === undefined && (body.error === undefined || body.error === null)) return undefined;
  const labels = [inner.code, inner.type, inner.status].flatMap((label) =>
    typeof label === "string" || typeof label === "number" ? [String(label)] : [],
  );
  return {
    text: text ?? "",
    sent: upstream.sent,
    labels,
    retryable: typeof inner.isRetryable === "boolean" ? inner.isRetryable : undefined,
  };
}

function textIn(body: JsonObject): string | undefined {
  const inner = isJsonObject(body.error) ? body.error : body;
  return [inner.message, body.error, body.message, body.detail, body.errors]
    .map(wordsIn)
    .find((words) => words !== undefined);
}

/**
 * Returns the message of the error that OpenRouter got from a provider, after the provider's name.
 * Its metadata has the error in `raw`, as text, often JSON text. OpenRouter's own message is only
 * "Provider returned error". Returns `raw` as `sent` if it contains no message.
 */
function upstreamIn(metadata: unknown): { readonly text?: string; readonly sent?: string } {
  const raw = fieldOf(metadata, "raw");
  const whole = typeof raw === "string" ? raw.trim() : "";
  const error = unwrapped(tryParseJson(whole) ?? raw);
  const text = isJsonObject(error) ? textIn(error) : undefined;
  const name = fieldOf(metadata, "provider_name");
  if (text) return { text: typeof name === "string" ? `${name}: ${text}` : text };
  const sender = typeof name === "string" ? name : "The server behind it";
  return whole === "" ? {} : { sent: `${sender} sent: ${whole}` };
}

/** Returns the body of an error. Google's endpoint for OpenAI's API sends an array of one error. */
export function unwrapped(body: unknown): unknown {
  return Array.isArray(body) && body.length === 1 ? body[0] : body;
}

/** Maximum number of errors in a message. */
const maxErrors = 5;

/**
 * Returns a text, or the texts of errors: of a validation, `[{loc: ["body", "n"], msg}]` or
 * `{detail: […]}` (FastAPI, Mistral), each with its location, or `[{message}]` (Cloudflare).
 * Undefined if there is no text.
 */
function wordsIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const errors = isJsonObject(value) ? value.detail : value;
  if (!Array.isArray(errors)) return undefined;
  const texts = errors.slice(0, maxErrors).flatMap((error) => {
    const message = fieldOf(error, "msg") ?? fieldOf(error, "message");
    if (typeof message !== "string") return [];
    const location = fieldOf(error, "loc");
    const names = Array.isArray(location) ? location.slice(0, 20) : [];
    const path = names
      .filter((name) => typeof name === "string" || Number.isInteger(name))
      .join(".");
    return [path === "" ? message : `${path}: ${message}`];
  });
  return texts.length === 0 ? undefined : texts.join("; ");
}
