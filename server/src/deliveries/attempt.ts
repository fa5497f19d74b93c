import type { ByteBudget, ByteHold } from "../base/byte-budget.ts";
import { elapsed } from "../base/clock.ts";
import { type Database, failureKind } from "../base/database/index.ts";
import { type Egress, parseRetryAfter, type ResponseBeginning } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";
import type { Scrubber, SecretCipher } from "../base/secrets/index.ts";
import type { TraceSpan, Tracing } from "../base/tracing/index.ts";
import { version } from "../base/version.ts";
import { deliveryBody } from "./body.ts";
import type { ClaimedDelivery } from "./claim-statement.ts";
import { failureOf, rejectionOf } from "./failure-text.ts";
import { loggedResponse, maxLoggedBytes, scrubberOf } from "./logged-response.ts";
import type { AttemptEnd, AttemptLog, Outcome } from "./outcome-statement.ts";
import { CannotStart, readData } from "./read-data.ts";
import { maxRetryAfterMs, nextDelayMs, type RetrySchedule } from "./schedule.ts";
import {
  decryptHeaders,
  decryptSigningSecret,
  originOf,
  type SubscriptionOwner,
} from "./secrets.ts";
import { sign } from "./sign.ts";

/** The services and settings that attempts need. */
export interface AttemptPorts {
  readonly database: Database;
  readonly cipher: SecretCipher;
  readonly egress: Pick<Egress, "callForBeginning">;
  /** Limits the memory that attempts use for large data: event data above 8 KiB, and artifacts. */
  readonly memory: ByteBudget;
  readonly publicUrl: () => string;
  readonly schedule: RetrySchedule;
  /** Maximum time of an attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Undefined if traces are off. */
  readonly tracing?: Pick<Tracing, "delivery"> | undefined;
}

/** Maximum time that an attempt waits for memory, as a multiple of `timeoutMs`. */
const maxMemoryWait = 0.3;
/** Maximum bytes of a response's body that are read. */
const maxReadBytes = 64 * 1024;

/** The result of `attemptDelivery`. */
export interface Attempted {
  readonly outcome: Outcome;
  /** Whether the subscription's receiver responded with 410. Always false for a callback. */
  readonly isGone: boolean;
  /** Whether the delivery was released because the connection to the database was lost. */
  readonly isDatabaseLost: boolean;
}

/**
 * Sends a delivery once. A failure of the request is part of the outcome. The outcome is
 * `released`, and the attempt is not counted, if the attempt was aborted before a response arrived,
 * or if nothing was sent because the database was lost, there was no memory for the data, or the
 * data was deleted.
 * @param signal aborts the attempt.
 * @throws any unexpected error, for example of a bug in Beckon. The request may have been sent.
 */
