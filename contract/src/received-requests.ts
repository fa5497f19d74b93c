import { z } from "zod";
import { boundedRecord } from "./bounded.ts";
import { headerName, parameterName, presetName, receiving } from "./receiving.ts";
import { pageQuery } from "./responses.ts";
import { cleanText, jsonValue } from "./text.ts";

/**
 * The outcome of a received request.
 * - `started`: its run was created. `held`: its run was created and waits until the agent is
 *   resumed or a limit resets. `repeated`: its event id or Idempotency-Key was used before.
 * - `mapping_error`: the filter or the template failed. The run was created already failed.
 * - `limit_reached`: a limit was spent. The run was created already failed.
 * - `filtered`, `captured`, `honeypot`, `swallowed`: accepted with 202, without a run: the filter
 *   is false, the request was stored as a sample (`…/listen`), the field `form.honeypot` has a
 *   value, or the trigger is disabled and `when_disabled` is `swallow`.
 * - `invalid_signature`: rejected with 401. Body, headers and query of the request are not stored.
 * - `rejected`: rejected for another reason, such as a paused agent or an unreadable body. The body
 *   of a request above `max_per_minute` is not stored.
 *
 * Of `repeated`, `honeypot`, `swallowed`, `invalid_signature` and `rejected` requests, only the
 * first 60 per trigger, outcome and minute are stored. Rejected requests that were verified are
 * counted apart from those that were not.
 */
export const requestOutcome = z.enum([
  "started",
  "held",
  "repeated",
  "mapping_error",
  "limit_reached",
  "filtered",
  "captured",
  "honeypot",
  "swallowed",
  "invalid_signature",
  "rejected",
]);
export type RequestOutcome = z.infer<typeof requestOutcome>;

/** A received request in lists. */
export const receivedRequest = z.object({
  id: z.string(),
  agent_id: z.string(),
  trigger_id: z.string(),
  /**
   * When the request arrived, before its body was read. `since` and `until` of a replay refer to
   * this time.
   */
  received_at: z.iso.datetime(),
  outcome: requestOutcome,
  /**
   * Why there is no run, or why the run failed; null if the run started. The error of the outcome
   * `mapping_error` can contain values of the request: it is null for callers without `runs:read`.
   */
  error: z.string().nullable(),
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  /** The run that the request started or, for a repeated event, the run of the first request. */
  run_id: z.string().nullable(),
  /**
   * Id of the received request that this request replays; null if the request arrived from outside.
   */
  replay_of: z.string().nullable(),
  address: z.string().nullable(),
  content_type: z.string().nullable(),
  /** Size of the body as it was received, in bytes. */
  size: z.number().int().nonnegative(),
});
export type ReceivedRequest = z.infer<typeof receivedRequest>;

/** A received request with its query, headers and body. */
export const receivedRequestDetails = receivedRequest.extend({
  query: z.record(z.string(), z.array(z.string())),
  /**
   * Without credentials, cookies, secrets and signatures, including the header with which the
   * trigger's saved settings verify requests.
   */
  headers: z.record(z.string(), z.string()),
  /** null if it was not stored, as of requests above `max_per_minute`, or was deleted. */
  body: z.string().nullable(),
  /** `base64` if the body is not UTF-8. */
  body_encoding: z.enum(["utf8", "base64"]),
});
export type ReceivedRequestDetails = z.infer<typeof receivedRequestDetails>;

/** Query of `GET …/triggers/:trigger_id/requests`. */
export const receivedRequestsQuery = pageQuery.extend({
  outcome: requestOutcome.optional(),
  event_type: cleanText(200).min(1).optional(),
});

/** Body of `POST …/requests/:request_id/replay`. */
export const replayRequestBody = z.strictObject({
  /**
   * The version of the agent that the new run uses. `original` is the version that was current when
   * the request was received. If that version is not known, the response is 409 `conflict`.
   */
  version: z.enum(["current", "original"]).default("current"),
});

