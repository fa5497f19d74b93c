import type { RunSource, RunStatus } from "@beckon/contract";
import type { Database } from "../src/base/database/index.ts";
import { lowestIdAt, newId } from "../src/base/ids.ts";

export interface GivenRun {
  readonly createdAt?: Date;
  /** Default: `succeeded`. */
  readonly status?: RunStatus;
  /** Default: `invoke`. */
  readonly source?: RunSource | "draft";
  /** Milliseconds from `started_at` to `finished_at`. Default: 1,000. */
  readonly durationMs?: number;
  readonly input?: string;
  readonly promptPrefix?: string;
  readonly output?: string | null;
  readonly errorMessage?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Default: null, an unknown cost. */
  readonly costMicros?: number | null;
}

/** Inserts a run with its input and, if it has ended, its result. Returns its id. */
export async function addRun(
  database: Database,
  { workspaceId, agentId }: { readonly workspaceId: string; readonly agentId: string },
  given: GivenRun = {},
): Promise<string> {
  const { createdAt = new Date(), status = "succeeded", durationMs = 1_000 } = given;
  // The id gets the time `createdAt`: the first 14 characters of an id are its prefix and its time.
  // The rest makes it unique.
  const id = lowestIdAt("run", createdAt).slice(0, 14) + newId("run").slice(14);
  const ended = status !== "queued" && status !== "running";
  const startedAt = status === "queued" ? null : createdAt;
  await database.engine.query(
    `with run as (
      insert into runs (id, workspace_id, agent_id, status, fence, last_seq, created_at, started_at,
        finished_at)
      values ($1, $2, $3, $4, 1, 1, $5, $6, $7)
    ), input as (
      insert into run_inputs (run_id, workspace_id, agent_version, source, payload, prompt_prefix,
        principal, engine_version)
      values ($1, $2, 1, $8, $9, $10, 'token:x', 1)
    ), draft as (
      insert into run_drafts (run_id, workspace_id, config) select $1, $2, '{}' where $8 = 'draft'
    )
    insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
        output_tokens, cached_input_tokens, usage_estimated, cost_micros)
      select $1, $2, $11, $12, $13, $14, $15, 0, false, $16 where $17`,
    [
      id,
      workspaceId,
      agentId,
      status,
      createdAt,
      startedAt,
      ended ? new Date(createdAt.getTime() + durationMs) : null,
      given.source ?? "invoke",
      given.input ?? "hello",
      given.promptPrefix ?? "",
      given.output ?? null,
      status === "failed" ? "model_error" : null,
      given.errorMessage ?? null,
      given.inputTokens ?? 0,
      given.outputTokens ?? 0,
      given.costMicros ?? null,
      ended,
    ],
  );
  return id;
}
