import { z } from "zod";
import { boundedRecord } from "./bounded.ts";
import { commaList } from "./comma-list.ts";
import { disabledReason } from "./events.ts";
import { graceSeconds } from "./grace-seconds.ts";
import { pageQuery } from "./responses.ts";
import { cleanText } from "./text.ts";

/**
 * Events that can be delivered. The other events of a run's journal, such as `run.step`, are
 * available through the API only, because there are many of them and few receivers use them.
 */
export const deliveredEvent = z.enum([
  "run.started",
  "run.tool_call",
  "run.finished",
  "run.failed",
  "run.cancelled",
  "usage.threshold",
  "agent.paused",
  "agent.resumed",
  "subscription.disabled",
]);
export type DeliveredEvent = z.infer<typeof deliveredEvent>;

/** Events that concern a workspace as a whole. Keys that are limited to agents cannot get them. */
export const workspaceWideEvents: readonly DeliveredEvent[] = [
  "usage.threshold",
  "subscription.disabled",
];

/**
 * `full`: deliveries have the event's data. `thin`: they have ids only, and the receiver reads the
 * event from the API, which also proves that the event is genuine.
 */
export const payloadStyle = z.enum(["full", "thin"]);
export type PayloadStyle = z.infer<typeof payloadStyle>;

/**
 * Form of the request's body. `standard`: Standard Webhooks, `{type, timestamp, data}`.
 * `cloudevents`: CloudEvents 1.0 in structured mode. Both are signed in the same way.
 */
export const deliveryFormat = z.enum(["standard", "cloudevents"]);
export type DeliveryFormat = z.infer<typeof deliveryFormat>;

/** Maximum subscriptions of a workspace, without deleted ones. */
export const maxSubscriptions = 50;

/**
 * http or https, without user, password and fragment. A query is allowed. The host must be public,
 * or named by the setting BECKON_EGRESS_ALLOW.
 */
export const receiverUrl = cleanText(2_000).refine((text) => {
  const url = URL.parse(text);
  return (
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    !url.username &&
    !url.password &&
    !url.hash
  );
}, "must be an http or https URL without user or fragment");

/**
 * The secret that signs deliveries: `whsec_` and 24 to 64 bytes in base64, as in Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 */
const signingSecret = z
  .string()
  .max(200)
  .refine((text) => {
    if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
    const encoded = text.slice("whsec_".length);
    if (encoded.length % 4 !== 0) return false;
    const bytes = (encoded.length / 4) * 3 - (/=*$/.exec(encoded)?.[0].length ?? 0);
    return bytes >= 24 && bytes <= 64;
  }, "must be whsec_ and 24 to 64 bytes in base64");

/** Names of headers that Beckon or HTTP sets. They cannot be extra headers. */
const reservedHeader =
  /^(?:host|content-.*|accept-encoding|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|user-agent|webhook-.*)$/;

const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, "must be the name of an HTTP header")
  .refine(
    (name) => !reservedHeader.test(name.toLowerCase()),
    "is set by Beckon or by HTTP, and cannot be an extra header",
  );
const headerValue = z
  .string()
  .max(4_000)
  .regex(/^[\x20-\x7e]*$/, "must be printable ASCII")
  .refine((text) => text.trim() === text, "must not begin or end with a space");

/**
 * Extra headers, at most 20, stored encrypted. Deliveries to the subscription's `url` have them.
 * Callbacks, which go to the URL in the header `beckon-callback` of a request, do not.
 */
const extraHeaders = boundedRecord(
  headerName,
  headerValue,
  20,
  "must be at most 20 headers",
).refine(
  (headers) =>
    new Set(Object.keys(headers).map((each) => each.toLowerCase())).size ===
    Object.keys(headers).length,
  "must not have the same header twice",
);

const eventTypes = z
  .array(deliveredEvent)
  .min(1)
  .max(deliveredEvent.options.length)
  .transform((types) => [...new Set(types)]);
const ids = z.array(cleanText(100).min(1)).min(1).max(100).nullable();
const agentIds = ids.meta({
  description:
    "Only events of these agents, which include `usage.threshold` of their ceilings. null: of all agents, including future ones. Not together with `subscription.disabled`.",
});
const runsOnly =
  "null: of all runs. Only together with events of runs: `agent.*`, `usage.threshold` and `subscription.disabled` belong to no run.";
const triggerIds = ids.meta({
  description: `Only events of runs that one of these triggers started. ${runsOnly}`,
});
const tags = z
  .array(cleanText(64).min(1))
  .min(1)
  .max(10)
  .nullable()
  .meta({ description: `Only events of runs that have at least one of these tags. ${runsOnly}` });
const description = cleanText(500);

/** Body of `POST /subscriptions`. */
export const createSubscriptionBody = z.strictObject({
  url: receiverUrl,
  description: description.default(""),
  event_types: eventTypes,
  agent_ids: agentIds.default(null),
  trigger_ids: triggerIds.default(null),
  tags: tags.default(null),
  payload: payloadStyle.default("full"),
  format: deliveryFormat.default("standard"),
  /** Generated if it is absent. */
  secret: signingSecret.optional(),
  headers: extraHeaders.default({}),
});

