import type { IncomingMessage } from "node:http";
import { ApiError, type Result } from "../../base/errors.ts";
import type { Window } from "../../base/fixed-window.ts";
import { hashCredential, isCredential } from "../../base/secrets/index.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { toPayload } from "../../receiving/index.ts";
import {
  type Caller,
  labelHeaders,
  readLabels,
  startRun,
  TriggerReconfigured,
} from "../../runs/index.ts";
import type { TriggerOfToken } from "../../triggers/index.ts";
import {
  answerTriggerHandshake,
  arrivalOf,
  fireCors,
  ReceivedBody,
  type ReceivedCall,
  type RequestRates,
  receive,
  UnverifiedRequest,
  withNewId,
} from "../receiving/index.ts";
import {
  acceptedNames,
  addressOf,
  bodyText,
  headerOf,
  idempotencyKey,
  type RequestContext,
  reportOf,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import type { AdmittedTriggers } from "./admitted-triggers.ts";
import { callbackHeader, readCallback } from "./read-callback.ts";
import { toStart } from "./start-from-request.ts";

/** Path pattern of the route that fires a trigger. The last segment is the credential. */
export const firePath = "/api/public/triggers/:token";

/** What a process keeps about triggers between requests. */
export interface FireState {
  readonly triggers: AdmittedTriggers;
  readonly rates: RequestRates;
}

/**
 * Answers the CORS preflight of the route that fires a trigger. The response is the same for every
 * token, so it does not reveal which tokens are valid. The exception is the handshake of a
 * CloudEvents sender, which is an OPTIONS request too. It gets its own response if the settings of
 * the trigger allow this.
 */
export async function handleFireOptions(
  services: Services,
  state: FireState,
  c: RequestContext,
): Promise<Response> {
  const handshake = await handleFireHandshake(services, state, c);
  if (handshake !== undefined) return handshake;
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

/**
 * Answers a GET or OPTIONS by which a sender asks whether it is allowed to send events; undefined
 * if the trigger does not answer requests of this kind.
 */
export async function handleFireHandshake(
  services: Services,
  { triggers }: FireState,
  c: RequestContext,
): Promise<Response | undefined> {
  const caller = callerOf(c);
  if (caller === undefined) return undefined;
  return answerTriggerHandshake(services, c, () => triggers.read(caller.hash));
}

/**
 * Handles `POST /api/public/triggers/:token`: responds as soon as the run is durable. If the
 * trigger's settings change before that, the request is checked again with the new settings.
 */
export async function handleFire(
  services: Services,
  state: FireState,
  c: RequestContext,
): Promise<Response> {
  const caller = callerOf(c);
  if (caller === undefined) throw unauthorized(services, c);
  const { triggers } = state;
  const { incoming } = c.env;
  const address = addressOf(incoming, services.trustedProxies);
  let body: ReceivedBody | undefined;
  let call: ReceivedCall | undefined;
  try {
    for (;;) {
      const trigger = triggers.get(caller.hash) ?? (await triggers.read(caller.hash));
      body ??= new ReceivedBody(incoming, services.runs.memory, trigger.workspaceId);
      const request: FireRequest = { caller, body, address };
      try {
        const { settings } = trigger;
        if (settings === undefined) return await fireDefault(services, incoming, request, trigger);
        call ??= toReceivedCall(state, incoming, request);
        return await receive(services, incoming, call, { ...trigger, settings });
      } catch (thrown) {
        if (!(thrown instanceof TriggerReconfigured)) throw thrown;
        triggers.forget(caller.hash);
        call = call && { ...call, arrival: withNewId(call.arrival) };
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== "unauthorized") throw thrown;
    // A request with a wrong signature has a valid token, so it does not count as a failed
    // authentication.
    if (thrown instanceof UnverifiedRequest) throw thrown;
    triggers.forget(caller.hash);
    throw unauthorized(services, c);
  } finally {
    body?.release();
  }
}

type FireCaller = Extract<Caller, { readonly kind: "credential" }>;

interface FireRequest {
  readonly caller: FireCaller;
  readonly body: ReceivedBody;
  /**
   * The sender's address. It is read when the request arrives, because a socket has no address once
   * its sender has disconnected.
   */
  readonly address: string;
}

/** Starts the run of a request to a trigger without the settings `receiving`. */
async function fireDefault(
  services: Services,
  incoming: IncomingMessage,
  { caller, body }: FireRequest,
  { version }: TriggerOfToken,
): Promise<Response> {
  const contentType = headerOf(incoming, "content-type");
  const head = {
    source: "trigger",
    agentId: null,
    receivingVersion: version,
    key: fireKey(headerOf(incoming, "idempotency-key"), headerOf(incoming, "webhook-id")),
    labels: readLabels((name) => headerOf(incoming, name)),
    callback: readCallback(incoming),
    payloadOf: (bytes: Buffer) => toPayload(contentType, () => bodyText(incoming, bytes)),
    contentType,
  } as const;
  const start = toStart(head, caller, await body.readDefault());
  const run = await startRun(services.runs, { ...start, trace: reportOf(incoming).trace });
  const headers: Record<string, string> = { "content-type": "application/json", ...fireCors };
  if (run.replayed) headers["idempotency-replayed"] = "true";
  return new Response(JSON.stringify({ ok: true, run_id: run.runId }), { status: 200, headers });
}

/**
 * Returns what `receive` needs to know about a request to a trigger with settings. If the request
 * is checked again because the settings have changed, only the request's id changes.
 */
function toReceivedCall(
  { triggers, rates }: FireState,
  incoming: IncomingMessage,
  { caller, body, address }: FireRequest,
): ReceivedCall {
  const key = idempotencyKey(headerOf(incoming, "idempotency-key"));
  let counted: Window | undefined;
  return {
    caller,
    body,
    arrival: arrivalOf(incoming, address),
    labels: readLabels((name) => headerOf(incoming, name)),
    callback: readCallback(incoming),
    key,
    webhookId: fireKey(undefined, headerOf(incoming, "webhook-id")),
    acceptsJson: acceptedNames(headerOf(incoming, "accept") ?? "").has("application/json"),
    trace: reportOf(incoming).trace,
    readTrigger: () => triggers.read(caller.hash),
    countRequest(triggerId) {
      counted ??= rates.count(triggerId);
      return counted;
    },
  };
}

function callerOf(c: RequestContext): FireCaller | undefined {
  const token = c.req.param("token") ?? "";
  return isCredential("bkt_", token)
    ? { kind: "credential", hash: hashCredential(token) }
    : undefined;
}

function unauthorized(services: Services, { env: { incoming } }: RequestContext): ApiError {
  reportOf(incoming).rejected = "trigger";
  const address = addressOf(incoming, services.trustedProxies);
  return services.failedAuthentications.countFailure(address, unauthorizedMessage);
}

/**
 * Returns the idempotency key of a request that fires a trigger: the header `Idempotency-Key`, or
 * else `webhook-id`, which stays the same when a Standard Webhooks sender repeats a request. A
 * `webhook-id` that is not a valid key is ignored, because its sender cannot change it. Returns
 * undefined if neither header has a key.
 */
function fireKey(
  header: string | undefined,
  webhookId: string | undefined,
): Result<string> | undefined {
  if (header !== undefined) return idempotencyKey(header);
  const key = idempotencyKey(webhookId);
  return key?.ok ? key : undefined;
}
