import { sleep } from "../clock.ts";
import { failureKind } from "./failures.ts";

/**
 * Writes rows with group commit: rows that are submitted during a write are collected and then
 * written together, with one statement, one commit and one flush to disk. There is no timer, so a
 * single row is written at once. On two cores this writes 47,000 rows a second, and one statement
 * per row writes 5,200. Durability is the same: a row's promise resolves only after its commit.
 *
 * `write` must meet these conditions:
 * - It writes all rows in one statement (all or none) and returns one result per row, in the order
 *   of the rows.
 * - It is idempotent: for a row that it has already written it returns the same result, because a
 *   statement whose response was lost is sent again. If the caller must not act on that result any
 *   more, it returns another one: the batch may be sent again after minutes.
 * - It locks rows in the given order, which is sorted by `order`. Two processes with the same rows
 *   then lock them in the same order.
 *
 * An error of `write` is handled according to its `failureKind`:
 * - `lost` (the database is unavailable): the same batch is retried after a pause, without limit.
 *   The retries continue even if all callers have timed out, because the batcher must find out
 *   which rows were written.
 * - `again` (for example a deadlock): the same batch is retried at once, at most 20 times. Then the
 *   error is handled like `defect`.
 * - `data` (invalid rows) or `defect` (any other error): the rows are written one by one, so that
 *   an invalid row does not affect the others. `submit` rejects for each row whose own write fails.
 */
export interface Batcher<Row, RowResult> {
  /**
   * Resolves with the result of this row once the row is durable.
   * @throws SubmitTimeoutError if the row has no result after `waitMs` (default: no limit). If
   *   `sent` is true, the row was sent and may still be written; `onLateResult` is then called with
   *   the row's result, or with undefined if the write failed. If `sent` is false, the row is
   *   withdrawn and will not be written.
   */
  submit(row: Row, options?: SubmitOptions<RowResult>): Promise<RowResult>;
  /** Number of rows that are waiting or being written. */
  readonly pending: number;
  /**
   * Whether at least the last three attempts to write the current batch have failed because the
   * database was unavailable.
   */
  readonly stalled: boolean;
}

export interface SubmitOptions<RowResult> {
  readonly waitMs?: number;
  readonly onLateResult?: (result: RowResult | undefined) => void;
  /** Size of the row in bytes, if the caller has already calculated it. */
  readonly bytes?: number;
}

/** The time limit of `submit` is over and the row has no result yet. */
export class SubmitTimeoutError extends Error {
  override readonly name = "SubmitTimeoutError";
  readonly sent: boolean;

  constructor(sent: boolean) {
    super("the database did not respond in time");
    this.sent = sent;
  }
}

export interface BatcherOptions<Row, RowResult> {
  /** `resent` is true if these rows have been sent before and may already be written. */
  readonly write: (
    rows: readonly Row[],
    options: { resent: boolean },
  ) => Promise<readonly RowResult[]>;
  /**
   * Returns the text by which the rows of a batch are sorted. The text must identify what `write`
   * locks for the row, so that all processes take these locks in the same order.
   */
  readonly order: (row: Row) => string;
  readonly bytes: (row: Row) => number;
  /** Maximum rows of one statement. */
  readonly maxRows: number;
  /** Maximum bytes of one statement. A single larger row is written alone. */
  readonly maxBytes: number;
  /** Batchers with the same mutex write one after the other. Default: each writes independently. */
  readonly mutex?: Mutex;
}

/** Calls `act` after all earlier calls have finished, and returns its result. */
export type Mutex = <T>(act: () => Promise<T>) => Promise<T>;

/**
 * Returns a first-in, first-out mutex for several batchers on one database. While one batcher
 * writes, the others collect rows. Their batches become larger, so each row costs less. If the
 * connection of one batcher is lost, the others wait until its retry succeeds. This costs little,
 * because their connections would be lost for the same reason.
 */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act);
    last = turn.catch(() => {});
    return turn;
  };
}

/**
 * Returns a mutex that takes turns with the users of `mutex`, but waits at most `maxWaitMs` for its
 * turn. Taking turns makes batches larger, and is not needed for correctness.
 */
export function boundedTurn(mutex: Mutex, maxWaitMs: number): Mutex {
  return <T>(act: () => Promise<T>) => {
    let acting: Promise<T> | undefined;
    const begin = () => (acting ??= act());
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxWaitMs);
    const inTurn = mutex(() => {
      clearTimeout(timer);
      return begin();
    });
    return Promise.race([inTurn, promise.then(begin)]);
  };
}

/** Number of failed attempts of one batch after which `stalled` is true. */
const stalledAttempts = 3;

/**
 * Pauses between attempts while the database is unavailable; the last one is repeated. The first
 * pauses are short, because the most common cause is a lost connection, and a new one works at
 * once.
 */
const retryDelaysMs = [10, 50, 100, 250, 500];

/**
 * A submitted row. This is a class and not an object with closures, because there are several
 * submissions per run and an instance costs less garbage collection
 * (docs/decisions/0012-what-is-brief-dies-young.md).
 */
class Submission<Row, RowResult> {
  readonly row: Row;
  readonly bytes: number;
  readonly result: Promise<RowResult>;
  isSent = false;
  readonly #resolve: (result: RowResult) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #onLateResult: ((result: RowResult | undefined) => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #timedOut = false;

