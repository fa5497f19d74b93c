import type { LimitWaitedFor, ListedRun, Run } from "@beckon/contract";
import { type ExpressionBuilder, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../../base/database/index.ts";
import { waitedForSql } from "../../reservations/index.ts";
import type { AccessibleAgents } from "../access.ts";
import { isAccessible } from "../access-store.ts";
import { spentOf } from "../journal/index.ts";

/**
 * Selects runs with all columns that the API returns, except input and output. While a run has not
 * ended, its token usage is the sum of its entries in the usage ledger.
 */
function runs(tx: WorkspaceTransaction, workspaceId: string) {
  return tx
    .selectFrom("runs")
    .innerJoin("run_inputs", "run_inputs.run_id", "runs.id")
    .leftJoin("run_results", "run_results.run_id", "runs.id")
    .select([
      "runs.id",
      "runs.agent_id",
      "run_inputs.agent_version",
      "runs.status",
      "run_inputs.source",
      "run_inputs.trigger_id",
      "run_inputs.retry_of",
      "run_inputs.external_id",
      "run_inputs.tags",
      "run_results.error_code",
      "run_results.error_message",
      "run_results.limit_reached",
      "run_results.cost_micros",
      "run_results.usage_estimated",
      tokens("input_tokens"),
      tokens("output_tokens"),
      tokens("cached_input_tokens"),
      tokens("cache_write_tokens"),
      tokens("reasoning_tokens"),
      "runs.attempt",
      "runs.created_at",
      "runs.started_at",
      "runs.finished_at",
    ])
    .where("runs.workspace_id", "=", workspaceId);
}

function runsWithTexts(tx: WorkspaceTransaction, workspaceId: string) {
  return runs(tx, workspaceId).select([
    sql<string>`run_input(run_inputs.prompt_prefix, run_inputs.payload)`.as("input"),
    "run_results.output",
  ]);
}

/** Maximum length of an input or output in a summary, in characters. */
const maxSummaryLength = 200;

/**
 * Selects runs with the first `maxSummaryLength` characters of input and output, and with the sizes
 * of the whole input and output in bytes. The SQL function `left` reads only the beginning of a
 * stored text.
 */
function summariesOfRuns(tx: WorkspaceTransaction, workspaceId: string) {
  const max = sql.lit(maxSummaryLength);
  return runs(tx, workspaceId).select([
    sql<string>`left(run_input(left(run_inputs.prompt_prefix, ${max}),
      left(run_inputs.payload, ${max})), ${max})`.as("input"),
    sql<string | null>`left(run_results.output, ${max})`.as("output"),
    sql<number>`octet_length(run_inputs.prompt_prefix) + octet_length(run_inputs.payload)
      + case when '' in (run_inputs.prompt_prefix, run_inputs.payload) then 0
        else octet_length(run_input('-', '-')) - 2 end`.as("input_bytes"),
    sql<number | null>`octet_length(run_results.output)`.as("output_bytes"),
  ]);
}

function tokens(
  field:
    | "input_tokens"
    | "output_tokens"
    | "cached_input_tokens"
    | "cache_write_tokens"
    | "reasoning_tokens",
) {
  return (
    eb: ExpressionBuilder<Tables & { run_results: Tables["run_results"] }, "runs" | "run_results">,
  ) =>
    eb.fn
      .coalesce(
        eb.ref(`run_results.${field}`),
        sql<string>`(select sum(${sql.ref(`u.${field}`)}) from usage_entries u
          where u.run_id = runs.id and u.workspace_id = runs.workspace_id)`,
        sql<string>`0`,
      )
      .as(field);
}

type RunRow = Awaited<ReturnType<ReturnType<typeof runsWithTexts>["executeTakeFirstOrThrow"]>>;

/** Returns a run; undefined if it does not exist, or belongs to none of `agentIds`. */
export async function findRun(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
  agentIds: AccessibleAgents,
): Promise<Run | undefined> {
  const row = await runsWithTexts(tx, workspaceId)
    .select(sql<LimitWaitedFor | null>`${sql.raw(waitedForSql("runs"))}`.as("waiting_for"))
    .where("runs.id", "=", runId)
    .where(isAccessible("runs.agent_id", agentIds))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const run = toRun(row);
  return row.waiting_for === null ? run : { ...run, waiting_for: row.waiting_for };
}

/**
 * Maximum size of all inputs and outputs on one page, in bytes. The first run of a page is always
 * included, even if it is larger.
 */
const maxPageBytes = 4 * 1024 * 1024;

/**
 * Returns the ids of the newest of these runs, as many as fit on one page, newest first. The first
 * run always fits. The sizes are computed without returning inputs and outputs.
 */
export async function fittingRuns(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<string[]> {
  if (runIds.length === 0) return [];
  const { rows } = await sql<{ run_id: string }>`select run_id from (
      select i.run_id, row_number() over (order by i.run_id desc) as n,
          sum(octet_length(i.prompt_prefix) + octet_length(i.payload)
            + coalesce(octet_length(e.output), 0)) over (order by i.run_id desc) as bytes
        from run_inputs i left join run_results e on e.run_id = i.run_id
        where i.workspace_id = ${workspaceId} and i.run_id = any (${runIds}::text[])
    ) as sized where n = 1 or bytes <= ${maxPageBytes} order by run_id desc`.execute(tx);
  return rows.map((row) => row.run_id);
}

/** Returns the runs with these ids, newest first, except runs that were deleted in the meantime. */
export async function readRuns(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<Run[]> {
  if (runIds.length === 0) return [];
  const rows = await runsWithTexts(tx, workspaceId)
    .where("runs.id", "in", runIds)
    .orderBy("runs.id", "desc")
    .execute();
  return rows.map(toRun);
}

/** Like `readRuns`, but returns summaries of the runs. */
export async function readRunSummaries(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ListedRun[]> {
  if (runIds.length === 0) return [];
  const rows = await summariesOfRuns(tx, workspaceId)
    .where("runs.id", "in", runIds)
    .orderBy("runs.id", "desc")
    .execute();
  return rows.map((row) => ({
    ...toRun(row),
    input_bytes: row.input_bytes,
    output_bytes: row.output_bytes,
  }));
}

function toRun(row: RunRow): Run {
  return {
    id: row.id,
    agent_id: row.agent_id,
    agent_version: row.agent_version,
    status: row.status,
    source: row.source,
    trigger_id: row.trigger_id,
    retry_of: row.retry_of,
    external_id: row.external_id,
    tags: row.tags ?? [],
    input: row.input,
    output: row.output,
    error:
      row.error_code === null
        ? null
        : ({ code: row.error_code, message: row.error_message ?? "" } as Run["error"]),
    limit: row.limit_reached as Run["limit"],
    ...spentOf(row),
    attempt: row.attempt,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
