import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSettings } from "@beckon/contract";
import type { ByteHold } from "../base/byte-budget.ts";
import type { TraceSpan } from "../base/tracing/index.ts";
import type { LimitAttempt } from "./call-limit.ts";
import type { Circuit } from "./circuit/index.ts";
import type { Journal } from "./journal.ts";
import type { MeteredCall } from "./metered-call.ts";
import type { PriceOf } from "./price.ts";
import type { RetryPolicy, Timeouts } from "./timeouts.ts";
import type { Tool } from "./tool.ts";

/**
 * A model together with `scrub`, which removes its API key from text. Provider messages are
 * scrubbed before they are journaled or shown. A model without an API key can omit `scrub`.
 */
export type Model = LanguageModelV4 & {
  readonly scrub?: (text: string) => string;
  /**
   * Whether a call needs an output bound, because the provider's API requires one and nobody knows
   * the longest answer of the model. Default false.
   */
  readonly requiresBound?: boolean;
  /**
   * Whether the library adds a budget for thinking to `maxOutputTokens` of a call with `reasoning`
   * if the call has no output bound. Default false.
   */
  readonly addsThinking?: boolean;
};

/**
 * Live output of a model for subscribers; never stored. `step_start` begins every attempt: clients
 * then discard the text of earlier attempts of that step.
 */
export type Delta =
  | { readonly type: "step_start"; readonly step: number; readonly attempt: number }
  | { readonly type: "text_delta"; readonly step: number; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly step: number; readonly text: string }
  /**
   * The attempt ended. If `complete` is true, the deltas of the attempt are the complete answer. It
   * is false if the attempt failed or was not streamed. `error` says why it failed.
   */
  | {
      readonly type: "step_end";
      readonly step: number;
      readonly complete: boolean;
      readonly error?: string;
    };

/** An attempt of a model call that has ended. */
export interface EndedAttempt {
  /** As of `MeteredCall`, or `unsent`: the request could not be sent. */
  readonly outcome: MeteredCall["outcome"] | "unsent";
  /**
   * If the run was stopped during the attempt: the milliseconds since the request was sent in which
   * nothing of its response arrived. 0 if a part of it arrived, and for all other attempts.
   */
  readonly silentMs: number;
  /** The message of the provider's error if its rate limit rejected the attempt; else undefined. */
  readonly rateLimit?: string | undefined;
}

/** Everything that one run needs. */
export interface RunRequest {
  readonly runId: string;
  readonly input: string;
  /** System message. If it is blank, none is sent. */
  readonly instructions: string;
  /** The model in the form `provider/model`, as the journal shows it. */
  readonly modelName: string;
  readonly model: Model;
  /** Returns the price of a call of the model. It must not throw. */
  readonly priceOf: PriceOf;
  readonly settings: ModelSettings;
  /**
   * Maximum number of answered model calls, at least 1. Calls that were lost in a crash do not
   * count.
   */
  readonly maxSteps: number;
  readonly tools: readonly Tool[];
  readonly journal: Journal;
  /**
   * Whether an earlier process executed this run. A model call may then have been in flight when
   * that process was lost.
   */
  readonly resumed: boolean;
  /**
   * Whether the earlier process was lost while the run waited for a limit, its provider or memory,
   * so that no model call was in flight. Default false.
   */
  readonly wasWaiting?: boolean;
  /**
   * Records durably whether the run waits for its provider or memory, so that no model call is in
   * flight: `wasWaiting` of the next owner. While the record exists, no call is made. Default:
   * nothing is recorded.
   */
  readonly recordWait?: (isWaiting: boolean) => Promise<void>;
  /**
   * Aborts to stop the run. A reason that is not a `RunStopped` counts as `drain` (see
   * `StopReason`).
   */
  readonly signal: AbortSignal;
  /**
   * Called immediately before each attempt of a model call and before each tool call, so it must be
   * fast. Returns undefined if this process certainly owns the run. Otherwise returns a promise
   * that resolves once this is certain, and rejects with the reason of `signal` if the run is
   * stopped. Default: this process owns the run until the signal aborts.
   */
  readonly confirmOwner?: () => Promise<void> | undefined;
  /**
   * Deadline of the run in milliseconds on the clock of `base/clock.ts`. The signal enforces the
   * deadline; `deadlineAt` only prevents waits that would last beyond it. Default: no such limit.
   */
  readonly deadlineAt?: number;
  /** Returns whether the run has a subscriber now. Called before each model call. */
  readonly hasSubscriber: () => boolean;
  /** Called with each delta. It must not throw. Default: deltas are dropped. */
  readonly onDelta?: (delta: Delta) => void;
  /**
   * Called when an attempt of a model call has ended. It must not throw. Default: no call. It is
   * not called if the run was stopped before the request was sent.
   */
  readonly onAttempt?: (attempt: EndedAttempt) => void;
  /**
   * Called with each error of a tool that is not a `ToolFailure`. The model sees only that the
   * tool failed. Default: no call.
   */
  readonly onToolError?: (thrown: unknown) => void;
  readonly timeouts: Timeouts;
  /** Maximum size of one answer in bytes. Default: `defaultMaxAnswerBytes`. */
  readonly maxAnswerBytes?: number;
  /**
   * Counts the memory that the run holds. The caller of `executeRun` releases this memory. Default:
   * memory is not counted.
   */
  readonly memory?: ByteHold;
  /**
   * Output bound in tokens of a model with `requiresBound`, if the agent has not set
   * `max_output_tokens`. Default: `defaultReserveOutputTokens`.
   */
  readonly reserveOutputTokens?: number;
  /** Reserves what each attempt of a model call can use. Default: no limit applies. */
  readonly limitAttempt?: LimitAttempt;
  /**
   * Returns a number that changes whenever limits that may apply to the run change; undefined if no
   * limits are known. Called several times for each attempt, so it must be fast. Default: changes
   * of limits are not noticed while an attempt waits for the circuit.
   */
  readonly limitRevision?: () => number | undefined;
  /** How failed model calls are retried. Default: `defaultRetryPolicy`. */
  readonly retry?: RetryPolicy;
  /**
   * Circuit breaker that this run shares with other runs of the model. Default: none, so every call
   * is made.
   */
  readonly circuit?: Circuit | undefined;
  /** Span of the run, if traces are on. Model calls and tool calls become a part of it. */
  readonly span?: TraceSpan | undefined;
}