/**
 * Body of `POST …/triggers/:trigger_id/requests/replay`, which replays the verified requests of a
 * time range. Of the requests with one event id, only the newest is replayed, and none if another
 * request has started the event and the event id is still remembered. A request that started no run
 * is left out once a replay of it has.
 */
export const replayRequestsBody = z.strictObject({
  since: z.iso.datetime({ offset: true }),
  until: z.iso.datetime({ offset: true }).optional(),
  /** Default: all outcomes but `honeypot`. */
  outcome: requestOutcome.optional(),
  version: z.enum(["current", "original"]).default("current"),
});

/** Result of replaying many requests. */
export const replayedRequests = z.object({
  /** Runs that were started. */
  replayed: z.number().int().nonnegative(),
  /**
   * Requests for which no run is executed: the filter rejected them, their body could not be read
   * or was deleted, their original version is not known, or the filter or template failed. Such a
   * failure creates a run with the status `failed`.
   */
  skipped: z.number().int().nonnegative(),
  /** Whether older requests remain, because one call replays at most 1,000. */
  more: z.boolean(),
  /** `until` of the next call; null if no older requests remain. */
  next_until: z.iso.datetime().nullable(),
});

export type ReplayedRequests = z.infer<typeof replayedRequests>;

/**
 * Body of `POST …/triggers/:trigger_id/listen`. The trigger waits for a verified request, at most
 * `seconds` long. It stores the first one as a sample and starts no run for it.
 */
export const listenBody = z.strictObject({
  seconds: z.number().int().min(1).max(120).default(120),
});

/**
 * The request for a preview or a test: a received request, an example of a preset, or a custom
 * request with `payload`, `content_type`, `headers` and `query`.
 */
export const trialRequest = z.strictObject({
  /** A received request of this trigger. */
  request_id: cleanText(100).min(1).optional(),
  /** The name of an example of a preset; see `GET /trigger-presets`. */
  example: z.strictObject({ preset: presetName, name: cleanText(100).min(1) }).optional(),
  /** A custom body: sent as text if it is a string, else as JSON. */
  payload: jsonValue.optional(),
  content_type: cleanText(200).min(1).optional(),
  /** At most 1,000. */
  headers: boundedRecord(
    headerName,
    cleanText(4_000),
    1_000,
    "must have at most 1,000 headers",
  ).optional(),
  /** At most 1,000. */
  query: boundedRecord(
    parameterName,
    cleanText(4_000),
    1_000,
    "must have at most 1,000 parameters",
  ).optional(),
});
export type TrialRequest = z.infer<typeof trialRequest>;

/** Body of `POST …/triggers/:trigger_id/preview`. */
export const previewBody = z.strictObject({
  request: trialRequest,
  /** Settings that are not saved yet. If absent, those of the trigger are used. */
  receiving: receiving.nullable().optional(),
  prompt_prefix: cleanText(100_000).optional(),
});

/** An error in a filter or a template. */
export const mappingMistake = z.object({
  part: z.enum(["filter", "template"]),
  message: z.string(),
  /** Counted from 1; null if it is not known. */
  line: z.number().int().positive().nullable(),
});
export type MappingMistake = z.infer<typeof mappingMistake>;

/** Preview of a request: what the filter decides and what the agent would see. */
export const preview = z.object({
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  /** Whether the request passes the filter; null if the filter failed. */
  passes: z.boolean().nullable(),
  /**
   * What the model would see; null if the template failed. Present also if the filter failed or
   * rejects the request, so that the template can be checked separately.
   */
  input: z.string().nullable(),
  /** The parts of `input`. */
  parts: z.array(
    z.object({ kind: z.enum(["prefix", "values", "message", "payload"]), text: z.string() }),
  ),
  mistakes: z.array(mappingMistake),
});
export type Preview = z.infer<typeof preview>;
