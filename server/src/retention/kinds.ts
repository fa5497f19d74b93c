import type { QueryConfig, QueryResult, QueryResultRow } from "../base/database/index.ts";
import type { Retention } from "../base/retention/index.ts";

/** The database's connections that can read all workspaces. */
export interface Queryable {
  query<R extends QueryResultRow>(statement: QueryConfig): Promise<QueryResult<R>>;
}

/** What one statement deleted. */
export interface Batch {
  /** Number of deleted rows of each kind. A kind that is missing has none. */
  readonly deleted: Partial<Record<RowKind, number>>;
  /** Whether there may be more rows to delete. */
  readonly hasMore: boolean;
  /** Whether a workspace is finished. The rows of the next one can be much larger. */
  readonly endsWorkspace?: boolean;
}

/**
 * Kind of deleted rows: the label `kind` of the metric `beckon_retention_rows_deleted_total`. Not
 * every kind is the name of a table.
 */
export type RowKind =
  | "runs"
  | "events"
  | "artifacts"
  | "deliveries"
  | "received_requests"
  | "event_ids"
  | "request_counts"
  | "idempotency"
  | "sessions"
  | "invitations"
  | "password_links"
  | "secrets"
  | "usage_entries"
  | "ceilings"
  | "audit";

/**
 * Deletes up to `max` rows. It continues after the rows that its previous successful call has read,
 * so that no call reads the index entries of rows that were just deleted, or that must stay. A call
 * that failed can be repeated.
 * @param options `keepsNext`: if true, the next row is kept, and later calls continue after it. Its
 *   deletion takes too long. Ignored by deletions whose rows are never large.
 */
export type DeleteSome = (max: number, options?: { readonly keepsNext: boolean }) => Promise<Batch>;

/**
 * Prepares the deletion of old rows. Returns undefined if the rows are kept for ever.
 * @param now the database's time, so that a machine whose clock is wrong deletes no row too early.
 */
export type PrepareDeletion = (
  connection: Queryable,
  retention: Retention,
  now: Date,
) => DeleteSome | undefined;
