import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSettings } from "@beckon/contract";
import type { ByteHold } from "../base/byte-budget.ts";
import type { Circuit } from "./circuit/index.ts";
import type { Journal } from "./journal.ts";
import type { RetryPolicy, Timeouts } from "./timeouts.ts";
import type { Tool } from "./tool.ts";

/**
 * A model, with the one thing only its maker knows: which text is a secret. `scrub` travels with the model so that no
 * caller can forget it; every message of the provider passes it before it is journaled or shown.
 */
export type Model = LanguageModelV4 & { readonly scrub?: (text: string) => string };

/**
 * What a watcher sees while a model speaks; never stored. `step_start` comes with every try: whoever shows the text drops
 * what earlier tries of this step said.
 */
export type Delta =
  | { readonly type: "step_start"; readonly step: number; readonly attempt: number }
  | { readonly type: "text_delta"; readonly step: number; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly step: number; readonly text: string }
  /** The try is over; `complete`: its deltas are the whole answer. */
  | { readonly type: "step_end"; readonly step: number; readonly complete: boolean };

/** Everything one run needs. The loop reaches for nothing else. */
export interface RunRequest {
  readonly runId: string;
  readonly input: string;
  /** System message; blank: none. */
  readonly instructions: string;
  /** `provider/model`, as the journal names it. */
  readonly modelName: string;
  readonly model: Model;
  readonly settings: ModelSettings;
  /** Answered model calls, 1 or more; calls lost to a crash do not count. */
  readonly maxSteps: number;
  readonly tools: readonly Tool[];
  readonly journal: Journal;
  /** An earlier process had this run: a model call may have been in flight when it lost it. */
  readonly resumed: boolean;
  /** Its reason is a `RunStopped`; any other reason counts as `drain`. */
  readonly signal: AbortSignal;
  /** When the run's time is over, on the clock of `base/clock.ts`. The signal enforces it; this only keeps waits from passing it. */
  readonly deadlineAt?: number;
  /** Whether someone watches now. Asked before each model call. */
  readonly watched: () => boolean;
  /** Must not throw. */
  readonly onDelta?: (delta: Delta) => void;
  readonly timeouts: Timeouts;
  /** Bytes of one answer, at most. Default: that of an agent. */
  readonly maxAnswerBytes?: number;
  /** Counts the bytes that the run holds; released by the caller. Default: they are not counted. */
  readonly hold?: ByteHold;
  /** Default: `defaultRetryPolicy`. */
  readonly retry?: RetryPolicy;
  /** Shared with other runs of this model; default: none, every call is made. */
  readonly circuit?: Circuit | undefined;
}
