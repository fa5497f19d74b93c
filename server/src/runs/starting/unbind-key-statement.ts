import type { Database } from "../../base/database/index.ts";
import type { RunRef } from "../run.ts";

/**
 * Unbinds the Idempotency-Key of a run whose caller got `503`, so that the request can be repeated.
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
