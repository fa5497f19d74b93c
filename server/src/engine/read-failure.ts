import { AISDKError, APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { ModelFailure } from "./model-failure.ts";
import { providerText } from "./provider-text.ts";
import { readRetryAfter } from "./read-retry-after.ts";
import { transportFailure } from "./transport-failure.ts";

type Scrub = (text: string) => string;

/** What a provider says of its error, in any of the shapes seen in the field. */
interface Complaint {
  readonly text: string;
  /** `code` and `type`, as text. */
  readonly labels: readonly string[];
}

/** Refusals that a repeat will not change, whatever status they come with. */
const permanentLabels = new Set([
  "insufficient_quota",
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
]);

/**
 * Turns whatever a model call threw, or an error inside a stream, into a `ModelFailure`. Repeated are: 408, 409, 429, 5xx,
 * a lost connection, a time-out, and a 200 that is not an answer. Any other 4xx is permanent: the same words would be
 * refused again.
 */
export function readFailure(thrown: unknown, scrub: Scrub): ModelFailure {
  if (thrown instanceof ModelFailure) return thrown;
  const transport = transportFailure(thrown);
  if (transport !== undefined) return transport;

  if (APICallError.isInstance(thrown)) {
    if (thrown.statusCode === undefined) return new ModelFailure("The connection to the model's provider failed.", { retryable: true });
    return isSuccess(thrown.statusCode) ? notAnAnswer(readJson(thrown.responseBody), scrub) : refusal(thrown, thrown.statusCode, scrub);
  }
  if (TypeValidationError.isInstance(thrown)) return notAnAnswer(thrown.value, scrub);
  if (JSONParseError.isInstance(thrown)) return notAnAnswer(undefined, scrub);
  if (InvalidResponseDataError.isInstance(thrown)) {
    return new ModelFailure(`The model's answer broke off or was not complete: ${providerText(thrown.message, scrub)}`, {
      retryable: true,
    });
  }
  if (AISDKError.isInstance(thrown)) {
    return new ModelFailure(`The model cannot be called like this: ${providerText(thrown.message, scrub)}`, { retryable: false });
  }
  if (thrown instanceof Error) return new ModelFailure(`The model call failed (${thrown.name}).`, { retryable: false });
  return notAnAnswer({ error: thrown }, scrub);
}

const isSuccess = (status: number) => status >= 200 && status < 300;

function mayPass(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function refusal(error: APICallError, status: number, scrub: Scrub): ModelFailure {
  const complaint = complaintIn(readJson(error.responseBody));
  const text = providerText(complaint?.text ?? "", scrub);
  const permanent = complaint?.labels.includes("insufficient_quota") ?? false;
  return new ModelFailure(`The model's provider answered ${status}${text === "" ? "." : `: ${text}`}`, {
    retryable: mayPass(status) && !permanent,
    retryAfterMs: readRetryAfter(error.responseHeaders),
  });
}

/** A body or a piece of a stream that came with 200 and is no answer: an error in band, or nothing we can read. */
function notAnAnswer(body: unknown, scrub: Scrub): ModelFailure {
  const complaint = complaintIn(body);
  if (complaint === undefined)
    return new ModelFailure("The model's provider answered with something that is not an answer.", { retryable: true });

  const status = complaint.labels.map(Number).find((code) => code >= 400 && code < 600);
  const permanent = status === undefined ? complaint.labels.some((label) => permanentLabels.has(label)) : !mayPass(status);
  const text = providerText(complaint.text, scrub);
  return new ModelFailure(`The model's provider reported an error${text === "" ? "." : `: ${text}`}`, { retryable: !permanent });
}

/** `{error: {message, code, type}}`, `{error: "text"}`, `{message: "text"}` or `{detail: "text"}`. */
function complaintIn(body: unknown): Complaint | undefined {
  if (!isRecord(body)) return undefined;
  const inner = isRecord(body.error) ? body.error : body;
  const text = [inner.message, body.error, body.message, body.detail].find((candidate) => typeof candidate === "string");
  if (text === undefined && body.error === undefined) return undefined;
  const labels = [inner.code, inner.type].flatMap((label) =>
    typeof label === "string" || typeof label === "number" ? [String(label)] : [],
  );
  return { text: String(text ?? ""), labels };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
