import type { Database } from "../base/database/index.ts";
import type { Retention } from "../base/retention/index.ts";

/** The database's connections that can read all workspaces. */
export type Queryable = Pick<Database["engine"], "query">;

/** What one statement deleted. */
export interface Batch {
  /** Deleted rows by kind: the label of the metric. */
  readonly deleted: Partial<Record<RowKind, number>>;
  /** Whether there may be more rows to delete. */
  readonly hasMore: boolean;
}

/** Kinds of rows that are deleted, as the metric and the log name them. */
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
  | "audit";

/**
 * Deletes up to `max` rows. It continues after the rows that its previous call has read, so that
 * no call reads the index entries of rows that were just deleted, or that must stay.
 */
export type DeleteSome = (max: number) => Promise<Batch>;

/** Prepares the deletion of old rows. Returns undefined if the rows are kept for ever. */
export type PrepareDeletion = (
  connection: Queryable,
  retention: Retention,
) => DeleteSome | undefined;
