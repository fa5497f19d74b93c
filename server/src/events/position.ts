/**
 * A position in the order of all events. Events are ordered by `transaction`, then by run, then by
 * `seq`. A reader at a position has read all events up to this position, including the event at it.
 */
export interface Position {
  /**
   * Id of the transaction that wrote the event. If the run's previous event has a higher
   * `transaction`, it is that value instead, so that the events of a run stay in order. Negative
   * for events that were renumbered after a restore of the database. A JavaScript number holds it
   * exactly: PostgreSQL reaches 2^53 only after almost three centuries with a million transactions
   * a second.
   */
  readonly transaction: number;
  /**
   * Id of the run. Empty for a workspace event, so that it sorts before the run events of the same
   * transaction.
   */
  readonly runId: string;
  /**
   * Sequence number of the event in its run. For a workspace event, its number among the workspace
   * events of all workspaces, counted from 1.
   */
  readonly seq: number;
}

/** Returns the position after all events of the transactions with ids below `transaction`. */
export function beforeTransaction(transaction: number): Position {
  return { transaction, runId: "", seq: 0 };
}

/** The position before all events. */
export const beginning: Position = beforeTransaction(Number.MIN_SAFE_INTEGER);

/** Returns whether `a` is after `b` in the order of all events. */
export function isAfter(a: Position, b: Position): boolean {
  if (a.transaction !== b.transaction) return a.transaction > b.transaction;
  if (a.runId !== b.runId) return a.runId > b.runId;
  return a.seq > b.seq;
}
