import type { RunRef } from "./run.ts";
import type { Runtime } from "./runtime.ts";

/** The run's state now, for who does not wait for more. */
export async function readStatus(runtime: Runtime, run: RunRef): Promise<string> {
  const live = runtime.live.get(run.runId);
  if (live !== undefined && live.outcome === undefined) return "running";
  const { rows } = await runtime.database.engine.query<{ status: string }>({
    name: "read-status",
    text: "select status from runs where id = $1 and workspace_id = $2",
    values: [run.runId, run.workspaceId],
  });
  return rows[0]?.status ?? "queued";
}
