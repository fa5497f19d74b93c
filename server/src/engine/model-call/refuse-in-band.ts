import { isJsonObject, type JsonObject } from "../../base/json-object.ts";
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
  if (!isJsonObject(body)) return;
  if (body.error !== undefined && body.error !== null) throw body.error;
  const response = body.type === "response.incomplete" ? body.response : body;
  if (isJsonObject(response) && response.object === "response" && !isFinished(response)) {
    throw new ModelFailure("The model's answer broke off.", { retryable: true });
  }
}

function isFinished({ status, incomplete_details: details }: JsonObject): boolean {
  if (status === "incomplete") return isJsonObject(details) && typeof details.reason === "string";
  return status === undefined || status === null || status === "completed";
}
