import { type Kysely, sql, type Transaction } from "kysely";
import type { Pool, PoolClient } from "pg";
import { createTurns } from "../byte-budget.ts";
import { elapsed } from "../clock.ts";
import { ApiError } from "../errors.ts";
import { failureKind } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** An open transaction that sees one workspace, or all of them in `inAllWorkspaces`. */
export type WorkspaceTransaction = Transaction<Tables>;

/**
 * The functions that `limitStatements` got, by the query builder that it returned and by each open
 * transaction of it.
 */
const statementTimeouts = new WeakMap<Kysely<Tables>, () => number | undefined>();

/**
 * Returns a query builder on the same pool. In its transactions by `inWorkspace` and
 * `inAllWorkspaces`, PostgreSQL cancels each statement that takes longer than a timeout.
 * @param timeoutMs returns the timeout of the statements that begin now, at least 1; undefined for
 *   that of the connection. Called when a transaction begins, and by `limitTime`.
 */
export function limitStatements(
  tenant: Kysely<Tables>,
  timeoutMs: () => number | undefined,
): Kysely<Tables> {
  const limited = tenant.withoutPlugins();
  statementTimeouts.set(limited, timeoutMs);
  const inTurn = turns.get(tenant);
  if (inTurn !== undefined) turns.set(limited, inTurn);
  return limited;
}

/**
 * How much earlier than the timeout of `limitStatements` that of `limitTime` is. The read deadline
 * of a request passes 500 ms before the former, and the error must be sent before the deadline.
 */
const earlierMs = 750;

/**
 * Lets PostgreSQL cancel each later statement of the transaction after `maxMs`, or earlier: before
 * the deadline of its request. So the caller can say how to get a faster response.
 * @returns the milliseconds
 */
export async function limitTime(tx: WorkspaceTransaction, maxMs: number): Promise<number> {
  const timeoutMs = statementTimeouts.get(tx)?.() ?? Number.POSITIVE_INFINITY;
  const limitMs = Math.max(1, Math.min(maxMs, timeoutMs - earlierMs));
  await sql`select set_config('statement_timeout', ${String(limitMs)}, true)`.execute(tx);
  return limitMs;
}

/**
 * Returns the end of a message that says that a statement took longer than its limit.
 * @param limitMs the result of `limitTime`
 */
export function limitText(limitMs: number, maxMs: number): string {
  if (limitMs === maxMs) return `${maxMs / 1_000} seconds.`;
  const left = Math.max(0.1, limitMs / 1_000).toFixed(1);
  return (
    `the ${left} seconds that its request had left, for example after a wait for other requests ` +
    "of the workspace. Send fewer of them at a time."
  );
}

/** Calls `act` when it is the turn of a workspace, and returns its result. */
type InTurn = <T>(workspaceId: string, act: () => Promise<T>) => Promise<T>;

/** The turns that `takeTurns` created, by query builder. */
const turns = new WeakMap<Kysely<Tables>, InTurn>();

/**
 * Returns how many connections the transactions of one workspace can use at a time, and those by
 * `inAllWorkspaces`, such as sign-ins: three quarters of them, rounded up, but not all. The pool
 * itself is first in, first out: without a limit, the slow reports of one workspace would delay the
 * requests of all others.
 */
const shareOf = (connections: number) =>
  Math.max(1, Math.min(connections - 1, Math.ceil(0.75 * connections)));

/**
 * Maximum time that a transaction waits for its turn. It is longer than the slowest report (3 s),
 * and shorter than the read deadline of a request (4 s), whose error says that the database cannot
 * be reached.
 */
const maxWaitMs = 3_500;

/**
 * Makes workspaces take turns in using the connections of a pool. The transactions of one workspace
 * use its share of them, even if the others are free, because those of another workspace would
 * otherwise have to wait until slow ones end.
 * @param connections size of the pool
 */
export function takeTurns(
  tenant: Kysely<Tables>,
  connections: number,
): { readonly waitingCount: number } {
  const shareMax = shareOf(connections) / connections;
  const inTurn = createTurns({ max: connections, shareMax });
  let waitingCount = 0;
  /** When the database last ended a transaction. */
  let endedAt = elapsed();
  const measured = async <T>(act: () => Promise<T>): Promise<T> => {
    waitingCount--;
    try {
      const result = await act();
      endedAt = elapsed();
      return result;
    } catch (thrown) {
      if (outageOf(thrown) === undefined) endedAt = elapsed();
      throw thrown;
    }
  };
  turns.set(tenant, async (workspaceId, act) => {
    const startedAt = elapsed();
    const signal = AbortSignal.timeout(maxWaitMs);
    waitingCount++;
    try {
      return await inTurn(workspaceId, () => measured(act), signal);
    } catch (thrown) {
      if (thrown !== signal.reason) throw thrown;
      waitingCount--;
      throw endedAt > startedAt ? tooManyTransactions() : databaseUnavailable(noneEnded());
    }
  });
  return {
    get waitingCount() {
      return waitingCount;
    },
  };
}

