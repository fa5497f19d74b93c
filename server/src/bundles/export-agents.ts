import { type ExportedAgent, exportQuery } from "@beckon/contract";
import { type AgentRow, listOldestAgentRows, requireAgent, toDocument } from "../agents/index.ts";
import { agentLimit, type Context, permit, scopesBeyond } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import {
  type BatchedValues,
  maxBatchLength,
  type ReadValues,
  readInBatches,
} from "../base/read-in-batches.ts";
import { countCharactersOfTriggers, listTriggersOfAgents } from "../triggers/index.ts";

/** Maximum number of agents that an export reads at a time and holds in memory. */
const batchSize = 5;

/**
 * Counts characters of the response against the memory budget before they are read.
 * @throws ApiError `too_large` if they never fit, else `unavailable`
 */
type CountCharacters = (characters: number) => void;

/** Exported agents and the requested format of the file. */
export interface ExportedDocument {
  readonly format: "json" | "yaml";
  readonly agents: BatchedValues<ExportedAgent>;
}

/**
 * Exports one agent with its settings. Its triggers are included if the actor has `triggers:read`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; what `input.count` throws
 */
export async function exportAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; query: unknown; count: CountCharacters };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgent(tx, ctx, input.agentId);
    const { format } = parseQuery(exportQuery, input.query);
    const { values } = await withTriggers(tx, ctx, [row], input.count);
    return { format, agents: await readInBatches(1, async () => ({ values, isLast: true })) };
  });
}

/**
 * Exports all agents that the actor can see and that are not deleted, oldest first. Each batch is
 * read in its own transaction, so that a slow client does not keep a transaction open. Changes
 * during the export may or may not be included.
 * @throws ApiError `bad_request`, `forbidden`; what `input.count` throws
 */
export async function exportAgents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown; count: CountCharacters };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  const { format } = parseQuery(exportQuery, input.query);
  const agents = await readInBatches(batchSize, (above = "", limit) =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
      const agentIds = agentLimit(ctx);
      const rows = await listOldestAgentRows(tx, ctx.workspaceId, { agentIds, above, limit });
      const { values, isComplete } = await withTriggers(tx, ctx, rows, input.count);
      return { values, isLast: isComplete && rows.length < limit };
    }),
  );
  return { format, agents };
}

/**
 * Adds their triggers to the first agents: as many as fit into a batch, but at least one. The
 * triggers are counted before they are read, because their number has no limit.
 */
async function withTriggers(
  tx: WorkspaceTransaction,
  ctx: Context,
  rows: readonly AgentRow[],
  count: CountCharacters,
): Promise<Pick<ReadValues<ExportedAgent>, "values"> & { readonly isComplete: boolean }> {
  if (scopesBeyond(ctx, ["triggers:read"]).length > 0)
    return {
      values: rows.map((row) => ({ id: row.id, value: toDocument(row) })),
      isComplete: true,
    };
  const ids = rows.map(({ id }) => id);
  const characters = await countCharactersOfTriggers(tx, ctx.workspaceId, ids);
  let sum = 0;
  let fittingCount = 0;
  for (const each of characters) {
    if (fittingCount > 0 && sum + each > maxBatchLength) break;
    sum += each;
    fittingCount += 1;
  }
  count(sum);
  const fitting = rows.slice(0, fittingCount);
  const triggers = await listTriggersOfAgents(
    tx,
    ctx.workspaceId,
    fitting.map(({ id }) => id),
  );
  const values = fitting.map((row) => ({
    id: row.id,
    value: {
      ...toDocument(row),
      triggers: triggers
        .filter(({ agent_id }) => agent_id === row.id)
        .map(({ name, prompt_prefix, enabled, allows_callback, receiving }) => ({
          name,
          prompt_prefix,
          enabled,
          allows_callback,
          receiving,
        })),
    },
  }));
  return { values, isComplete: fittingCount === rows.length };
}
