import { type Kysely, sql, type Transaction } from "kysely";
import { ApiError } from "../errors.ts";
import { failureKind } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** An open transaction that sees one workspace. */
export type WorkspaceTransaction = Transaction<Tables>;

/**
 * Runs `work` in a transaction that sees only `workspaceId`; it commits when `work` resolves and rolls back when it rejects.
 * Repeated, up to 3 times in all, when the database undid it for a deadlock, so `work` must not act outside the transaction.
 * @throws ApiError `unavailable` when the database is away; the change may then have happened or not, which an
 *   Idempotency-Key resolves.
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
      if (kind === "lost" || kind === "again") throw databaseAway(thrown);
      throw thrown;
    }
  }
}

/**
 * The same in a transaction that sees all workspaces: for what is about a person, or makes a workspace. What is about one workspace has no
 * business here.
 */
export function inAllWorkspaces<T>(
  tenant: Kysely<Tables>,
  work: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  return inWorkspace(tenant, "*", work);
}

/** Returns the refusal `unavailable` if `thrown` says that the database is unavailable, else `thrown`. */
export function refusalIfLost(thrown: unknown): unknown {
  return failureKind(thrown) === "lost" ? databaseAway(thrown) : thrown;
}

/** The refusal every door gives while the database cannot be asked. */
export function databaseAway(cause: unknown): ApiError {
  return new ApiError(
    "unavailable",
    "The database cannot be reached at the moment. Nothing was started; try again shortly.",
    {
      retryAfter: 2,
      cause,
    },
  );
}
