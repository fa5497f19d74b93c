import { type Selectable, sql, type UpdateObject } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

export type SubscriptionRow = Selectable<Tables["subscriptions"]>;

/** The columns of a subscription that a change can set. */
export type SubscriptionChange = Omit<
  UpdateObject<Tables, "subscriptions">,
  "id" | "workspace_id" | "version"
>;

/**
 * Selects the subscriptions of a workspace that are not deleted.
 * @param agentIds the agents that the caller is limited to; undefined if it is not limited. A
 *   limited caller sees only subscriptions that are limited to some of these agents.
 */
function visible(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[] | undefined,
) {
  const query = tx
    .selectFrom("subscriptions")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("deleted_at", "is", null);
  return agentIds === undefined
    ? query
    : query.where(sql<boolean>`agent_ids <@ ${[...agentIds]}::text[]`);
}

export function findSubscription(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
  agentIds: readonly string[] | undefined,
): Promise<SubscriptionRow | undefined> {
  return visible(tx, workspaceId, agentIds).where("id", "=", id).executeTakeFirst();
}

/** Like `findSubscription`, and locks the row against other changes. */
export function findSubscriptionForChange(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
  agentIds: readonly string[] | undefined,
): Promise<SubscriptionRow | undefined> {
  return visible(tx, workspaceId, agentIds)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function listSubscriptionRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentIds: readonly string[] | undefined,
  page: PageRequest,
): Promise<SubscriptionRow[]> {
  const query = visible(tx, workspaceId, agentIds)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

/**
 * Returns the number of the workspace's subscriptions. Takes a lock until the transaction ends:
 * other transactions that call this function for the same workspace wait, and then also count the
 * rows that this transaction has inserted. So concurrent requests cannot exceed the maximum.
 */
export async function countSubscriptions(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<number> {
  const lock = `subscriptions ${workspaceId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(tx);
  const rows = await visible(tx, workspaceId, undefined).clearSelect().select("id").execute();
  return rows.length;
}

export function insertSubscription(
  tx: WorkspaceTransaction,
  row: Pick<
    SubscriptionRow,
    | "id"
    | "workspace_id"
    | "url"
    | "description"
    | "event_types"
    | "agent_ids"
    | "trigger_ids"
    | "tags"
    | "payload"
    | "format"
    | "secret"
    | "headers"
    | "header_names"
    | "created_by"
  >,
): Promise<SubscriptionRow> {
  return tx.insertInto("subscriptions").values(row).returningAll().executeTakeFirstOrThrow();
}

/** Changes a subscription and increments its version. */
export function updateSubscriptionRow(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
  change: SubscriptionChange,
): Promise<SubscriptionRow> {
  return tx
    .updateTable("subscriptions")
    .set({ ...change, version: sql`version + 1`, updated_at: sql<Date>`now()` })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * SQL that ends a delay that the receiver has requested. It does not clear `not_before`: otherwise
 * the events that waited would be overdue since the time at which they were written.
 */
export const endedDelay = sql<Date | null>`case when not_before > now() then now()
  else not_before end`;

/** Sets the status `paused`. */
export function pauseSubscriptionRow(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  return updateSubscriptionRow(tx, row, {
    status: "paused",
    inactive_since: sql<Date>`now()`,
  });
}

/**
 * Sets the status `enabled`, and clears `failing_since`, so that earlier failures do not disable
 * the subscription again. Also ends a delay that the receiver has requested.
 */
export function resumeSubscriptionRow(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  return updateSubscriptionRow(tx, row, {
    status: "enabled",
    disabled_reason: null,
    inactive_since: null,
    failing_since: null,
    not_before: null,
  });
}

/**
 * Replaces the secret. For the next `graceSeconds`, deliveries are signed with the old secret, too.
 * A secret that an earlier rotation replaced no longer signs, even if its time has not passed.
 */
export function rotateSecretRow(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
  sealedSecret: string,
  graceSeconds: number,
): Promise<SubscriptionRow> {
  return updateSubscriptionRow(tx, row, {
    secret: sealedSecret,
    ...(graceSeconds === 0
      ? { previous_secret: null, previous_secret_until: null }
      : {
          previous_secret: row.secret,
          previous_secret_until: sql<Date>`now() + make_interval(secs => ${graceSeconds})`,
        }),
  });
}

/** Marks the subscription as deleted and removes its secrets. */
export async function deleteSubscriptionRow(
  tx: WorkspaceTransaction,
  row: SubscriptionRow,
): Promise<void> {
  await updateSubscriptionRow(tx, row, {
    deleted_at: sql<Date>`now()`,
    secret: "",
    previous_secret: null,
    previous_secret_until: null,
    headers: null,
  });
}

/** Returns those of `ids` that are triggers of the workspace and are not deleted. */
export function existingTriggers(
  tx: WorkspaceTransaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ id: string; agent_id: string }[]> {
  return tx
    .selectFrom("triggers")
    .select(["id", "agent_id"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", ids)
    .where("deleted_at", "is", null)
    .execute();
}