/**
 * Body of `PATCH /subscriptions/:subscription_id`. A `url` with another scheme, host or port needs
 * `secret` and, if the subscription has extra headers, `headers` in the same request, so that
 * secrets that were entered for one server are not used with another. Without such a `url`, a new
 * `secret` is rejected. Use `POST …/rotate`, which lets the previous secret also sign for a time.
 */
export const updateSubscriptionBody = z.strictObject({
  url: receiverUrl.optional(),
  description: description.optional(),
  event_types: eventTypes.optional(),
  agent_ids: agentIds.optional(),
  trigger_ids: triggerIds.optional(),
  tags: tags.optional(),
  payload: payloadStyle.optional(),
  format: deliveryFormat.optional(),
  secret: signingSecret.optional(),
  headers: extraHeaders.optional(),
});
export type UpdateSubscriptionBody = z.infer<typeof updateSubscriptionBody>;

/** Body of `POST /subscriptions/:subscription_id/rotate`. */
export const rotateSecretBody = z.strictObject({
  /** The new secret. Generated if it is absent. */
  secret: signingSecret.optional(),
  /**
   * How long the previous secret also signs deliveries, in seconds, at most a week. If an earlier
   * rotation left an older secret that still signs, that secret stops at once. If `secret` is the
   * stored one, nothing changes; only 0 then stops the previous secret.
   */
  grace_seconds: graceSeconds.default(86_400),
});

/**
 * `enabled`: events are delivered. `paused`: a member paused it. `disabled`: Beckon disabled it.
 * While a subscription is not enabled, its events become deliveries with the status `not_sent`,
 * which can be replayed.
 */
export const subscriptionStatus = z.enum(["enabled", "paused", "disabled"]);
export type SubscriptionStatus = z.infer<typeof subscriptionStatus>;