/**
 * Runs `work` in a transaction that sees only `workspaceId`. The transaction commits when `work`
 * resolves and rolls back when `work` rejects. After an error of kind `again`, for example a
 * deadlock, `work` is run again, at most 3 times in all. It must therefore have no effects outside
 * the transaction, and not call `inWorkspace` itself, because it could wait for its own turn.
 * @throws ApiError `unavailable` if too many transactions of the workspace are in progress, if the
 *   database is unavailable, or if the third attempt also fails with kind `again`; any other error
 *   of `work`. If the connection was lost, the change may have been committed. A retry with the
 *   same Idempotency-Key does not repeat it.
 */
export function inWorkspace<T>(
  tenant: Kysely<Tables>,
  workspaceId: string,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  const attempt = () => attemptInWorkspace(tenant, workspaceId, work);
  return turns.get(tenant)?.(workspaceId, attempt) ?? attempt();
}

async function attemptInWorkspace<T>(
  tenant: Kysely<Tables>,
  workspaceId: string,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let isCommitting = false;
    try {
      return await tenant.transaction().execute(async (tx) => {
        const timeout = statementTimeouts.get(tenant);
        if (timeout !== undefined) statementTimeouts.set(tx, timeout);
        const timeoutMs = timeout?.();
        const limit =
          timeoutMs === undefined
            ? sql``
            : sql`, set_config('statement_timeout', ${String(timeoutMs)}, true)`;
        await sql`select set_config('beckon.workspace', ${workspaceId}, true)${limit}`.execute(tx);
        const result = await work(tx);
        isCommitting = true;
        return result;
      });
    } catch (thrown) {
      const kind = failureKind(thrown);
      if (kind === "again" && attempt < 3) continue;
      if (kind === "lost" && isCommitting) throw possiblyExecuted(thrown, unconfirmed);
      if (kind === "lost" || kind === "again") throw databaseUnavailable(thrown);
      throw thrown;
    }
  }
}

/**
 * Like `inWorkspace`, but sees all workspaces. Only for operations that are not limited to one
 * workspace: those on a person's account or memberships, the setup, the creation of a workspace,
 * and changes of plans.
 */
export function inAllWorkspaces<T>(
  tenant: Kysely<Tables>,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  return inWorkspace(tenant, "*", work);
}

/**
 * Runs `work` in a transaction on one connection of `pool`. The transaction commits when `work`
 * resolves and rolls back when `work` rejects. Sets no workspace and repeats nothing.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (thrown) {
    // Closes the connection instead of returning it to the pool. PostgreSQL then rolls the
    // transaction back, regardless of the state of the connection.
    client.release(true);
    throw thrown;
  }
}

/**
 * Returns an ApiError `unavailable` if `thrown` means that the database is unavailable, else
 * `thrown`.
 */
export function unavailableIfLost(thrown: unknown): unknown {
  return failureKind(thrown) === "lost" ? databaseUnavailable(thrown) : thrown;
}

/**
 * Takes the error of a background task. If the database was unavailable, returns the error of the
 * database: the task's error itself, or the cause of an ApiError `unavailable`. Returns undefined
 * if the task failed for another reason.
 */
export function outageOf(thrown: unknown): unknown {
  const isUnavailable = thrown instanceof ApiError && thrown.code === "unavailable";
  const error = isUnavailable ? thrown.cause : thrown;
  return failureKind(error) === "lost" ? error : undefined;
}

const unconfirmed =
  "If the request changes something, the change may have been saved: check it, or repeat the " +
  "request if it has an Idempotency-Key.";

const unreachable = "The database cannot be reached at the moment.";

/** Returns an error that counts as an outage of the database (`failureKind`). */
function noneEnded(): Error {
  const message = `no transaction ended within ${maxWaitMs} milliseconds`;
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}

/** Has no cause: an error with a cause is logged as an outage of the database. */
function tooManyTransactions(): ApiError {
  return new ApiError(
    "unavailable",
    "Too many requests of this workspace are in progress, or of all workspaces together. " +
      "Try again in a few seconds, with fewer requests at a time.",
    { retryAfter: 2 },
  );
}

/**
 * Returns the error that callers get while the database is unavailable.
 * @param advice second sentence of the message. The default does not say whether something was
 *   changed, because an operation can have several transactions.
 */
export function databaseUnavailable(
  cause: unknown,
  advice = "Try again in a few seconds.",
): ApiError {
  return new ApiError("unavailable", `${unreachable} ${advice}`, { retryAfter: 2, cause });
}

/**
 * Like `databaseUnavailable`, for a request that was executed, or may have been. The response has
 * no `Retry-After`, because clients repeat every request that gets 503 with this header.
 * @param advice second sentence of the message
 */
export function possiblyExecuted(cause: unknown, advice: string): ApiError {
  return new ApiError("unavailable", `${unreachable} ${advice}`, { cause });
}
