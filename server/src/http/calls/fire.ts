import { ApiError, type Result } from "../../base/errors.ts";
import { hashCredential, isCredential } from "../../base/secrets/index.ts";
import { toPayload } from "../../triggers/index.ts";
import {
  headerOf,
  idempotencyKey,
  type RequestContext,
  requestIdHeader,
  textOf,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";
import { callbackHeader, readCallback } from "./read-callback.ts";
import { labelHeaders, readLabels } from "./read-labels.ts";
import { startFromRequest } from "./start-from-request.ts";

/**
 * CORS headers of every response to a fire. Pages of any origin can fire a trigger, because the URL
 * is the only credential and browsers send no cookie with the request.
 */
export const fireCors: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": `${requestIdHeader}, idempotency-replayed, retry-after`,
};

/**
 * Answers the CORS preflight of a fire. The response is the same for every token, so it does not
 * reveal which tokens are valid.
 */
export function handleFireOptions(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...fireCors,
      "access-control-allow-methods": "POST, OPTIONS",
      "access-control-allow-headers": `content-type, idempotency-key, webhook-id, ${labelHeaders}, ${callbackHeader}`,
      "access-control-max-age": "86400",
      allow: "POST, OPTIONS",
    },
  });
}

/** Handles `POST /api/public/triggers/:token`: responds as soon as the run is durable. */
export async function handleFire(
  services: Services,
  admitted: AdmittedCredentials,
  c: RequestContext,
): Promise<Response> {
  const { incoming } = c.env;
  const token = c.req.param("token") ?? "";
  const contentType = headerOf(incoming, "content-type");
  const encoding = headerOf(incoming, "content-encoding");
  const run = await startFromRequest(services, admitted, c, {
    source: "trigger",
    caller: isCredential("bkt_", token)
      ? { kind: "credential", hash: hashCredential(token) }
      : undefined,
    agentId: null,
    key: fireKey(headerOf(incoming, "idempotency-key"), headerOf(incoming, "webhook-id")),
    labels: readLabels(incoming),
    callback: readCallback(incoming),
    payloadOf: (bytes) => payloadOf(bytes, contentType, encoding),
    contentType,
  });
  const headers: Record<string, string> = { "content-type": "application/json", ...fireCors };
  if (run.replayed) headers["idempotency-replayed"] = "true";
  return new Response(JSON.stringify({ ok: true, run_id: run.runId }), { status: 200, headers });
}

/**
 * Returns the idempotency key of a fire: the header `Idempotency-Key`, or else `webhook-id`, which
 * stays the same when a Standard Webhooks sender repeats a delivery. A `webhook-id` that is not a
 * valid key is ignored, because its sender cannot change it.
 */
function fireKey(
  header: string | undefined,
  webhookId: string | undefined,
): Result<string> | undefined {
  if (header !== undefined) return idempotencyKey(header);
  const key = idempotencyKey(webhookId);
  return key?.ok ? key : undefined;
}

/** @throws ApiError `unsupported_type`, and the errors of `toPayload`. */
function payloadOf(
  bytes: Buffer,
  contentType: string | undefined,
  encoding: string | undefined,
): string {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    throw new ApiError(
      "unsupported_type",
      "The body has a Content-Encoding. Send it uncompressed, without that header.",
    );
  }
  return toPayload(contentType, () => textOf(bytes));
}
