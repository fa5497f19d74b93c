import {
  AISDKError,
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { fieldOf, tryParseJson } from "../../base/json/index.ts";
import { isGatewayTimeout, ModelFailure } from "../model-failure.ts";
import { type ProviderError, providerErrorIn, unwrapped } from "./provider-error.ts";
import { providerText } from "./provider-text.ts";
import { readRetryAfter, readRetryDelay } from "./read-retry-after.ts";
import { transportFailure } from "./transport-failure.ts";
import { usageInError } from "./usage-in-error.ts";

type Scrub = (text: string) => string;

/** Error labels that make an error in a 200 response permanent; see `reported`. */
const permanentLabels = new Set([
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "billing_error",
  "request_too_large",
  "invalid_prompt",
  "invalid_api_key",
  "model_not_found",
  "context_length_exceeded",
]);

/**
 * Error labels of a sample that the provider could not read. They take precedence over the status
 * and over `permanentLabels`, because another sample of the same request usually can be read. Groq
 * sends `tool_use_failed` with the status 400 and the type `invalid_request_error`.
 */
const sampleLabels = new Set(["tool_use_failed"]);

/**
 * Converts an error that a model call threw, or that a stream contained, into a `ModelFailure`.
 *
 * These failures are retryable: the statuses 408, 409, 429, 498 and 5xx, a sample that the provider
 * could not read, a lost connection, a timeout, and a 200 response without a usable answer, unless
 * the error is permanent (see `reported`). Other 4xx statuses are permanent, because the provider
 * would reject the same request again. A failed TLS handshake and a call that the library rejects
 * are permanent too.
 */
export function readFailure(thrown: unknown, scrub: Scrub): ModelFailure {
  if (thrown instanceof ModelFailure) return thrown;
  const transport = transportFailure(thrown);
  if (transport !== undefined) return transport;

  if (APICallError.isInstance(thrown)) {
    // `responseBody` can be a parsed body, although its type is a string. If a library finds an
    // error in a 200 response, it throws an `APICallError` with an invented status and this body.
    const body: unknown = thrown.responseBody;
    if (typeof body === "object" && body !== null) return unusableBody(body, scrub);
    if (thrown.statusCode === undefined)
      return new ModelFailure("The connection to the model's provider failed.", {
        retryable: true,
        unreachable: true,
      });
    return isSuccess(thrown.statusCode)
      ? unusableBody(tryParseJson(thrown.responseBody ?? ""), scrub)
      : statusFailure(thrown, thrown.statusCode, scrub);
  }
  if (TypeValidationError.isInstance(thrown)) return unusableBody(thrown.value, scrub);
  if (JSONParseError.isInstance(thrown)) return unusableBody(undefined, scrub);
  if (InvalidResponseDataError.isInstance(thrown)) {
    return new ModelFailure(
      `The model's answer is incomplete: ${providerText(thrown.message, scrub)}`,
      {
        retryable: true,
      },
    );
  }
  if (AISDKError.isInstance(thrown)) {
    return new ModelFailure(
      `The provider's library rejected the call: ${providerText(thrown.message, scrub)}`,
      { retryable: false },
    );
  }
  if (thrown instanceof Error)
    return new ModelFailure(`The model call failed (${thrown.name}).`, { retryable: true });
  return unusableBody({ error: thrown }, scrub);
}

const isSuccess = (status: number) => status >= 200 && status < 300;

/** Statuses below 500 after which a retry can succeed. Groq sends 498 if it has no capacity. */
const transientStatuses = new Set([408, 409, 429, 498]);

function isTransient(status: number): boolean {
  return transientStatuses.has(status) || status >= 500;
}

/** Returns what the provider says, in a form that can be shown. */
const wordsOf = (error: ProviderError | undefined, scrub: Scrub) =>
  providerText(error?.text ?? "", scrub);

/** See `ModelFailure.quoted`. Groq sends the sample that it could not read. */
function quotedIn(
  error: ProviderError | undefined,
  body: unknown,
  scrub: Scrub,
): string | undefined {
  const sample = fieldOf(fieldOf(body, "error"), "failed_generation");
  const generated = typeof sample === "string" && sample !== "";
  const quoted = generated ? `It generated: ${sample}` : error?.sent;
  return quoted === undefined ? undefined : providerText(quoted, scrub);
}

/** Labels that mean the status 429 in a 200 response, where most errors name no status. */
const rateLimitLabels = new Set(["rate_limit_exceeded", "rate_limit_error"]);

/** Labels of an account without credit. OpenAI and Moonshot send them with the status 429. */
const quotaLabels = new Set(["insufficient_quota", "exceeded_current_quota_error"]);

/**
 * Matches the body of a 429 that minutes of waiting probably do not end: Google's quota per day
 * (`GenerateRequestsPerDayPerProjectPerModel`), OpenRouter's, and the missing credit of xAI and
 * Z.ai.
 */
const longLimit = /per[ _-]?day|daily|credits|balance/i;

/**
 * Matches the words of a 429 that no wait ends: the request needs more than a whole minute's tokens
 * (OpenAI), or a plan that the account does not have (Anthropic).
 */
const neverAccepted = /request too large|must be reduced|extra usage is required/i;

function statusFailure(error: APICallError, status: number, scrub: Scrub): ModelFailure {
  const sent = error.responseBody ?? "";
  const body = unwrapped(tryParseJson(sent));
  const providerError = providerErrorIn(body);
  const text = wordsOf(providerError, scrub);
  return new ModelFailure(
    `The model's provider answered ${status}${text === "" ? "." : `: ${text}`}`,
    {
      ...reported(providerError, status, { body, sent, headers: error.responseHeaders }),
      usage: usageInError(body),
      quoted: quotedIn(providerError, body, scrub),
    },
  );
}

/**
 * Returns the failure for a 200 response or a stream event that contains no answer but an error or
 * unreadable data. Its status is the one that the error names: OpenRouter sends most errors so.
 * That of a rate limit is 429, also if the error does not name it.
 */
function unusableBody(body: unknown, scrub: Scrub): ModelFailure {
  const providerError = providerErrorIn(body);
  if (providerError === undefined)
    return new ModelFailure("The model's provider sent a response that Beckon cannot read.", {
      retryable: true,
    });

  const { labels } = providerError;
  const named = labels.map(Number).find((code) => code >= 400 && code < 600);
  const status = named ?? (labels.some((label) => rateLimitLabels.has(label)) ? 429 : undefined);
  const text = wordsOf(providerError, scrub);
  return new ModelFailure(
    `The model's provider reported an error${text === "" ? "." : `: ${text}`}`,
    {
      ...reported(providerError, status, { body, sent: JSON.stringify(body) }),
      // The provider has responded with 200, so it can be reached.
      unreachable: false,
      usage: usageInError(body),
      quoted: quotedIn(providerError, body, scrub),
    },
  );
}

/** The response that contains an error. */
interface ErrorResponse {
  readonly body: unknown;
  /** The body as text. */
  readonly sent: string;
  /** Default: none, for an error inside a 200. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns what the status of an error, its labels and its response say. An error of a sample is
 * retryable. An error is permanent if the account has no credit, if no wait ends it, or with
 * `x-should-retry: false`, which the packages of OpenAI and Anthropic obey. Else the status
 * decides. An error without a status is permanent if `permanentLabels` has one of its labels, or if
 * the library marks it as not retryable.
 */
function reported(
  error: ProviderError | undefined,
  status: number | undefined,
  { body, sent, headers }: ErrorResponse,
) {
  const has = (labels: ReadonlySet<string>) => error?.labels.some((label) => labels.has(label));
  const retryAfterMs = readRetryAfter(headers) ?? readRetryDelay(body);
  const isPermanent =
    has(quotaLabels) ||
    headers?.["x-should-retry"] === "false" ||
    (status === 429 && neverAccepted.test(error?.text ?? ""));
  const hasBudgetInUse = status === 402 && retryAfterMs !== undefined && isBudgetInUse(body);
  const canSucceed =
    status === undefined
      ? !has(permanentLabels) && error?.retryable !== false
      : isTransient(status) || hasBudgetInUse;
  return {
    status,
    retryable: has(sampleLabels) || (canSucceed && !isPermanent),
    unreachable: status !== undefined && status >= 500,
    rejected: !isGatewayTimeout(status),
    rateLimited: !isPermanent && (hasBudgetInUse || (status === 429 && !longLimit.test(sent))),
    retryAfterMs,
  };
}

/**
 * Returns whether OpenRouter rejected a call because calls in flight hold the account's budget,
 * which they return when they end (https://openrouter.ai/docs/api-reference/limits).
 */
function isBudgetInUse(body: unknown): boolean {
  const metadata = fieldOf(fieldOf(body, "error"), "metadata");
  return fieldOf(metadata, "limit_source") === "openrouter_in_flight_budget";
}
