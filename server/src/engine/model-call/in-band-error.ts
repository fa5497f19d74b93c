import { isJsonObject, type JsonObject } from "../../base/json/index.ts";
import { ModelFailure } from "../model-failure.ts";

/**
 * Throws if the body of a 200 response, or one event of a stream, reports a failure that the
 * provider libraries accept as an answer:
 *
 * - an `error` field in place of the content or next to it (the libraries ignore unknown fields);
 * - an unfinished OpenAI response: failed, cancelled, in progress, or incomplete without a reason.
 *
 * @throws the `error` value as the provider wrote it, or {ModelFailure}.
 */
export function throwInBandError(body: unknown): void {
  if (!isJsonObject(body)) return;
  if (body.error !== undefined && body.error !== null) throw body.error;
  const response = body.type === "response.incomplete" ? body.response : body;
  if (isJsonObject(response) && response.object === "response" && !isFinished(response)) {
    throw new ModelFailure("The model's answer is incomplete.", { retryable: true });
  }
}

function isFinished({ status, incomplete_details: details }: JsonObject): boolean {
  if (status === "incomplete") return isJsonObject(details) && typeof details.reason === "string";
  return status === undefined || status === null || status === "completed";
}
