import type { Pool } from "pg";

/**
 * Adds `count` rows with an age of `days` to each table whose rows retention deletes by age alone.
 * Each row has an id or another unique value that contains `label`.
 */
export async function addDatedRows(
  engine: Pick<Pool, "query">,
  workspaceId: string,
  { label, days, count }: { label: string; days: number; count: number },
): Promise<void> {
  const each = `from (
    select n, $1 || n as id, now() - make_interval(days => $2) as t, $3::text as w
    from generate_series(1, $4::int) n
  ) r`;
  await engine.query(
    `with users as (insert into users (id, name, email)
        select 'usr_' || id, 'Ada', id || '@example.com' ${each}),
      received as (insert into received_requests (id, workspace_id, agent_id, trigger_id,
        received_at, outcome, size) select id, w, 'a', 't', t, 'started', 0 ${each}),
      counts as (insert into request_counts (workspace_id, trigger_id, outcome, minute, count)
        select w, id, 'rejected', t, 1 ${each}),
      ids as (insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
        select w, 't', id, 'r', t + interval '30 days' ${each}),
      keys as (insert into idempotency (workspace_id, scope, key, body_hash, created_at)
        select w, 's', id, '', t ${each}),
      sessions as (insert into sessions (id, user_id, token, expires_at)
        select id, 'usr_' || id, id, t ${each}),
      links as (insert into password_resets (user_id, hash, expires_at, created_by, created_in)
        select 'usr_' || id, id::bytea, t, 'x', w ${each})
      insert into invitations (id, workspace_id, email, role, hash, created_by, expires_at)
        select id, w, 'x@example.com', 'viewer', id::bytea, 'x', t ${each}`,
    [label, days, workspaceId, count],
  );
}
