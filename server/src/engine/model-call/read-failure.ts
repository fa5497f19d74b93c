import {
  AISDKError,
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { ModelFailure } from "../model-failure.ts";
import { type ProviderError, providerErrorIn } from "./provider-error.ts";
import { providerText } from "./provider-text.ts";
import { readRetryAfter, readRetryDelay } from "./read-retry-after.ts";
import { transportFailure } from "./transport-failure.ts";

type Scrub = (text: string) => string;

/** Refusals that a repeat will not change, whatever status they come with. */
const permanentLabels = new Set([
  "insufficient_quota",
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
 * Turns whatever a model call threw, or an error inside a stream, into a `ModelFailure`. Repeated are: 408, 409, 429, 5xx,
 * a lost connection, a time-out, a 200 that is not an answer, and an adapter that trips over an answer. Any other 4xx is
 * permanent: the same words would be refused again.
 */
export function readFailure(thrown: unknown, scrub: Scrub): ModelFailure {
  if (thrown instanceof ModelFailure) return thrown;
  const transport = transportFailure(thrown);
  if (transport !== undefined) return transport;

  if (APICallError.isInstance(thrown)) {
    // Typed as text. An adapter that found an error in a 200 makes up a status and leaves the parsed body here.
    const body: unknown = thrown.responseBody;
    if (typeof body === "object" && body !== null) return notAnAnswer(body, scrub);
    if (thrown.statusCode === undefined)
      return new ModelFailure("The connection to the model's provider failed.", {
        retryable: true,
        down: true,
      });
    return isSuccess(thrown.statusCode)
      ? notAnAnswer(readJson(body), scrub)
      : refusal(thrown, thrown.statusCode, scrub);
  }
  if (TypeValidationError.isInstance(thrown)) return notAnAnswer(thrown.value, scrub);
  if (JSONParseError.isInstance(thrown)) return notAnAnswer(undefined, scrub);
  if (InvalidResponseDataError.isInstance(thrown)) {
    return new ModelFailure(
      `The model's answer broke off or was not complete: ${providerText(thrown.message, scrub)}`,
      {
        retryable: true,
      },
    );
  }
  if (AISDKError.isInstance(thrown)) {
    return new ModelFailure(
      `The model cannot be called like this: ${providerText(thrown.message, scrub)}`,
      { retryable: false },
    );
  }
  if (thrown instanceof Error)
    return new ModelFailure(`The model call failed (${thrown.name}).`, { retryable: true });
  return notAnAnswer({ error: thrown }, scrub);
}

const isSuccess = (status: number) => status >= 200 && status < 300;

function mayPass(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function refusal(error: APICallError, status: number, scrub: Scrub): ModelFailure {
  const body = readJson(error.responseBody);
  const complaint = providerErrorIn(body);
  const text = providerText(complaint?.text ?? "", scrub);
  const permanent = complaint?.labels.includes("insufficient_quota") ?? false;
  return new ModelFailure(
    `The model's provider answered ${status}${text === "" ? "." : `: ${text}`}`,
    {
      retryable: mayPass(status) && !permanent,
      down: status >= 500,
      retryAfterMs: readRetryAfter(error.responseHeaders) ?? readRetryDelay(body),
    },
  );
}

/** A status among the labels decides; an adapter's own judgement comes next. */
function isPermanent({ labels, retryable }: ProviderError): boolean {
  const status = labels.map(Number).find((code) => code >= 400 && code < 600);
  if (status !== undefined) return !mayPass(status);
  return labels.some((label) => permanentLabels.has(label)) || retryable === false;
}

/** A body or a piece of a stream that came with 200 and is no answer: an error in band, or nothing we can read. */
function notAnAnswer(body: unknown, scrub: Scrub): ModelFailure {
  const complaint = providerErrorIn(body);
  if (complaint === undefined)
    return new ModelFailure("The model's provider answered with something that is not an answer.", {
      retryable: true,
    });

  const permanent = isPermanent(complaint);
  const text = providerText(complaint.text, scrub);
  return new ModelFailure(
    `The model's provider reported an error${text === "" ? "." : `: ${text}`}`,
    { retryable: !permanent },
  );
}

function readJson(text: unknown): unknown {
  try {
    return JSON.parse(typeof text === "string" ? text : "");
  } catch {
    return undefined;
  }
}
