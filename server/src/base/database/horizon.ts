import { elapsed } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Queryable } from "./connect.ts";

/** Time for which one transaction must hold back events before that is logged, in milliseconds. */
const reportAfterMs = 30_000;

/**
 * Finds out whether a transaction holds back events. Readers of events read those of transactions
 * before the oldest open one, wherever in the PostgreSQL server that is: it can belong to another
 * database, or be a prepared transaction that was forgotten. Under load some transaction is always
 * open, but the oldest one is another at each poll.
 */
export class HorizonMonitor {
  readonly #database: Queryable;
  readonly #log: Pick<Log, "write">;
  readonly #now: () => number;
  #held: { readonly transaction: string; readonly since: number; isReported: boolean } | undefined;
  #heldBackMs = 0;

  /** @param now returns a time in milliseconds */
  constructor(database: Queryable, log: Pick<Log, "write">, now: () => number = elapsed) {
    this.#database = database;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Seconds from the first to the last poll that found the transaction that now holds back events;
   * 0 if none does.
   */
  get heldBackSeconds(): number {
    return this.#heldBackMs / 1_000;
  }

  /** Must be called every few seconds. Logs once that events are held back, and once the end. */
  async poll(): Promise<void> {
    const transaction = await findHoldingTransaction(this.#database);
    const now = this.#now();
    if (transaction !== this.#held?.transaction) {
      if (this.#held?.isReported)
        this.#log.write("events are no longer held back by the transaction", {
          transaction: this.#held.transaction,
          duration_ms: Math.round(now - this.#held.since),
        });
      this.#held =
        transaction === undefined ? undefined : { transaction, since: now, isReported: false };
    }
    this.#heldBackMs = this.#held === undefined ? 0 : now - this.#held.since;
    if (this.#held === undefined || this.#held.isReported || this.#heldBackMs < reportAfterMs)
      return;
    this.#held.isReported = true;
    this.#log.write("a transaction that does not end holds back events", {
      transaction: this.#held.transaction,
      duration_ms: Math.round(this.#heldBackMs),
    });
  }
}

/**
 * Returns the id of the oldest open transaction, as `pg_stat_activity.backend_xid` and
 * `pg_prepared_xacts.transaction` have it; undefined if no transaction with a higher id has ended.
 */
export async function findHoldingTransaction(database: Queryable): Promise<string | undefined> {
  const { rows } = await database.query<{ transaction: string }>({
    name: "find-holding-transaction",
    text: `select pg_snapshot_xmin(s)::xid::text as transaction from pg_current_snapshot() as s
      where pg_snapshot_xmin(s) < pg_snapshot_xmax(s)`,
    values: [],
  });
  return rows[0]?.transaction;
}
