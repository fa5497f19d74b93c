import type { NewEvent, RunError, RunEvent, TokenUsage } from "@beckon/contract";

/** How a run ended. `usage` is the sum over all its model calls; `cost_micros` is in micro-dollars, null when no price is known. */
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

/** Where the loop keeps what must survive the process. The caller owns ids, sequence numbers, fencing and the terminal event. */
export interface Journal {
  /** Durable entries at the moment the run is handed to the loop, in order. The loop reads this once and remembers what it appends. */
  readonly events: readonly RunEvent[];

  /**
   * Makes `entries` durable: all of them or none, in order. Resolves once they are. The loop never has two appends open.
   *
   * `intent`: the batch holds `run.tool_call`, so it is refused when the run is to be cancelled.
   *
   * @throws {RunStopped} nothing was written: the run is no longer ours, or is to be cancelled.
   */
  append(entries: readonly NewEvent[], options?: { readonly intent?: boolean }): Promise<void>;

  /**
   * Ends the run: `entries`, then the terminal event made of `outcome`, in one durable write.
   *
   * @throws {RunStopped} nothing was written. With reason `cancelled` or `deadline` the loop ends the run anew, with that outcome.
   */
  end(outcome: Outcome, entries: readonly NewEvent[]): Promise<void>;
}

/**
 * - `fenced`: another process owns the run. Nothing may be written.
 * - `drain`: this process hands the run back. Nothing is written, the next owner goes on from the journal.
 * - `cancelled`: a caller cancelled the run. The loop ends it.
 * - `deadline`: the run's time is over. The loop ends it.
 */
export type StopReason = "fenced" | "cancelled" | "deadline" | "drain";

/** Stops a run from outside: the reason of its `AbortSignal`, and what a `Journal` throws. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the run was stopped: ${reason}`);
    this.reason = reason;
  }
}
