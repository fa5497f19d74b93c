import { daysBefore, restorableDays } from "../base/retention/index.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Deletes the secrets of agents that were deleted so long ago that they cannot be restored, and the
 * sender secrets of their triggers. The secrets of a trigger that was deleted itself are deleted
 * with it.
 */
export const secretsOfDeletedAgents: PrepareDeletion = (connection, _retention, now) => {
  const before = daysBefore(restorableDays, now);
  let after = { time: "-infinity", id: "" };
  return async (max) => {
    const { rows } = await connection.query<{
      deleted: number;
      agents: number;
      time: string | null;
      id: string | null;
    }>({
      name: "prune-secrets",
      text: `with old as materialized (
          select workspace_id, id, deleted_at from agents
          where (deleted_at, id) > ($1::timestamptz, $2) and deleted_at < $3
          order by deleted_at, id limit $4
        ), deleted as (
          delete from agent_secrets s using old
          where s.agent_id = old.id and s.workspace_id = old.workspace_id returning 1
        ), cleared as (
          update triggers t set sender_secret = null, previous_sender_secret = null,
            previous_sender_secret_until = null, verify_token = null
          from old
          where t.agent_id = old.id and t.workspace_id = old.workspace_id and t.deleted_at is null
            and coalesce(t.sender_secret, t.previous_sender_secret, t.verify_token) is not null
          returning 1
        )
        select (select count(*)::int from deleted) + (select count(*)::int from cleared) as deleted,
          (select count(*)::int from old) as agents,
          (select max(deleted_at)::text from old) as time,
          (select id from old order by deleted_at desc, id desc limit 1) as id`,
      values: [after.time, after.id, before, max],
    });
    const { deleted = 0, agents = 0, time, id } = rows[0] ?? {};
    if (time != null && id != null) after = { time, id };
    return { deleted: { secrets: deleted }, hasMore: agents >= max };
  };
};

/** Tables, the column with the end of a secret's grace period, and the SQL that removes it. */
const expiredSecretsOf = [
  [
    "triggers",
    "previous_sender_secret_until",
    "update triggers set previous_sender_secret = null, previous_sender_secret_until = null",
  ],
  [
    "subscriptions",
    "previous_secret_until",
    "update subscriptions set previous_secret = null, previous_secret_until = null",
  ],
  ["tokens", "expires_at", "delete from tokens"],
  ["key_secrets", "expires_at", "delete from key_secrets"],
] as const;

/**
 * Deletes secrets that a rotation has replaced, after their grace period: previous secrets of
 * triggers and subscriptions, tokens, and secrets of keys. No index has these times. The tables
 * have about one row per resource, so each pass can read them whole.
 */
export const expiredSecrets: readonly PrepareDeletion[] = expiredSecretsOf.map(
  ([table, end, remove]) =>
    (connection, _retention, now) =>
    async (max) => {
      const { rowCount } = await connection.query({
        name: `prune-secrets-of-${table}`,
        text: `${remove} where ctid = any (array(
          select ctid from ${table} where ${end} < $1 limit $2 for update skip locked
        ))`,
        values: [now, max],
      });
      const deleted = rowCount ?? 0;
      return { deleted: { secrets: deleted }, hasMore: deleted >= max };
    },
);
