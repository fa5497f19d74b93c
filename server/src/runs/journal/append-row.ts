import type { ReportedCall } from "../../engine/index.ts";
import type { AppendEntry } from "./journal-entry.ts";
import type { RunEnd } from "./run-end.ts";

/**
 * Entries to append to the journal of one run, and the run's outcome if they end the run. Either
 * all of this is written or none of it.
 */
export interface AppendRow {
  readonly runId: string;
  readonly workspaceId: string;
  /**
   * The process that owns the run: this process or, for `appendForDead`, a dead process. `owner`
   * and `fence` identify the claim of the run: nothing is written if another process has claimed
   * the run.
   */
  readonly owner: string;
  readonly fence: number;
  /** Sequence number of the last entry in the journal. The first new entry gets the next number. */
  readonly lastSeq: number;
  readonly entries: readonly AppendEntry[];
  /**
   * The metered calls that the entries report. Each becomes an entry of the usage ledger. Default:
   * none.
   */
  readonly calls?: readonly ReportedCall[];
  /**
   * Whether the entries announce side effects, such as tool calls, or hold or release the run. Such
   * entries are rejected if the cancellation of the run was requested.
   */
  readonly intent: boolean;
  readonly end: RunEnd | undefined;
  /**
   * Whether to release the claim and queue the run again, so that any process can claim it. The
   * append ends the run's reservation only if it also reports `calls`. Otherwise the reservation
   * may be needed for a model call that was lost with a process, and that the next owner will
   * report. If no call was lost, `returnReservations` ends the reservation. Default false.
   */
  readonly release?: boolean;
  /**
   * Whether to release the claim and hold the run in the state `waiting`, as if it had not started.
   * Only for runs that have called neither a model nor a tool. Default false.
   */
  readonly hold?: boolean;
}

/**
 * The result for one row:
 * - `written`: the entries were written. `time` is their time in RFC 3339 format.
 * - `fenced`: nothing was written, because another process has claimed the run, this process was
 *   declared dead, or the run has ended or was deleted. If an earlier call whose reply was lost has
 *   written the row, the caller must not act on it any more.
 * - `cancelled`: nothing was written, because the row is an `intent` and the cancellation of the
 *   run was requested.
 */
export type AppendResult =
  | { readonly kind: "written"; readonly time: string }
  | { readonly kind: "fenced" | "cancelled" };

/** Returns the status that a row gives its run; null if it does not change the status. */
export function statusAfter({ end, release, hold }: AppendRow): string | null {
  return end?.status ?? (release ? "queued" : hold ? "waiting" : null);
}

/**
 * Returns whether a row ends the reservation of its run: it does if it reports metered calls, or
 * ends or holds the run.
 */
export function settles({ calls = [], end, hold = false }: AppendRow): boolean {
  return calls.length > 0 || end !== undefined || hold;
}