export async function attemptDelivery(
  ports: AttemptPorts,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Attempted> {
  const begun = readClocks();
  const url = delivery.callback_url ?? delivery.url;
  let request: PreparedRequest | undefined;
  let response: ResponseBeginning | undefined;
  let error: string | undefined;
  let isDatabaseLost = false;
  let isUnprepared = false;
  const hold = ports.memory.hold(delivery.workspace_id);
  const span = startSpan(ports, delivery, url);
  try {
    const prepared = await prepare(ports, delivery, { url, hold, signal });
    request = withTrace(prepared, span);
    response = await ports.egress.callForBeginning(
      new URL(url),
      { method: "POST", headers: request.headers, body: request.body, signal },
      // Slightly more text is kept than is logged, because a secret that crosses the end of the
      // logged text is found only if all of it is kept.
      { maxReadBytes, maxKeptBytes: maxLoggedBytes + request.scrubber.maxSecretBytes },
    );
    error = rejectionOf(response.status);
  } catch (thrown) {
    // If the event's data could not be read, nothing was sent, and the attempt does not count.
    isDatabaseLost = request === undefined && failureKind(thrown) === "lost";
    isUnprepared = isDatabaseLost || thrown instanceof CannotStart;
    if (request === undefined && !isUnprepared && !(thrown instanceof ApiError)) {
      // Not a failure of the receiver, so it must not count for the receiver's health.
      span?.end("internal_error");
      throw thrown;
    }
    error = failureOf(thrown, ports.timeoutMs);
  } finally {
    hold.release();
  }
  const status = response?.status ?? null;
  const isReleased = response === undefined && (signal.aborted || isUnprepared);
  span?.set({ "http.response.status_code": response?.status });
  span?.end(error === undefined ? undefined : isReleased ? "aborted" : errorType(status));
  if (isReleased) return { outcome: released(delivery), isGone: false, isDatabaseLost };
  const { startedAt, startMs } = request ?? begun;
  const attemptLog: AttemptLog = {
    startedAt,
    durationMs: Math.round(elapsed() - startMs),
    url,
    requestHeaders: request?.logged ?? {},
    status,
    ...loggedResponse(response, request?.scrubber),
    error: error ?? null,
  };
  const isGone = status === 410;
  const retryAfterMs = parseRetryAfter(response?.headers["retry-after"]);
  const delayMs = isGone ? undefined : nextDelayMs(ports.schedule, delivery.attempts, retryAfterMs);
  return {
    outcome: {
      ...claimOf(delivery),
      ...(error === undefined ? { kind: "succeeded" } : failure(delayMs)),
      // A callback has its own URL, so its result says little about the subscription's URL.
      countsForHealth: delivery.kind !== "callback",
      // With other statuses, Retry-After is about this request only.
      receiverDelayMs:
        (status === 429 || status === 503) && retryAfterMs !== undefined
          ? Math.min(retryAfterMs, maxRetryAfterMs)
          : null,
      attemptLog,
    },
    isGone: isGone && delivery.kind !== "callback",
    isDatabaseLost,
  };
}

/**
 * Returns the current time on two clocks: the date for `AttemptLog.startedAt`, and the monotonic
 * time from which the duration is measured.
 */
const readClocks = () => ({ startedAt: new Date(), startMs: elapsed() });

/** Returns the outcome of a delivery that was not attempted, or whose attempt does not count. */
export function released(delivery: ClaimedDelivery): Outcome {
  return {
    ...claimOf(delivery),
    kind: "released",
    countsForHealth: false,
    receiverDelayMs: null,
    attemptLog: undefined,
  };
}

/**
 * Returns the outcome of an attempt that ended with an unexpected error. It counts as an attempt,
 * because the request may have been sent, but says nothing about the receiver.
 */
export function failedInternally(
  { schedule }: Pick<AttemptPorts, "schedule">,
  delivery: ClaimedDelivery,
): Outcome {
  const delayMs = nextDelayMs(schedule, delivery.attempts, undefined);
  return {
    ...claimOf(delivery),
    ...failure(delayMs),
    countsForHealth: false,
    receiverDelayMs: null,
    attemptLog: {
      startedAt: new Date(),
      durationMs: 0,
      url: delivery.callback_url ?? delivery.url,
      requestHeaders: {},
      status: null,
      responseHeaders: {},
      responseBody: "",
      error: "The attempt ended with an internal error. The operator finds it in the log.",
    },
  };
}

/** @param delayMs delay of the next attempt; undefined if there is none. */
function failure(delayMs: number | undefined): AttemptEnd {
  return delayMs === undefined ? { kind: "failed" } : { kind: "retry", delayMs };
}

const claimOf = (delivery: ClaimedDelivery) => ({
  subscriptionId: delivery.subscription_id,
  deliveryId: delivery.id,
  lease: delivery.lease,
  attempts: delivery.attempts,
  claims: delivery.claims,
  hadData: delivery.data_bytes !== null,
});

/** Starts the span of an attempt, with only the URL's host and port: its path can be a secret. */
function startSpan(
  { tracing }: AttemptPorts,
  delivery: ClaimedDelivery,
  url: string,
): TraceSpan | undefined {
  if (tracing === undefined) return undefined;
  const parsed = URL.parse(url);
  const port = Number(parsed?.port || (parsed?.protocol === "http:" ? 80 : 443));
  // The run of a test is an example: all tests would be in the trace of a run that does not exist.
  const runId = delivery.kind === "test" ? null : delivery.run_id;
  return tracing.delivery(runId, {
    "http.request.method": "POST",
    "http.request.resend_count": delivery.attempts > 1 ? delivery.attempts - 1 : undefined,
    "server.address": parsed?.hostname,
    "server.port": port,
    "beckon.event.id": delivery.event_id,
    "beckon.event.type": delivery.type,
    "beckon.delivery.id": delivery.id,
    "beckon.subscription.id": delivery.subscription_id,
    "beckon.workspace.id": delivery.workspace_id,
    "beckon.run.id": runId ?? undefined,
  });
}

/** Returns the span attribute `error.type`: the status, or that there was no response. */
const errorType = (status: number | null) => (status === null ? "no_response" : String(status));

/**
 * A request, and the time at which it was prepared. The attempt's duration starts then, so it
 * excludes the wait for memory.
 */
interface PreparedRequest extends ReturnType<typeof readClocks> {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly logged: Record<string, string>;
  /** Removes the subscription's secrets from what is logged of the response. */
  readonly scrubber: Scrubber;
}

/** Adds the header `traceparent`, unless it is one of the subscription's own headers. */
function withTrace(request: PreparedRequest, span: TraceSpan | undefined): PreparedRequest {
  const isOwn = Object.keys(request.headers).some((name) => name.toLowerCase() === "traceparent");
  if (span === undefined || isOwn) return request;
  const { traceparent } = span;
  return {
    ...request,
    headers: { ...request.headers, traceparent },
    logged: { ...request.logged, traceparent },
  };
}

async function prepare(
  { database, cipher, publicUrl, timeoutMs }: AttemptPorts,
  delivery: ClaimedDelivery,
  { url, hold, signal }: { url: string; hold: ByteHold; signal: AbortSignal },
): Promise<PreparedRequest> {
  const owner: SubscriptionOwner = {
    id: delivery.subscription_id,
    workspace_id: delivery.workspace_id,
    url: delivery.url,
  };
  if (originOf({ url }) !== originOf(owner))
    throw new ApiError(
      "conflict",
      "The subscription's URL now has another origin than this callback. Nothing was sent.",
    );
  const maxWaitMs = maxMemoryWait * timeoutMs;
  const { data, content } = await readData(database, delivery, hold, { signal, maxWaitMs });
  const begun = readClocks();
  const { contentType, text } = deliveryBody(
    { ...delivery, data },
    { format: delivery.format, payload: delivery.payload, publicUrl: publicUrl() },
    content,
  );
  const timestamp = Math.floor(begun.startedAt.getTime() / 1_000);
  const secrets = [
    decryptSigningSecret(cipher, owner, delivery.secret),
    ...previousSecret(cipher, owner, delivery.previous_secret),
  ];
  const logged = {
    "content-type": contentType,
    "user-agent": `Beckon/${version}`,
    "webhook-id": delivery.event_id,
    "webhook-timestamp": String(timestamp),
  };
  const extra = delivery.kind === "callback" ? {} : decryptHeaders(cipher, owner, delivery.headers);
  return {
    ...begun,
    body: text,
    logged,
    scrubber: scrubberOf(secrets, extra),
    headers: {
      ...logged,
      "webhook-signature": sign(secrets, { id: delivery.event_id, timestamp, body: text }),
      ...extra,
    },
  };
}

/**
 * Returns the decrypted secret from before the last rotation, as a list; empty if it is no longer
 * valid or cannot be decrypted. The second case is no error: after the loss of a master key, the
 * owner rotates the secret, and deliveries must then work although the old one is unreadable.
 */
function previousSecret(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  encrypted: string | null,
): readonly string[] {
  if (encrypted === null) return [];
  try {
    return [decryptSigningSecret(cipher, owner, encrypted)];
  } catch (thrown) {
    if (thrown instanceof ApiError) return [];
    throw thrown;
  }
}
