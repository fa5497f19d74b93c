import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSettings } from "@beckon/contract";
import type { ByteHold } from "../base/byte-budget.ts";
import type { Circuit } from "./circuit/index.ts";
import type { Journal } from "./journal.ts";
import type { RetryPolicy, Timeouts } from "./timeouts.ts";
import type { Tool } from "./tool.ts";

/**
 * A model together with `scrub`, which removes its API key from text. Provider messages are
 * scrubbed before they are journaled or shown.
 */
export type Model = LanguageModelV4 & { readonly scrub?: (text: string) => string };

/**
 * Live output of a model for subscribers; never stored. `step_start` begins every attempt: clients
 * then drop the text of earlier attempts of that step.
 */
export type Delta =
  | { readonly type: "step_start"; readonly step: number; readonly attempt: number }
  | { readonly type: "text_delta"; readonly step: number; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly step: number; readonly text: string }
  /** The attempt ended. `complete`: its deltas are the complete answer. */
  | { readonly type: "step_end"; readonly step: number; readonly complete: boolean };

/** Everything that one run needs. */
export interface RunRequest {
  readonly runId: string;
  readonly input: string;
  /** System message; blank means none. */
  readonly instructions: string;
  /** `provider/model`, as in the journal. */
  readonly modelName: string;
  readonly model: Model;
  readonly settings: ModelSettings;
  /** Maximum answered model calls, at least 1. Calls lost in a crash do not count. */
  readonly maxSteps: number;
  readonly tools: readonly Tool[];
  readonly journal: Journal;
  /**
   * Whether an earlier process executed this run: a model call may have been in flight when that
   * process was lost.
   */
  readonly resumed: boolean;
  /** Aborts with a `RunStopped`; any other reason counts as `drain`. */
  readonly signal: AbortSignal;
  /**
   * Deadline of the run on the clock of `base/clock.ts` (milliseconds). The signal enforces it;
   * this only keeps waits from exceeding it.
   */
  readonly deadlineAt?: number;
  /** Whether the run has a subscriber now. Called before each model call. */
  readonly hasSubscriber: () => boolean;
  /** Must not throw. */
  readonly onDelta?: (delta: Delta) => void;
  readonly timeouts: Timeouts;
  /** Maximum size of one answer in bytes. Default: `defaultMaxAnswerBytes`. */
  readonly maxAnswerBytes?: number;
  /** Counts the memory that the run holds; the caller releases it. Default: no counting. */
  readonly hold?: ByteHold;
  /** Default: `defaultRetryPolicy`. */
  readonly retry?: RetryPolicy;
  /** Shared with other runs of this model. Default: none; every call is made. */
  readonly circuit?: Circuit | undefined;
}
