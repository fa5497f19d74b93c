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
  readonly runId: string;
  readonly seq: number;
}

/** Before the first event of `transaction`, and after the last of all before it. */
export function beforeTransaction(transaction: number): Position {
  return { transaction, runId: "", seq: 0 };
}

/** Before every event there is. */
export const beginning: Position = beforeTransaction(Number.MIN_SAFE_INTEGER);