/** A subscription in responses, without its secret and the values of its extra headers. */
export const subscription = z.object({
  id: z.string(),
  /** Counts changes, for `If-Match`. Results of deliveries do not change it. */
  version: z.number().int().positive(),
  url: z.string(),
  description: z.string(),
  event_types: z.array(z.string()),
  agent_ids: z.array(z.string()).nullable(),
  trigger_ids: z.array(z.string()).nullable(),
  tags: z.array(z.string()).nullable(),
  payload: payloadStyle,
  format: deliveryFormat,
  /** Names of the extra headers, sorted. */
  header_names: z.array(z.string()),
  status: subscriptionStatus,
  /** null unless the status is `disabled`. */
  disabled_reason: disabledReason.nullable(),
  /** When the subscription was paused or disabled; null if it is enabled. */
  inactive_since: z.iso.datetime().nullable(),
  /** Time until which the previous secret also signs; null if only one secret is valid. */
  previous_secret_until: z.iso.datetime().nullable(),
  health: z.object({
    last_success_at: z.iso.datetime().nullable(),
    last_failure_at: z.iso.datetime().nullable(),
    /** Since when every attempt has failed; null if the last attempt succeeded or none was made. */
    failing_since: z.iso.datetime().nullable(),
    /** The `error` of the last attempt; null if that attempt succeeded or none was made. */
    last_error: z.string().nullable(),
    /** Number of pending deliveries. Counting ends at 100,001, which means more than 100,000. */
    pending: z.number().int().nonnegative(),
    /**
     * When the next pending delivery is attempted, after a delay that the receiver has requested;
     * null if none is pending.
     */
    next_attempt_at: z.iso.datetime().nullable(),
    /** Deliveries that failed for good in the last 24 hours. Counting ends at 10,000. */
    failed: z.number().int().nonnegative(),
  }),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Subscription = z.infer<typeof subscription>;

/** Response of `POST /subscriptions/:subscription_id/resume`. */
export const resumedSubscription = z.object({
  ...subscription.shape,
  /** What was not delivered because the subscription was paused or disabled. */
  missed: z.object({
    /**
     * Deliveries that failed or were not sent, and can be replayed. Counting ends at 100,000, and
     * reads only the 100,000 that failed last and the 100,000 that were last not sent.
     */
    deliveries: z.number().int().nonnegative(),
    /**
     * Value of `since` for the request that replays the missed deliveries; null if none was missed.
     * It is the time of the oldest one, or an earlier time if not all were counted.
     */
    since: z.iso.datetime().nullable(),
  }),
});
export type ResumedSubscription = z.infer<typeof resumedSubscription>;

/** Body of `POST /subscriptions/:subscription_id/test`. */
export const testSubscriptionBody = z.strictObject({
  /** Type of the event. Default: the first of the subscription's `event_types`. */
  type: deliveredEvent.optional(),
});

/**
 * `pending`: an attempt is due, in progress or scheduled. `succeeded`: the receiver responded with
 * a 2xx status. `failed`: all attempts failed, or too many callbacks or tests were pending.
 * `cancelled`: the subscription or the run was deleted while the delivery was pending. `not_sent`:
 * the delivery was not sent, because the subscription was paused or disabled, because Beckon was
 * restored from a backup, or because a key that is limited to other agents has changed where or how
 * the subscription sends.
 */
export const deliveryStatus = z.enum(["pending", "succeeded", "failed", "cancelled", "not_sent"]);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

/**
 * What caused a delivery. `event`: an event that the subscription selects. `callback`: the header
 * `beckon-callback` of the request that started the run. `test`: a test of the subscription.
 */
export const deliveryKind = z.enum(["event", "callback", "test"]);
export type DeliveryKind = z.infer<typeof deliveryKind>;

/** One delivery of one event to one subscription. Kept for 30 days by default. */
export const delivery = z.object({
  id: z.string(),
  subscription_id: z.string(),
  kind: deliveryKind,
  /** The header `webhook-id` of every attempt. */
  event_id: z.string(),
  type: z.string(),
  agent_id: z.string().nullable(),
  run_id: z.string().nullable(),
  seq: z.number().int().positive().nullable(),
  url: z.string(),
  status: deliveryStatus,
  /**
   * Attempts since the delivery was created or last replayed. Neither an attempt in progress counts
   * nor one during which Beckon exited.
   */
  attempts: z.number().int().nonnegative(),
  /** null unless the status is `pending`. */
  next_attempt_at: z.iso.datetime().nullable(),
  /** HTTP status of the last attempt; null if no attempt was made or no response arrived. */
  last_status: z.number().int().nullable(),
  /** Why the last attempt failed; null if it succeeded or none was made. */
  last_error: z.string().nullable(),
  /** Time of the event. */
  created_at: z.iso.datetime(),
  /** When the status last stopped being `pending`; null while it is `pending`. */
  finished_at: z.iso.datetime().nullable(),
});
export type Delivery = z.infer<typeof delivery>;

const headersOnWire = z.record(z.string(), z.string());

/** One attempt of a delivery. */
const deliveryAttempt = z.object({
  /** Counts from 1. A replay continues the count. */
  number: z.number().int().positive(),
  started_at: z.iso.datetime(),
  duration_ms: z.number().int().nonnegative(),
  url: z.string(),
  /** Headers of the request, without its signature and without extra headers. */
  request_headers: headersOnWire,
  /** null if no response arrived. */
  status: z.number().int().nullable(),
  response_headers: headersOnWire,
  /** The first 4 KiB of the response's body. Empty for a caller without `runs:read`. */
  response_body: z.string(),
  /** What went wrong; null if the receiver accepted the delivery. */
  error: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof deliveryAttempt>;

/** A delivery with the body that is sent and its last 50 attempts, newest first. */
export const deliveryDetails = z.object({
  ...delivery.shape,
  /**
   * The body that an attempt would send now. null if the caller lacks `runs:read`. Also null if the
   * subscription's `payload` is `full` and the delivery has no data, because the run was deleted,
   * or because the delivery is not pending and was never sent with data.
   */
  body: z.string().nullable(),
  attempts_log: z.array(deliveryAttempt),
});
export type DeliveryDetails = z.infer<typeof deliveryDetails>;

/** Query of `GET /subscriptions/:subscription_id/deliveries`, newest first. */
export const deliveriesQuery = z.strictObject({
  ...pageQuery.shape,
  status: commaList(deliveryStatus),
  type: commaList(deliveredEvent),
  run_id: cleanText(100).min(1).optional(),
});

/** Query of `GET /runs/:run_id/deliveries`, newest first. */
export const runDeliveriesQuery = pageQuery;

/** Body of `POST /subscriptions/:subscription_id/replay`. */
export const replayBody = z.strictObject({
  /** Deliveries that were created at or after this time. */
  since: z.iso.datetime({ offset: true }),
  /** Deliveries that were created before this time. Default: now. */
  until: z.iso.datetime({ offset: true }).optional(),
  /**
   * Which deliveries are sent again. `missed`: those that failed, were not sent, or wait for their
   * next attempt after a failed one. `all`: also those that succeeded.
   */
  which: z.enum(["missed", "all"]).default("missed"),
});

/** Response of a replay. */
export const replayed = z.object({
  /** Deliveries that are pending again and due now, at most 10,000. */
  replayed: z.number().int().nonnegative(),
  /**
   * Whether more deliveries may match. If so, repeat the request with `until: next_until`. A
   * request reads the newest 100,000 deliveries, including those that cannot be replayed. `more`
   * can therefore be true although no delivery was replayed.
   */
  more: z.boolean(),
  /** `until` of the next request; can be null if `more` is false. */
  next_until: z.iso.datetime().nullable(),
});
export type Replayed = z.infer<typeof replayed>;
