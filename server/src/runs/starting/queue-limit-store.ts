import type { Database } from "../../base/database/index.ts";
import { authenticated, type StartRow } from "./start-row.ts";

/**
 * Returns the queue limit of the agent for which a caller tries to start a run: the agent `agentId`
 * or, if `agentId` is null, the agent to which the caller's token belongs. Returns undefined if the
 * agent or the credential is unknown.
 */
export async function readQueueLimit(
  database: Database,
  { caller, agentId }: Pick<StartRow, "caller" | "agentId">,
): Promise<number | undefined> {
  const { rows } = await database.engine.query<{ max_queued_runs: number }>({
    name: "read-queue-limit",
    text: `with called as (
        select t.agent_id, t.workspace_id from tokens t where t.hash = $1
        union all
        select $2, s.workspace_id from key_secrets s where s.hash = $1 and $2::text is not null
        union all
        select $2, $3::text where $3 is not null
      )
      select a.max_queued_runs from called c
      join agents a on a.id = c.agent_id and a.workspace_id = c.workspace_id limit 1`,
    values: [
      caller.kind === "credential" ? caller.hash : null,
      agentId,
      authenticated(caller)?.workspaceId ?? null,
    ],
  });
  return rows[0]?.max_queued_runs;
}
