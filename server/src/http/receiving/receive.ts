import type { IncomingMessage } from "node:http";
import type { Receiving } from "@beckon/contract";
import { ApiError, attemptAsync } from "../../base/errors.ts";
import { fieldOf } from "../../base/json/index.ts";
import {
  answerHandshake,
  decodeBody,
  isAllowedAddress,
  type RawRequest,
  readEvent,
  type ValidSecrets,
  verifyRequest,
} from "../../receiving/index.ts";
import { TriggerReconfigured } from "../../runs/index.ts";
import type { TriggerSettings } from "../../triggers/index.ts";
import { headerOf } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { ReceivedCall, ReceivingTrigger } from "./received-call.ts";
import { type Arrival, unverifiedRow, type VerifiedRequest, verifiedRow } from "./received-rows.ts";
import { confirmAndRecord } from "./record.ts";
import { tooManyRequests } from "./request-rates.ts";
import { fireCors, skippedResponse } from "./responses.ts";
import { startVerified } from "./start-verified.ts";

/** The request was rejected because its signature or its secret is not valid. */
export class UnverifiedRequest extends ApiError {
  constructor(reason: string, { verification }: Pick<Receiving, "verification">) {
    // RFC 9110, section 15.5.2, requires a challenge. Only `basic` has one: signatures are no HTTP
    // authentication scheme, and a `header` verification does not say which scheme it is.
    const challenge = verification.kind === "basic" ? basicChallenge : undefined;
    super("unauthorized", reason, { challenge });
  }
}

/** @see RFC 7617, sections 2 and 2.1 */
const basicChallenge = 'Basic realm="Beckon", charset="UTF-8"';

/**
 * Receives a request to a trigger with the settings `receiving`: checks where it comes from, reads
 * and verifies it, and starts its run. Records every outcome except a handshake, the error
 * `unavailable`, a client that disconnects before its body is complete and a token that is no
 * longer valid. Some outcomes, such as a wrong signature, are decided by the settings that were
 * read, before the SQL statement that starts the run. They are returned only if the settings have
 * not changed since.
 * @throws TriggerReconfigured if the request must be received again, because the settings have
 *   changed; `UnverifiedRequest`; ApiError the error of the first check that fails
 */
export async function receive(
  services: Services,
  incoming: IncomingMessage,
  call: ReceivedCall,
  trigger: ReceivingTrigger,
): Promise<Response> {
  const { arrival } = call;
  const { settings } = trigger;
  const { receiving } = settings;
  const check = { tokenHash: call.caller.hash, version: trigger.version };
  const rejectUnverified = async (error: ApiError, size: number) => {
    const row = { outcome: "rejected", error: error.message, size } as const;
    await confirmAndRecord(services, check, unverifiedRow(trigger, arrival, row));
    return error;
  };

  const unwelcome = originError(receiving, arrival, headerOf(incoming, "origin"));
  if (unwelcome !== undefined) throw await rejectUnverified(unwelcome, 0);
  const body = await call.body.read(receiving.bodies.max_bytes);
  if (!body.ok) throw await rejectUnverified(body.error, Math.min(body.size, maxSize));
  const raw: RawRequest = {
    method: "POST",
    url: `${services.publicUrl()}${incoming.url ?? ""}`,
    headers: incoming.headers,
    body: body.value,
    receivedAtMs: arrival.receivedAtMs,
  };
  const verification = verifyRequest(receiving, validSecrets(settings, arrival.receivedAtMs), raw);
  if (!verification.ok) {
    const { reason } = verification;
    const row = { outcome: "invalid_signature", error: reason, size: raw.body.length } as const;
    await confirmAndRecord(services, check, unverifiedRow(trigger, arrival, row));
    throw new UnverifiedRequest(reason, receiving);
  }

  const handshake = answerHandshake(receiving, settings, raw);
  if (handshake !== undefined) {
    if ((await call.readTrigger()).version !== trigger.version) throw new TriggerReconfigured();
    return new Response(handshake.body, {
      status: handshake.status,
      headers: { ...fireCors, ...handshake.headers },
    });
  }
  const decoded = await attemptAsync(() => decodeBody(receiving, raw, call.body.growInflated));
  if (!decoded.ok && decoded.error.code === "unavailable") throw decoded.error;
  const event = readEvent(receiving, raw, decoded.ok ? decoded.value : nothing);
  const request: VerifiedRequest = { trigger, receiving, arrival, raw, event };

  const { max_per_minute: maxPerMinute } = receiving;
  const tooMany =
    maxPerMinute === null
      ? undefined
      : tooManyRequests(call.countRequest(trigger.triggerId), maxPerMinute);
  if (tooMany !== undefined) {
    // The limit would not protect the storage if bodies of up to 25 MiB were stored above it.
    const result = { outcome: "rejected", error: tooMany.message, withoutBody: true } as const;
    const row = verifiedRow(request, result);
    await confirmAndRecord(services, check, row);
    throw tooMany;
  }
  if (decoded.ok && isTrapped(receiving, decoded.value.payload)) {
    await confirmAndRecord(services, check, verifiedRow(request, { outcome: "honeypot" }));
    return skippedResponse(call, receiving);
  }
  return startVerified(services, call, request, decoded);
}

/** Maximum of the column `size`. `Content-Length` can state more. */
const maxSize = 2_147_483_647;

/**
 * Used in place of a body that cannot be decoded. The event's id and type can still be read if they
 * are in headers or in the query.
 */
const nothing = { payload: undefined, text: "" };

/** Returns the error for a request from an address or a page that is not allowed to send. */
function originError(
  receiving: Receiving,
  { address }: Arrival,
  origin: string | undefined,
): ApiError | undefined {
  if (!isAllowedAddress(receiving, address))
    return new ApiError(
      "forbidden",
      "This trigger does not accept requests from this address. Add it to allowed_addresses.",
    );
  const { origins } = receiving.form;
  if (origins === null || (origin !== undefined && origins.includes(origin))) return undefined;
  return new ApiError(
    "forbidden",
    "This trigger accepts requests only from pages of its allowed origins. Add the page's origin to form.origins.",
  );
}

function validSecrets(
  { secret, previousSecret, previousSecretUntilMs }: TriggerSettings,
  nowMs: number,
): ValidSecrets {
  return { current: secret, previous: nowMs < previousSecretUntilMs ? previousSecret : null };
}

/** Returns whether the honeypot, a form field that people do not see, has a value. */
function isTrapped({ form }: Receiving, payload: unknown): boolean {
  if (form.honeypot === null) return false;
  const value = fieldOf(payload, form.honeypot);
  return [value].flat().some((each) => each !== undefined && each !== null && each !== "");
}
