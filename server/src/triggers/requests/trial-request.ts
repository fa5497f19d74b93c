import type { Receiving, TrialRequest } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { timeOf } from "../../base/ids.ts";
import { type HoldBytes, presets, type RawRequest } from "../../receiving/index.ts";
import type { TriggerRow } from "../store.ts";
import { receivingOf } from "../trigger.ts";
import { requireRequest, shownHeaders, type WholeRequest } from "./request.ts";

/**
 * Returns the request that a preview or a test uses: a received request, an example of a preset, or
 * the payload that the caller has sent.
 * @param hold counts the bytes of a received request's body against the memory budget, before they
 *   are read.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`, `unavailable`; `conflict` if the
 *   content of a received request is not stored.
 */
export async function readTrialRequest(
  tx: WorkspaceTransaction,
  ctx: Context,
  trigger: TriggerRow,
  trial: TrialRequest,
  hold: HoldBytes,
): Promise<RawRequest> {
  const { request_id: requestId, example, ...own } = trial;
  const sources = [requestId, example, Object.keys(own).length > 0 ? own : undefined];
  if (sources.filter((source) => source !== undefined).length > 1) {
    throw new ApiError(
      "bad_request",
      "request must have either request_id, or example, or payload with content_type, headers and query.",
    );
  }
  if (requestId !== undefined) {
    permit(ctx, "runs:read");
    const stored = await requireRequest(tx, trigger, requestId, hold);
    return storedRequest(stored, receivingOf(trigger));
  }
  if (example !== undefined) return exampleRequest(example);
  return ownRequest(own);
}

/**
 * Returns a received request as it arrived, with only the headers that can be shown. The caller of
 * a preview chooses which headers its result contains, whatever the trigger's settings are.
 * @param receiving the trigger's saved settings
 * @throws ApiError `conflict` if its content is not stored: the request was not verified, it was
 *   above `max_per_minute`, it repeated an earlier request, or it was deleted with its run.
 */
export function storedRequest(row: WholeRequest, receiving: Receiving | null): RawRequest {
  const { body } = row;
  if (body === null || row.headers === null) {
    throw new ApiError(
      "conflict",
      "The body of this request is not stored: it was not verified, it was above max_per_minute, it repeated an earlier request, or it was deleted with its run. Use another request.",
    );
  }
  return rawRequest(shownHeaders(row, receiving), row.query ?? "", body, timeOf(row.id));
}

function exampleRequest({ preset, name }: NonNullable<TrialRequest["example"]>): RawRequest {
  const examples = presets.find((each) => each.name === preset)?.examples ?? [];
  const found = examples.find((each) => each.name === name);
  if (found === undefined) {
    const names = examples.map((each) => each.name).join(", ");
    throw new ApiError(
      "bad_request",
      `request.example.name must be the name of an example of ${preset}: ${names || "it has none"}.`,
    );
  }
  const query = new URLSearchParams(found.query).toString();
  return rawRequest(found.headers, query, Buffer.from(found.body), new Date());
}

function ownRequest({
  payload,
  content_type: contentType,
  headers = {},
  query = {},
}: Pick<TrialRequest, "payload" | "content_type" | "headers" | "query">): RawRequest {
  const { text, type } = ownBody(payload, contentType);
  return rawRequest(
    type === undefined ? headers : { ...headers, "content-type": type },
    new URLSearchParams(query).toString(),
    Buffer.from(text),
    new Date(),
  );
}

/**
 * Returns the body that a person has entered, and its content type: a string is text, any other
 * value is JSON.
 */
export function ownBody(
  payload: unknown,
  contentType: string | undefined,
): { readonly text: string; readonly type: string | undefined } {
  const isText = payload === undefined || typeof payload === "string";
  return {
    text: isText ? (payload ?? "") : JSON.stringify(payload),
    type: contentType ?? (isText ? undefined : "application/json"),
  };
}

function rawRequest(
  headers: Readonly<Record<string, string>>,
  query: string,
  body: Buffer,
  receivedAt: Date,
): RawRequest {
  // Only the query of this URL is read, because the request is not verified again.
  return { method: "POST", url: `?${query}`, headers, body, receivedAtMs: receivedAt.getTime() };
}
