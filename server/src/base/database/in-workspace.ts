import { type Kysely, sql, type Transaction } from "kysely";
import { ApiError } from "../errors.ts";
import { failureKind } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** An open transaction that sees one workspace. */
export type WorkspaceTransaction = Transaction<Tables>;

/**
 * Runs `work` in a transaction that sees only `workspaceId`. It commits when `work` resolves and
 * rolls back when it rejects. After a deadlock it is retried, at most 3 attempts in all, so `work`
 * must have no effects outside the transaction.
 * @throws ApiError `unavailable` if the database is unavailable. The change may then have been
 *   committed; an Idempotency-Key resolves that.
 */
export async function inWorkspace<T>(
  tenant: Kysely<Tables>,
  workspaceId: string,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tenant.transaction().execute(async (tx) => {
        await sql`select set_config('beckon.workspace', ${workspaceId}, true)`.execute(tx);
        return work(tx);
      });
    } catch (thrown) {
      const kind = failureKind(thrown);
      if (kind === "again" && attempt < 3) continue;
      if (kind === "lost" || kind === "again") throw databaseUnavailable(thrown);
      throw thrown;
    }
  }
}

/**
 * Like `inWorkspace`, but sees all workspaces. Only for operations on a person or that create a
 * workspace.
 */
export function inAllWorkspaces<T>(
  tenant: Kysely<Tables>,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  return inWorkspace(tenant, "*", work);
}

/**
 * Returns an ApiError `unavailable` if `thrown` means that the database is unavailable, else
 * `thrown`.
 */
export function unavailableIfLost(thrown: unknown): unknown {
  return failureKind(thrown) === "lost" ? databaseUnavailable(thrown) : thrown;
}

/** Returns the error of all entry points while the database is unavailable. */
export function databaseUnavailable(cause: unknown): ApiError {
  return new ApiError(
    "unavailable",
    "The database cannot be reached at the moment. Nothing was started; try again in a few " +
      "seconds.",
    {
      retryAfter: 2,
      cause,
    },
  );
}
