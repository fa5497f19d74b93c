import { z } from "zod";
import { mappingMistake, trialRequest } from "./received-requests.ts";
import { receiving } from "./receiving.ts";
import { cleanText, jsonValue, name } from "./text.ts";

/** Body of `POST /agents/:agent_id/triggers`. */
export const createTriggerBody = z.strictObject({
  name,
  /**
   * Text before the payload in the run's input, separated from the payload by an empty line. If it
   * is empty, the input is the payload only.
   */
  prompt_prefix: cleanText(100_000).default(""),
  enabled: z.boolean().default(true),
  /**
   * Whether requests to the trigger's URL can have the header `beckon-callback`. It contains the
   * URL to which Beckon sends the run's final event. This URL must have the same origin as a
   * subscription, but callers who know the trigger's URL can choose any path of that origin.
   */
  allows_callback: z.boolean().default(false),
  /** null: any POST of text, JSON or a URL-encoded form is accepted, without verification. */
  receiving: receiving.nullable().default(null),
});
export type CreateTriggerBody = z.infer<typeof createTriggerBody>;

/** Body of `PATCH …/triggers/:trigger_id`. */
export const updateTriggerBody = z.strictObject({
  name: name.optional(),
  prompt_prefix: cleanText(100_000).optional(),
  enabled: z.boolean().optional(),
  allows_callback: z.boolean().optional(),
  /**
   * Replaces all settings for received requests. null removes them: any POST of text, JSON or a
   * URL-encoded form is then accepted, without verification.
   */
  receiving: receiving.nullable().optional(),
});

/** Body of `POST …/triggers/:trigger_id/test`. */
export const testTriggerBody = z
  .strictObject({
    /**
     * A test starts a run as a request to the trigger's URL would. This is the body of that
     * request: text if it is a string, else JSON. If `payload` is absent, the body is empty. An
     * empty body is valid only if the trigger has a prompt prefix.
     */
    payload: jsonValue.optional(),
    /**
     * The Content-Type of the request that the test simulates. Default: none if `payload` is text,
     * else `application/json`.
     */
    content_type: cleanText(200).min(1).optional(),
    /** Instead of `payload`: a received request, an example of a preset, or a whole request. */
    request: trialRequest.optional(),
  })
  .refine(
    ({ payload, content_type, request }) =>
      request === undefined || (payload === undefined && content_type === undefined),
    "must have either request, or payload and content_type",
  );

/** A trigger in responses. The trigger's URL is only in responses that issue or reveal it. */
export const trigger = z.object({
  id: z.string(),
  agent_id: z.string(),
  /** Opaque value for `If-Match`. Changes whenever a field of `updateTriggerBody` changes. */
  version: z.string(),
  name: z.string(),
  prompt_prefix: z.string(),
  enabled: z.boolean(),
  allows_callback: z.boolean(),
  receiving: receiving.nullable(),
  /**
   * Whether a sender secret is set that the verification can use. Without one, a verification that
   * needs a secret rejects every request.
   */
  sender_secret_set: z.boolean(),
  /**
   * Until this time, the next verified request is stored as a sample and starts no run. null if the
   * trigger does not wait for a sample.
   */
  listening_until: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Trigger = z.infer<typeof trigger>;

/**
 * A warning about settings that were saved. `filter`, `template`: the error when they are evaluated
 * with the last received request. `verification`: requests are no longer verified, although the
 * trigger has a secret.
 */
const triggerWarning = mappingMistake.extend({
  part: z.enum(["filter", "template", "verification"]),
});
export type TriggerWarning = z.infer<typeof triggerWarning>;

/** Field of the response to `PATCH …/triggers/:trigger_id`. */
export const triggerWarnings = z.object({ warnings: z.array(triggerWarning) });