  /** @param onWithdrawn called if the row is withdrawn because it was not sent in time. */
  constructor(
    row: Row,
    bytes: number,
    { waitMs, onLateResult }: SubmitOptions<RowResult>,
    onWithdrawn: () => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<RowResult>();
    this.row = row;
    this.bytes = bytes;
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onLateResult = onLateResult;
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#timeOut(onWithdrawn), waitMs);
  }

  resolve(result: RowResult): void {
    clearTimeout(this.#timer);
    if (this.#timedOut) this.#onLateResult?.(result);
    else this.#resolve(result);
  }

  reject(reason: unknown): void {
    clearTimeout(this.#timer);
    if (this.#timedOut) this.#onLateResult?.(undefined);
    else this.#reject(reason);
  }

  get isWithdrawn(): boolean {
    return this.#timedOut && !this.isSent;
  }

  #timeOut(onWithdrawn: () => void): void {
    this.#timedOut = true;
    if (!this.isSent) onWithdrawn();
    this.#reject(new SubmitTimeoutError(this.isSent));
  }
}

/** Creates a batcher. */
export function createBatcher<Row, RowResult>(
  options: BatcherOptions<Row, RowResult>,
): Batcher<Row, RowResult> {
  const { write, order, bytes: bytesOf, maxRows, maxBytes, mutex = (act) => act() } = options;
  /**
   * Rows that have not been sent, in the order in which they were submitted. At most half of them
   * are withdrawn. An array, because V8 would keep rows in memory that were deleted from a `Set`
   * (docs/decisions/0012-what-is-brief-dies-young.md).
   */
  let waiting: Submission<Row, RowResult>[] = [];
  let withdrawn = 0;
  /** Number of rows that were sent and whose promises are not resolved yet. */
  let sent = 0;
  let writing = false;
  /**
   * Number of consecutive attempts to write the current batch that failed because the database was
   * unavailable.
   */
  let lostAttempts = 0;

  function removeWithdrawn(): void {
    if (withdrawn === 0) return;
    waiting = waiting.filter((entry) => !entry.isWithdrawn);
    withdrawn = 0;
  }

  /**
   * Counts a withdrawn row, and removes all withdrawn rows once they are more than half of
   * `waiting`. If only `next` removed them, the rows of all rejected requests would stay in memory
   * during an outage, because no batch is formed until the database is available again.
   */
  function onWithdrawn(): void {
    withdrawn++;
    if (2 * withdrawn > waiting.length) removeWithdrawn();
  }

  function next(): Submission<Row, RowResult>[] {
    removeWithdrawn();
    let size = 0;
    let count = 0;
    for (const entry of waiting) {
      size += entry.bytes;
      if (count === maxRows || (count > 0 && size > maxBytes)) break;
      count++;
    }
    const batch = waiting.splice(0, count);
    for (const entry of batch) entry.isSent = true;
    return batch
      .map((entry) => ({ entry, key: order(entry.row) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      .map(({ entry }) => entry);
  }

  async function flush(batch: Submission<Row, RowResult>[], sentBefore = false): Promise<void> {
    let resent = sentBefore;
    for (let rollbacks = 0; ; resent = true) {
      try {
        const results = await write(
          batch.map((entry) => entry.row),
          { resent },
        );
        lostAttempts = 0;
        if (results.length !== batch.length)
          throw new Error(`a batch of ${batch.length} rows got ${results.length} results`);
        resolveRows(batch, results);
        return;
      } catch (thrown) {
        const kind = failureKind(thrown);
        if (kind === "again" && rollbacks++ < 20) continue;
        if (kind === "lost") {
          await sleep(retryDelaysMs[Math.min(lostAttempts++, retryDelaysMs.length - 1)] ?? 500);
          continue;
        }
        lostAttempts = 0;
        if (batch.length === 1) {
          for (const entry of batch) entry.reject(thrown);
          sent--;
          return;
        }
        for (const entry of batch) await flush([entry], true);
        return;
      }
    }
  }

  /**
   * Resolves the promises in the next turn of the event loop. If more rows are waiting, here or in
   * a batcher with the same mutex, the next batch has been sent by then, and the database writes it
   * while the callers continue.
   */
  function resolveRows(
    batch: readonly Submission<Row, RowResult>[],
    results: readonly RowResult[],
  ): void {
    setImmediate(() => {
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as RowResult);
      sent -= batch.length;
    });
  }

  async function writeNext(): Promise<void> {
    const batch = next();
    sent += batch.length;
    if (batch.length > 0) await flush(batch);
  }

  async function drain(): Promise<void> {
    writing = true;
    // Rows that are submitted in the same turn of the event loop go into one batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (waiting.length > withdrawn) await mutex(writeNext);
    writing = false;
  }

  return {
    submit(row, options = {}) {
      const bytes = options.bytes ?? bytesOf(row);
      const entry = new Submission<Row, RowResult>(row, bytes, options, onWithdrawn);
      waiting.push(entry);
      if (!writing) void drain();
      return entry.result;
    },
    get pending() {
      return waiting.length - withdrawn + sent;
    },
    get stalled() {
      return lostAttempts >= stalledAttempts;
    },
  };
}
