import { ModelFailure } from "../model-failure.ts";

/**
 * Looks at a body that came with 200, or at one piece of a stream, for what the providers' adapters let pass as an answer:
 *
 * - an `error` in place of, or beside, what was said (they ignore members that they do not know);
 * - a response of OpenAI that is not finished: failed, cancelled, still in progress, or incomplete without a reason.
 *
 * @throws the error as the provider wrote it, or {ModelFailure}.
 */
export function refuseInBand(body: unknown): void {
  if (!isRecord(body)) return;
  if (body.error !== undefined && body.error !== null) throw body.error;
  const response = body.type === "response.incomplete" ? body.response : body;
  if (isRecord(response) && response.object === "response" && !isFinished(response)) {
    throw new ModelFailure("The model's answer broke off.", { retryable: true });
  }
}

function isFinished({ status, incomplete_details: details }: Record<string, unknown>): boolean {
  if (status === "incomplete") return isRecord(details) && typeof details.reason === "string";
  return status === undefined || status === null || status === "completed";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
