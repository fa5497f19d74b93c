import type { Database } from "../../base/database/index.ts";
import type { RunRef } from "../run.ts";

/**
 * Deletes the binding of an Idempotency-Key to a run whose caller got a `503` response, so that the
 * caller can start a run by repeating the request.
 */
export async function unbindKey(
  database: Database,
  run: RunRef,
  bound: { scope: string; key: string },
): Promise<void> {
  await database.engine.query({
    name: "unbind-key",
    text: `delete from idempotency
      where workspace_id = $1 and scope = $2 and key = $3 and run_id = $4`,
    values: [run.workspaceId, bound.scope, bound.key, run.runId],
  });
}
