import type { NewEvent, RunError, RunEvent, TokenUsage } from "@beckon/contract";

/**
 * How a run ended. `usage` is the sum over all model calls; `cost_micros` is in micro-dollars, null
 * if no price is known.
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
 * Durable storage of one run's events. The implementation assigns ids and sequence numbers, fences
 * writes and adds the terminal event.
 */
export interface Journal {
  /**
   * Events that were durable when the loop started, in order. Read once; the loop remembers its own
   * appends.
   */
  readonly events: readonly RunEvent[];

  /**
   * Makes `entries` durable, all or none, in order, and resolves when they are. The loop never has
   * two appends in flight.
   *
   * @param options `intent`: the batch contains `run.tool_call` and is therefore rejected if the
   *   run is to be cancelled.
   * @throws {RunStopped} nothing was written: this process no longer owns the run, or the run is to
   *   be cancelled.
   */
  append(entries: readonly NewEvent[], options?: { readonly intent?: boolean }): Promise<void>;

  /**
   * Ends the run: writes `entries` and the terminal event for `outcome` in one durable write.
   *
   * @throws {RunStopped} nothing was written. After `cancelled` or `deadline` the loop ends the run
   *   again, with that outcome.
   */
  end(outcome: Outcome, entries: readonly NewEvent[]): Promise<void>;
}

/**
 * - `fenced`: another process owns the run. Nothing may be written.
 * - `drain`: this process releases the run. Nothing is written; the next owner resumes it from the
 *   journal.
 * - `cancelled`: a caller cancelled the run. The loop ends it.
 * - `deadline`: the run is past its deadline. The loop ends it.
 */
export type StopReason = "fenced" | "cancelled" | "deadline" | "drain";

/** Stops a run from outside: thrown by a `Journal`, or the reason of the run's `AbortSignal`. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.reason = reason;
  }
}
