/**
 * A position in the order of all events: by the transaction that wrote them, then by run, then by
 * seq. A reader at a position has seen all events up to and including it.
 */
export interface Position {
  /**
   * Id of the transaction. Negative for events that were written before a restore of the database
   * and renumbered. A double holds it exactly: at a million transactions a second PostgreSQL
   * reaches 2^53 after almost three centuries.
   */
  readonly transaction: number;
  /** Empty for a workspace event, so that it sorts before the run events of its transaction. */
  readonly runId: string;
  /** For a workspace event its number, which counts from 1 within the installation. */
  readonly seq: number;
}

/** Returns the position after all events of earlier transactions than `transaction`. */
export function beforeTransaction(transaction: number): Position {
  return { transaction, runId: "", seq: 0 };
}

/** The position before all events. */
export const beginning: Position = beforeTransaction(Number.MIN_SAFE_INTEGER);
