import type { ReportedCall } from "../../engine/index.ts";
import type { AppendEntry } from "./journal-entry.ts";
import type { RunEnd } from "./run-end.ts";

/**
 * Entries to append to the journal of one run, and the transition of the run if they change its
 * status. Either all of this is written or none of it.
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
   * Whether the row is rejected if the cancellation of the run was requested, as when the entries
   * announce tool calls. Default false.
   */
  readonly unlessCancelled?: boolean;
  /** How the run leaves its owner. Default: it stays `running`. */
  readonly transition?: Transition;
}

/**
 * How a run leaves the process that owns it:
 * - a `RunEnd`: the run ends.
 * - `queued`: the claim is released, so that any process can claim the run. This ends the run's
 *   reservation only if the row also reports `calls`. Otherwise the reservation may be needed for a
 *   model call that was lost with a process, and that the next owner will report. If no call was
 *   lost, `returnReservations` ends the reservation.
 * - `waiting`: the claim is released and a limit holds the run, as if it had not started. Only for
 *   runs that have called neither a model nor a tool.
 */
export type Transition = RunEnd | "queued" | "waiting";

/**
 * The result for one row:
 * - `written`: the entries were written. `time` is their time in RFC 3339 format.
 * - `fenced`: nothing was written, because another process has claimed the run, this process was
 *   declared dead, or the run has ended or was deleted. If an earlier call whose reply was lost has
 *   written the row, the caller must not act on it any more.
 * - `cancelled`: nothing was written, because the row has `unlessCancelled` and the cancellation of
 *   the run was requested.
 */
export type AppendResult =
  | { readonly kind: "written"; readonly time: string }
  | { readonly kind: "fenced" | "cancelled" };

/** Returns the status that a row gives its run; null if it does not change the status. */
export function statusAfter({ transition }: AppendRow): string | null {
  return typeof transition === "string" ? transition : (transition?.status ?? null);
}

/** Returns the end that a row gives its run; undefined if the row does not end the run. */
export function endOf({ transition }: AppendRow): RunEnd | undefined {
  return typeof transition === "string" ? undefined : transition;
}

/**
 * Returns whether a row ends the reservation of its run: it does if it reports metered calls, or
 * ends or holds the run.
 */
export function settles({ calls = [], transition = "queued" }: AppendRow): boolean {
  return calls.length > 0 || transition !== "queued";
}
