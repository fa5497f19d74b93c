import type { Result } from "../../base/errors.ts";
import type { Window } from "../../base/fixed-window.ts";
import type { RequestTrace } from "../../base/tracing/index.ts";
import type { Caller, RunCallback, RunLabels } from "../../runs/index.ts";
import type { TriggerOfToken, TriggerSettings } from "../../triggers/index.ts";
import type { ReceivedBody } from "./received-body.ts";
import type { Arrival } from "./received-rows.ts";

/**
 * A request to a trigger. If the trigger's settings change before the run starts, the request is
 * checked again.
 */
export interface ReceivedCall {
  readonly caller: Extract<Caller, { readonly kind: "credential" }>;
  readonly arrival: Arrival;
  readonly body: ReceivedBody;
  readonly labels: Result<RunLabels | undefined>;
  readonly callback: Result<RunCallback | undefined>;
  /** The header `Idempotency-Key`; undefined if the request lacks it. */
  readonly key: Result<string> | undefined;
  /**
   * The header `webhook-id`. It is the idempotency key if the settings do not say where the event
   * id is and the request has no `Idempotency-Key`.
   */
  readonly webhookId: Result<string> | undefined;
  /**
   * Whether `Accept` names `application/json`. Such a request gets JSON instead of TwiML, and
   * instead of the page or redirect of `form.answer`. Browsers that send a form do not name this
   * type. Forms of Slack get an empty body in any case.
   */
  readonly acceptsJson: boolean;
  /** Trace of the request; undefined if traces are off. */
  readonly trace: RequestTrace | undefined;
  /**
   * Counts the request, but only on the first call. Returns the trigger's count in the current
   * minute.
   */
  readonly countRequest: (triggerId: string) => Window;
  /** Reads the trigger as it is stored now. @throws ApiError `unauthorized`, `unavailable` */
  readonly readTrigger: () => Promise<TriggerOfToken>;
}

/** A trigger with the settings `receiving`. */
export interface ReceivingTrigger extends TriggerOfToken {
  readonly settings: TriggerSettings;
}
