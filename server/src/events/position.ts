/**
 * A place in the order of all events: by the transaction that wrote them, then by run and seq. Between two events, or on one: everything up to
 * and with it has been seen.
 */
export interface Position {
  /**
   * Number of a transaction; below zero for what was written in another history of the database. PostgreSQL would take three centuries at a million
   * a second to come to one that a double does not hold exactly.
   */
  readonly transaction: number;
  /** Empty for a workspace event, which so comes before the run events of its transaction. */
  readonly runId: string;
  /** Of a workspace event its number, which counts from 1 within the installation. */
  readonly seq: number;
}

/** Before the first event of `transaction`, and after the last of all before it. */
export function beforeTransaction(transaction: number): Position {
  return { transaction, runId: "", seq: 0 };
}

/** Before every event there is. */
export const beginning: Position = beforeTransaction(Number.MIN_SAFE_INTEGER);
