import { type ExportedAgent, exportQuery } from "@beckon/contract";
import { type AgentRow, listOldestAgentRows, requireAgent, toDocument } from "../agents/index.ts";
import { agentLimit, type Context, permit, scopesBeyond } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import { type BatchedValues, readInBatches } from "../base/read-in-batches.ts";
import { listTriggersOfAgents } from "../triggers/index.ts";

/** Maximum number of agents that an export reads at a time and holds in memory. */
const batchSize = 5;

/** Exported agents and the requested format of the file. */
export interface ExportedDocument {
  readonly format: "json" | "yaml";
  readonly agents: BatchedValues<ExportedAgent>;
}

/**
 * Exports one agent with its settings. Its triggers are included if the actor has `triggers:read`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function exportAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; query: unknown };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgent(tx, ctx, input.agentId);
    const { format } = parseQuery(exportQuery, input.query);
    const found = await withTriggers(tx, ctx, [row]);
    return { format, agents: await readInBatches(1, async (above) => (above ? [] : found)) };
  });
}

/**
 * Exports all agents that the actor can see and that are not deleted, oldest first. Each batch is
 * read in its own transaction, so that a slow client does not keep a transaction open. Changes
 * during the export may or may not be included.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function exportAgents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<ExportedDocument> {
  permit(ctx, "agents:read");
  const { format } = parseQuery(exportQuery, input.query);
  const agents = await readInBatches(batchSize, (above = "", limit) =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
      const agentIds = agentLimit(ctx);
      const rows = await listOldestAgentRows(tx, ctx.workspaceId, { agentIds, above, limit });
      return withTriggers(tx, ctx, rows);
    }),
  );
  return { format, agents };
}

async function withTriggers(
  tx: WorkspaceTransaction,
  ctx: Context,
  rows: readonly AgentRow[],
): Promise<readonly { readonly id: string; readonly value: ExportedAgent }[]> {
  if (scopesBeyond(ctx, ["triggers:read"]).length > 0)
    return rows.map((row) => ({ id: row.id, value: toDocument(row) }));
  const triggers = await listTriggersOfAgents(
    tx,
    ctx.workspaceId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
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
}
