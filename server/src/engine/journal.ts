import type { LimitReached, NewEvent, RunError, RunEvent, TokenUsage } from "@beckon/contract";
import type { ReportedCall } from "./metered-call.ts";

/**
 * How a run ended. `usage` is the sum over all model calls. `cost_micros` is in micro-dollars, or
 * null if the price of one of the calls is not known.
 */
export type Outcome =
  | {
      readonly status: "succeeded";
      readonly output: string;
      readonly usage: TokenUsage;
      readonly cost_micros: number | null;
    }
  | {
      readonly status: "failed";
      readonly error: RunError;
      /** The limit that ended the run; undefined if none did. */
      readonly limit?: LimitReached;
      /**
       * The message of `error` without what the model wrote, for the log. Default: that message.
       */
      readonly logMessage?: string;
      readonly usage: TokenUsage;
      readonly cost_micros: number | null;
    }
  | {
      readonly status: "cancelled";
      readonly error: RunError;
      readonly usage: TokenUsage;
      readonly cost_micros: number | null;
    };

/**
 * Durable storage of one run's events. The implementation assigns ids and sequence numbers, rejects
 * writes of a process that no longer owns the run, and adds the event that ends the run.
 */
export interface Journal {
  /**
   * Events that were durable when `executeRun` started, in order. `executeRun` reads this property
   * once and then adds its own appends in memory.
   */
  readonly events: readonly RunEvent[];

  /**
   * Makes either all or none of `entries` durable, in order, and resolves when they are durable.
   * `executeRun` never has two appends in flight.
   *
   * @param options with `unlessCancelled`, the append is rejected if the cancellation of the run
   *   was requested, as it must be if `entries` contains a `run.tool_call`. Default false.
   *   `calls` are the metered calls that `entries` report. They become durable in the same write.
   * @throws {RunStopped} this process no longer owns the run, or nothing was written because
   *   cancellation of the run was requested.
   */
  append(
    entries: readonly NewEvent[],
    options?: { readonly unlessCancelled?: boolean; readonly calls?: readonly ReportedCall[] },
  ): Promise<void>;

  /**
   * Ends the run: writes `entries` and the final event for `outcome` in one durable write,
   * together with `calls`, the metered calls that these events report.
   *
   * @throws {RunStopped} nothing was written. If the reason is `cancelled` or `deadline`,
   *   `executeRun` calls `end` again with that outcome.
   */
  end(
    outcome: Outcome,
    entries: readonly NewEvent[],
    calls: readonly ReportedCall[],
  ): Promise<void>;
}

/**
 * Why a run was stopped from outside.
 *
 * - `fenced`: this process does not own the run any more, or may not: another process can have
 *   claimed it, or it is held. This process must not write anything.
 * - `drain`: this process releases the run. It writes no end, and the next owner resumes the run
 *   from the journal. `executeRun` returns the events that must be written with the release.
 * - `cancelled`: a caller cancelled the run. `executeRun` ends it.
 * - `deadline`: the run is past its deadline. `executeRun` ends it.
 */
export type StopReason = "fenced" | "cancelled" | "deadline" | "drain";

/**
 * Stops a run from outside. A `Journal` throws it, or it is the reason of the run's `AbortSignal`.
 */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.reason = reason;
  }
}
