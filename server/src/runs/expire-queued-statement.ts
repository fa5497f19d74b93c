import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";

/** Ends runs that have been queued for 24 hours: whoever still waited for them is gone. The event's id is made as in `endExhausted`. */
export async function expireQueued(database: Database): Promise<void> {
  await database.engine.query({
    name: "expire-queued",
    text: `with picked as (
        select id from runs where status = 'queued' and created_at < now() - interval '24 hours' order by id limit 500 for no key update skip locked
      ), ended as (
        update runs r set status = 'failed', finished_at = now(), last_seq = r.last_seq + 1,
          last_transaction = greatest(r.last_transaction, current_transaction())
        from picked p where r.id = p.id
        returning r.id, r.workspace_id, r.last_seq, r.last_transaction
      ), journal as (
        insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
        select id, last_seq, workspace_id, last_transaction, 'evt_' || substr(id, 5), 'run.failed', ${eventVersion}, jsonb_build_object(
          'error', jsonb_build_object('code', 'deadline_exceeded', 'message', $1::text),
          'usage', jsonb_build_object('input_tokens', 0, 'output_tokens', 0, 'cached_input_tokens', 0), 'cost_micros', 0)
        from ended
      )
      insert into run_results (run_id, workspace_id, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated, cost_micros)
      select id, workspace_id, 'deadline_exceeded', $1, 0, 0, 0, false, 0 from ended`,
    values: ["The run was queued for 24 hours without being started."],
  });
}
